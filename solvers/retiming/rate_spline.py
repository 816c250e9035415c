"""A motion between its frames of balls and floating joints, whose velocity is a quadratic B-spline.

Their velocities are in axes that turn along, so those of a spline of positions are no means of those of its points.
Here the velocities are means of control points (de Boor 1978), one for each step from frame to frame, and accelerations
go straight from one difference of these to the next. So limits on the points hold at all times. Positions are where the
velocities lead: by the exponentials of Alvermann and Fehske, "High-order commutator-free exponential time-propagation",
2011, Eq. 43, of fourth order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel

PIECES = 16  # of each step between frames, along which velocities are followed
_PLACE, _SHARE = np.sqrt(3.0) / 6.0, (0.25 - np.sqrt(3.0) / 6.0, 0.25 + np.sqrt(3.0) / 6.0)


def weights(s: Array) -> Array:
    """(..., 3) what each point counts at the share s of a step: those of the step before, its own, and after."""
    return np.stack((0.5 * (1.0 - s) ** 2, 0.5 + s - s * s, 0.5 * s * s), axis=-1)


def summed_weights(s: Array) -> Array:
    """(..., 3) the integral of `weights` from 0 to s."""
    return np.stack(((1.0 - (1.0 - s) ** 3) / 6.0, 0.5 * s * (1.0 + s) - s**3 / 3.0, s**3 / 6.0), axis=-1)


@dataclass(frozen=True, eq=False)
class RateSpline:
    """first: (nq,) the first frame.   points: (F + 1, nv) velocities, of each step, one before and one after.   dt: [s]
    from frame to frame."""

    model: RobotModel
    first: Array
    points: Array
    dt: float

    def steps(self) -> Array:
        """(F - 1, PIECES + 1, nq) where each step leads from the neutral configuration, piece by piece."""
        neutral, count = self.model.neutral(), len(self.points) - 2
        found = [np.tile(neutral, (count, 1))]
        for piece in range(PIECES):
            found.append(self._led(np.arange(count), found[-1], piece / PIECES, (piece + 1) / PIECES))
        return np.stack(found, axis=1)

    def frames(self, steps: Array) -> Array:
        """(F, nq) where the steps lead."""
        backend, tree = get_backend(), self.model.tree
        found = [self.first]
        for move in backend.difference(tree, self.model.neutral(), steps[:, -1]):
            found.append(backend.integrate(tree, found[-1], move))
        return np.array(found)

    def at(self, interval: Array, s: Array) -> tuple[Array, Array, Array]:
        """q (n, nq), v and a (n, nv) at the shares s (n,) of steps (n,)."""
        backend, tree = get_backend(), self.model.tree
        steps = self.steps()
        piece = np.minimum((s * PIECES).astype(int), PIECES - 1)
        led = self._led(interval, steps[interval, piece], piece / PIECES, s)
        q = backend.integrate(tree, self.frames(steps)[interval], backend.difference(tree, self.model.neutral(), led))
        slopes = np.stack((s - 1.0, 1.0 - 2.0 * s, s), axis=-1) / self.dt
        return q, self._mean(interval, weights(s)), self._mean(interval, slopes)

    def _mean(self, interval: Array, shares: Array) -> Array:
        return np.einsum("nk,nkv->nv", shares, self.points[interval[:, None] + np.arange(3)])

    def _led(self, interval: Array, q: Array, begin: Array | float, end: Array | float) -> Array:
        """(n, nq) from q at the share `begin` of the steps to `end`."""
        backend, tree = get_backend(), self.model.tree
        begin, end = (np.broadcast_to(each, interval.shape) for each in (begin, end))
        h, middle = end - begin, 0.5 * (begin + end)
        early, late = (self._mean(interval, weights(middle + sign * _PLACE * h)) for sign in (-1.0, 1.0))
        less, more = (share * h[:, None] * self.dt for share in _SHARE)
        return backend.integrate(
            tree, backend.integrate(tree, q, more * early + less * late), less * early + more * late
        )
