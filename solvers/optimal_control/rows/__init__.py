"""What a motion is asked for, as rows of a program over all its frames."""
