"""Tasks on the pose or the velocity of a tip."""
