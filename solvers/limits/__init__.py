"""What limits leave of the next step: bounds, cones, wheels."""
