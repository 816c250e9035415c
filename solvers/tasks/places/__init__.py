"""Tasks that bring a point to a plane, a line, a curve, a surface or a distance."""
