"""Whether shapes keep their distances all along a path, not only where it is looked at."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..configuration import unit_quaternions
from ..model.robot import RobotModel
from .approach import Approach
from .model import CollisionModel

_TOGETHER = 64  # places that are looked at in one call


def line(a: Array, b: Array) -> Array:
    """(4, nq) the straight path from a to b, whose quaternions have signs that go together, as a cubic of 0 .. 1."""
    return np.stack((a, b - a, np.zeros_like(a), np.zeros_like(a)))


def places(model: RobotModel, c: Array, t: Array) -> Array:
    """(n, nq) configurations of a cubic c (4, nq) at parameters (n,), whose quaternions are made units."""
    t = t[:, None]
    return unit_quaternions(model, c[0] + t * (c[1] + t * (c[2] + t * c[3])))


def is_free_along(
    collisions: CollisionModel,
    approach: Approach,
    c: Array,
    h: float,
    least: Array | float,
    resolution: Array | float,
    backend: str = "auto",
    obstacles: Array | None = None,
    most: float = np.inf,
) -> bool:
    """Whether pairs keep `least` [m], one number or (pairs,), along a cubic c (4, nq) of powers of its parameter, whose
    quaternions need not be units, in 0 .. h; -inf for pairs that may be anywhere.

    A look proves as much of the path around it as the shapes cannot cross faster than they may approach (conservative
    advancement). What is nearer than `least + resolution` at a look is taken as not free, so that the looks come to an
    end. approach: of these collisions, in a range that holds the path.   obstacles: as of `distances`.   most: looks; a
    path that needs more is taken as not free. Raises ModelError.
    """
    rates = approach.rates(c, h)
    counted, wanted = rates > 0.0, least + resolution
    divisors = np.where(counted, rates, 1.0)[:, None]
    open_ = np.array([[0.0, h]])
    while len(open_):
        part, rest = open_[:_TOGETHER], open_[_TOGETHER:]
        most -= len(part)
        middle, half = part.mean(axis=1), 0.5 * (part[:, 1] - part[:, 0])
        enough = np.maximum(wanted, least + rates * float(half.max())).max(initial=0.0)
        q = places(collisions.model, c, middle)
        # lower bounds of what is beyond `enough`
        values = collisions.checked_distances(q, float(enough), backend, obstacles)[0][..., 0]
        if (values < wanted).any() or most < 0:
            return False
        # what the nearest pair proves around each middle
        proven = np.where(counted[:, None], (values - least).T / divisors, np.inf)
        reach = proven.min(axis=0, initial=np.inf)
        unproven = reach < half
        before = np.column_stack((part[unproven, 0], middle[unproven] - reach[unproven]))
        after = np.column_stack((middle[unproven] + reach[unproven], part[unproven, 1]))
        open_ = np.concatenate((rest, before, after))
    return True
