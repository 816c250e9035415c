"""Rotations and placements in space."""
