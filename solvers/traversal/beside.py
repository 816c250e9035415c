"""In time, beside the path or in another posture of it."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.robot import RobotModel
from ..singularities.measure import NEAR, Singularities
from ..singularities.tool import Tool
from ..tasks import PostureTask
from ..tracking.track import track
from ..velocity.task_levels import tolerances
from .led_postures import TooLong, lead_near, refuse_unreached
from .postures_along import PosturesAlong, PostureSequence, StepCost, cheapest_sequence, no_way_on
from .tool_path import deviation

TOO_FAST = 1e4  # cost of a frame that is as much too fast as its limit
ROUNDED = 1e-9
LEAST = 1e-3  # singular values that are smaller are all the same


def away_in_time(along: PosturesAlong, first: Array, dt: float) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the exact path at speeds inside the limits that stays farthest from
    singularities."""
    near, paced = Singularities(Tool.of(along.model, along.task)), _paced(along.model.velocity, dt)

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        values = near.over(q1.reshape(-1, q1.shape[-1]))[0].reshape(q1.shape[:-1])
        return paced(s0, s1, q0, q1) + (NEAR / np.maximum(values, LEAST)) ** 2

    s = np.arange(float(along.path.frames))
    return (yield from cheapest_sequence(along, s.tolist(), along.at_all(s), first, cost))


def kept_in_time(along: PosturesAlong, first: Array, dt: float) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the exact path from the one posture `first` (1, nq) that never leaves
    its branch; of one that is singular, the branch that is nearest where it no longer is. Raises TaskError where the
    branch ends."""
    s = np.arange(float(along.path.frames))
    _, hidden = along.at(s)
    layers = along.at_all(s, along.branch(s[int(np.argmin(hidden))], first[0]))
    for i in range(1, len(s)):
        if not len(layers[i]):
            why = "with elbow, shoulder and wrist as they are no posture meets its target"
            raise no_way_on(along, s[i - 1], s[i], why)
    return (yield from cheapest_sequence(along, s.tolist(), layers, first, _paced(along.model.velocity, dt)))


def deviating(
    along: PosturesAlong, first: Array, dt: float, bound: tuple[float, float]
) -> Generator[float, None, Array]:
    """Yield the share done now and then; return (2 F - 1, nq) frames, and half-way between, in time: from the first of
    the postures `first` (k, nq) that keeps the tool at most `bound` [m], [rad] off its path, or else from the one that
    comes nearest. Raises TaskError where no posture is that near, and TooLong where none was found in the budget."""
    loose = np.maximum(bound, tolerances([along.task])[0])
    refuse_unreached(along, first[0], loose, "no posture is as near to its target as it may deviate")
    best, least = np.zeros((0, first.shape[1])), np.inf
    for number, start in enumerate(first):
        found: list[Array] = []
        too_long = None
        try:
            yield from lead_near(along, start, dt, number / len(first), found)
        except TooLong as error:
            too_long = error
        for q in map(with_halves, found):
            off = deviation(along.path.at(np.arange(len(q)) / 2.0), along.tips(q))
            share = float((off / np.maximum(bound, 1e-12)).max())
            if share < least:
                best, least = q, share
        if least <= 1.0:
            break
        if too_long is not None:
            raise too_long
    return best


def _paced(velocity: Array, dt: float) -> StepCost:
    """Squares of speeds as shares of their limits, and much for what is too fast, from frame to frame."""

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        share = abs(q1 - q0) / (velocity * dt)
        most = share.max(axis=-1)
        return (share**2).sum(axis=-1) + np.where(most > 1.0, TOO_FAST * most, 0.0)

    return cost


def inside_limits(model: RobotModel, q: Array, dt: float) -> Array:
    """(2 F - 1, nq) frames q (F, nq) with accelerations inside the limits, and half-way between. Where they are not,
    they are led by what limits allow."""
    v = np.diff(q, axis=0, prepend=q[:1]) / dt
    a = np.diff(v, axis=0, prepend=0.0) / dt
    most = 1.0 + ROUNDED
    if (abs(a) > model.acceleration * most).any() or (abs(v) > model.velocity * most).any():
        q = track(model, [PostureTask(q[0])], [[each] for each in q], q[0], dt).q
    return with_halves(q)


def with_halves(q: Array) -> Array:
    """(2 F - 1, nq) configurations (F, nq), and what linear keys show half-way between."""
    found = np.repeat(q, 2, axis=0)[:-1]
    found[1::2] = 0.5 * (q[1:] + q[:-1])
    return found
