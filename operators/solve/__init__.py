"""Solve Pose, Bake, Check, Key Dynamics."""
