"""Solve Pose, Bake, Check."""
