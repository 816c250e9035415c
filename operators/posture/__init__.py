"""Operators on postures and joint values."""
