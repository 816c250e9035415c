"""Plain shapes around a mesh."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.tree import axis_to_z
from ..spatial import se3
from .body import Body
from .shapes import box, capsule, cylinder, sphere

SHAPES = ("box", "cylinder", "sphere", "capsule")


def body_around(points: Array, shape: str, axes: Array | None = None) -> Body:
    """The body of density 1 of a shape that points (k, 3) [m] are as wide as, along `axes` (3, 3), their columns.

    A sphere has the greatest width. A cylinder or capsule is about the axis across which the other two widths are
    most alike, and has the greater of these. Raises ModelError for an unknown shape and for points without volume.
    """
    if shape not in SHAPES:
        raise ModelError(f"no shape {shape!r} to put around a mesh (valid: {', '.join(SHAPES)})")
    R = np.eye(3) if axes is None else np.asarray(axes, float)
    local = np.asarray(points, float) @ R
    low, high = local.min(axis=0), local.max(axis=0)
    widths, T = high - low, np.eye(4)
    if shape == "box":
        body = box(widths.tolist())
    elif shape == "sphere":
        body = sphere(float(widths.max()) / 2.0)
    else:
        along = _axis_of_symmetry(widths)
        radius, length = float(np.delete(widths, along).max()) / 2.0, float(widths[along])
        T = se3.placement(axis_to_z(np.eye(3)[along]), np.zeros(3))
        if shape == "capsule" and length <= 2.0 * radius:
            body = sphere(radius)
        else:
            body = capsule(radius, length - 2.0 * radius) if shape == "capsule" else cylinder(radius, length)
    return body.moved(T).moved(se3.placement(R, R @ ((low + high) / 2.0)))


def _axis_of_symmetry(widths: Array) -> int:
    across = [np.delete(widths, i) for i in range(3)]
    unlike = [float(np.ptp(pair) / max(pair.max(), 1e-300)) for pair in across]
    return min(range(3), key=lambda i: (round(unlike[i], 6), -widths[i]))
