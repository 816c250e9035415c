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
from .frame_descent import FrameDescent
from .level_rows import Preference

DIRECTIONS = 2  # one for what is steep, one for the rest


def implicit_step(inside: FrameDescent, best: Iterate, preference: Callable[[Array], Preference | None]) -> Iterate:
    """From `best`, whose levels are kept. preference: with the slope at q (nq,).

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
        before, last = float(gradient @ H @ direction), float(gradient @ H @ gradient)
        if not before > 0.0:
            break
        change = added(there(x + direction)) - gradient
        H = inside.rows.preference.H  # a criterion may have another one there
        share = before / max(before, -float(change @ H @ direction))
        x, gradient = x + share * direction, gradient + share * change
        turned = share * float(gradient @ H @ change) / last
        direction = gradient + max(turned, 0.0) * direction
    return there(x)
