"""Closed forms: chains of joints recognised from their axes, and every posture of a pose."""
