"""Least squares and quadratic programs with strict priorities and bounds. Knows no robot."""
