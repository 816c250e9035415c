"""The optimum of a whole motion: all frames of a range at once."""
