"""Plain shapes of density 1 kg/m^3, all centred, round ones about z. Lengths in metres; ModelError where not positive.

The second moments are textbook integrals; the caps of a capsule are half balls, whose centres of mass lie 3/8 of the
radius beyond the ends of the cylinder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import ModelError
from ..model.geometry import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from .body import Body


def box(size: Sequence[float]) -> Body:
    """Volume and inertia of a box. size: (x, y, z) edge lengths."""
    _check("a box", *size)
    volume = math.prod(size)
    x, y, z = (edge**2 / 12.0 for edge in size)
    return _body(volume, (y + z, x + z, x + y))


def sphere(radius: float) -> Body:
    return ellipsoid((radius, radius, radius))


def ellipsoid(semi_axes: Sequence[float]) -> Body:
    """`semi_axes`: half the width along x, y and z."""
    _check("an ellipsoid", *semi_axes)
    x, y, z = (half**2 / 5.0 for half in semi_axes)
    return _body(4.0 / 3.0 * math.pi * math.prod(semi_axes), (y + z, x + z, x + y))


def hollow_sphere(radius: float, inner_radius: float) -> Body:
    """A ball with a concentric round cavity."""
    _check("a hollow sphere", radius, inner_radius, radius - inner_radius)
    a, b = radius, inner_radius
    # (a^3 - b^3) and (a^5 - b^5), both without the factor (a - b): thin walls lose no digits.
    third, fifth = a * a + a * b + b * b, a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4
    return _body(4.0 / 3.0 * math.pi * (a - b) * third, (0.4 * fifth / third,) * 3)


def cylinder(radius: float, length: float) -> Body:
    _check("a cylinder", radius, length)
    across = radius**2 / 4.0 + length**2 / 12.0
    return _body(math.pi * radius**2 * length, (across, across, radius**2 / 2.0))


def capsule(radius: float, length: float) -> Body:
    """`length` without the caps."""
    _check("a capsule", radius, length)
    r, h = radius, length
    share = 4.0 * r / (3.0 * h + 4.0 * r)  # of the volume, in the caps
    along = (1.0 - share) * r**2 / 2.0 + share * 0.4 * r**2
    across = (1.0 - share) * (r**2 / 4.0 + h**2 / 12.0) + share * (0.4 * r**2 + h**2 / 4.0 + 3.0 * h * r / 8.0)
    return _body(math.pi * r**2 * (h + 4.0 / 3.0 * r), (across, across, along))


def cone(radius: float, height: float) -> Body:
    """Apex up: from the base at -height/2 to the apex at height/2."""
    _check("a cone", radius, height)
    across = 3.0 / 20.0 * radius**2 + 3.0 / 80.0 * height**2
    body = _body(math.pi * radius**2 * height / 3.0, (across, across, 0.3 * radius**2))
    return Body(body.mass, np.array([0.0, 0.0, -height / 4.0]), body.inertia)


def shape_body(shape: Shape) -> Body:
    """The body of a plain shape of a link. Raises ModelError for a mesh, whose file is not opened here, and for what is
    rounded or a hull."""
    if type(shape) is Box:
        return box(shape.size)
    if isinstance(shape, Sphere):
        return sphere(shape.radius)
    if isinstance(shape, Cylinder):
        return cylinder(shape.radius, shape.length)
    if isinstance(shape, Capsule):
        return capsule(shape.radius, shape.length)
    what = f"{shape.filename!r} is a mesh" if isinstance(shape, Mesh) else f"a {type(shape).__name__} was given"
    raise ModelError(f"{what}, not a plain shape")


def _body(volume: float, square_radii: Sequence[float]) -> Body:
    return Body(volume, np.zeros(3), volume * np.diag(square_radii))


def _check(what: str, *lengths: float) -> None:
    if not all(np.isfinite(x) and x > 0.0 for x in lengths):
        raise ModelError(f"{what} needs positive lengths, not {', '.join(f'{x:g}' for x in lengths)}")
