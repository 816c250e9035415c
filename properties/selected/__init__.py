"""What the user means: robot, bones, tips."""
