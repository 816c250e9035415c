"""Frames: targets followed continuously, inside all limits."""
