"""The step of criteria in a still scene, in NumPy. Twin of kernel/src/track/implicit_step.c.

Where what criteria lessen is steep, or what the levels keep bends, an explicit step goes past, and so does the step
back: joints turn to and fro for as long as criteria move the robot. An implicit step weighs the slopes at its end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import reference
from .descent import Iterate
from .frame_descent import STILL, FrameDescent
from .level_rows import Preference

DIRECTIONS = 2  # one for what is steep, one for the rest


def implicit_step(
    inside: FrameDescent, best: Iterate, preference: Callable[[Array], Preference | None], before: Array
) -> Iterate:
    """From `best`, whose levels are kept. preference: with the slope at q (nq,).   before: (nv,) the step of the frame
    before.

    By conjugate gradients (Polak and Ribiere 1969): what a step from there adds is the gradient, and changes evenly.
    """
    tree, scale, start = inside.rows.data.tree, inside.rows.scale, best.q

    def added(at: Iterate) -> Array:
        inside.rows.preference = preference(at.q)
        return reference.difference(tree, at.q, inside.step(at)) / scale

    def there(x: Array) -> Iterate:
        return inside.look(inside.within(reference.integrate(tree, start, scale * x)))

    direction = gradient = added(best)
    x = np.zeros(len(scale))
    for _ in range(DIRECTIONS):
        H = inside.rows.preference.H
        falls, last = float(gradient @ H @ direction), float(gradient @ H @ gradient)
        if not falls > 0.0:
            break
        change = added(there(x + direction)) - gradient
        H = inside.rows.preference.H  # a criterion may have another one there
        share = falls / max(falls, -float(change @ H @ direction))
        x, gradient = x + share * direction, gradient + share * change
        turned = share * float(gradient @ H @ change) / last
        direction = gradient + max(turned, 0.0) * direction
    return there(x if (abs(before) <= STILL).all() else _shortened(x, before / scale))


def _shortened(x: Array, before: Array) -> Array:
    """A step that goes back on that of the frame before comes from past the place that both look for: between the
    two."""
    along, whole = float(before @ x), float(before @ before)
    return x if along >= 0.0 else x * whole / (whole - along)
