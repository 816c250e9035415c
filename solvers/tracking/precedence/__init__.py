"""Strict priorities over a whole motion."""
