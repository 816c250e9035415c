"""What breaks a limit or misses a task in an animation as it stands."""
