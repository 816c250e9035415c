"""Tasks, criteria and fields as they are written on the command line."""
