"""Tracking in NumPy, the readable twin of the kernel's."""
