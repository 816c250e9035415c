"""Posing by hand: what a drag of the mouse or a key does to a configuration."""
