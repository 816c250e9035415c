"""NumPy's distances and hulls: the readable specification of kernel/src/collision/."""
