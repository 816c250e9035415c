"""Control points of a ball's spline with which it stays in the ball's cone between frames too."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.spatial import swing_twist
from ...robokin.spatial.swing_twist import Cone

PLACES = 32  # of each step between frames, at which the spline is looked at
INSIDE = 1e-5  # [rad] in the cone there, so that it is in it between these places
LEAST, MOST = 1e-6, 0.3  # shares of the way to the middle of the cone


def into_cone(cone: Cone, points: Array) -> Array:
    """(F + 2, 4) control points. Those beside which the spline leaves the cone are nearer to its middle, by as little
    as helps, to a factor of 2; all are as given where that does not help, as with frames outside. The first and the
    last frame stay."""
    middle = swing_twist.middle(cone)
    middles = np.where(points @ middle < 0.0, -1.0, 1.0)[:, None] * middle
    found, shares, share = points, np.zeros((len(points), 1)), LEAST
    while share < MOST:
        outside = np.flatnonzero(~swing_twist.contains(cone, _spline(found), -INSIDE).all(axis=1))
        if not len(outside):
            return found
        shares[outside[:, None] + np.arange(4)] = share
        shares[[0, 1, -2, -1]] = 0.0
        found = (1.0 - shares) * points + shares * middles
        moved = shares[:, 0] > 0.0
        found[moved] /= np.linalg.norm(found[moved], axis=1, keepdims=True)
        found[[0, -1]] += points[[2, -3]] - found[[2, -3]]
        share *= 2.0
    return points


def _spline(points: Array) -> Array:
    """(F - 1, PLACES, 4) unit quaternions of each step."""
    s = (np.arange(PLACES)[:, None] + 0.5) / PLACES
    r = 1.0 - s
    weights = np.hstack((r**3, 3.0 * s**3 - 6.0 * s**2 + 4.0, 3.0 * r**3 - 6.0 * r**2 + 4.0, s**3)) / 6.0
    steps = np.stack([points[k : len(points) - 3 + k] for k in range(4)], axis=1)
    found = np.einsum("uk,fkq->fuq", weights, steps)
    return found / np.linalg.norm(found, axis=2, keepdims=True)
