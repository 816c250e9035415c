"""What the constraints of an ordinary rig ask for, as tasks."""
