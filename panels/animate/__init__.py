"""Panels of the page Animate that are long lists: moves, pairs of bones."""
