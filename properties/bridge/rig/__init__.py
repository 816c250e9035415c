"""What makes a robot right for posing by hand."""
