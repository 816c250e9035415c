"""Posing by hand in a scene: what a drag takes hold of, and the pose that follows."""
