"""What overlays and gizmos look like, as plain geometry: line segments and triangles in NumPy."""
