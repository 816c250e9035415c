"""Panels of the page Animate about a motion as a whole: its dynamics, moves, pairs of bones."""
