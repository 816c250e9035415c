"""Whole robots into the scene, and out of it as files."""
