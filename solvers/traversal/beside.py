"""In time, beside the path or in another posture of it."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.robot import RobotModel
from ..progress import scaled
from ..singularities.measure import NEAR, Singularities
from ..singularities.tool import Tool
from ..tasks import PostureTask
from ..tracking.track import track
from ..velocity.task_levels import tolerances
from .led_postures import nearest_in_time, refuse_unreached
from .postures_along import PosturesAlong, PostureSequence, StepCost, cheapest_sequence
from .tool_path import deviation

SKIPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48)  # frames over which the joints may go straight
TOO_FAST = 1e4  # cost of a frame that is as much too fast as its limit
SKIPPED = 0.02  # cost of a frame at which the tool is beside its path
ROUNDED = 1e-9
ROUNDINGS = (0, 1, 2, 3, 4, 6, 8)  # frames to each side
LEAST = 1e-3  # singular values that are smaller are all the same


def away_in_time(
    along: PosturesAlong, first: Array, velocity: Array, dt: float
) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the exact path at speeds inside the limits that stays farthest from
    singularities."""
    near, paced = Singularities(Tool.of(along.model, along.task)), _paced(velocity, dt)

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        values = near.over(q1.reshape(-1, q1.shape[-1]))[0].reshape(q1.shape[:-1])
        return paced(s0, s1, q0, q1) + (NEAR / np.maximum(values, LEAST)) ** 2

    s = np.arange(float(along.path.frames))
    return (yield from cheapest_sequence(along, s.tolist(), along.at_all(s), first, cost))


def kept_in_time(
    along: PosturesAlong, first: Array, velocity: Array, dt: float
) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the exact path from the one posture `first` (1, nq) that never leaves
    its branch; of one that is singular, the branch that is nearest where it no longer is. Raises TaskError where the
    branch ends."""
    s = np.arange(float(along.path.frames))
    _, hidden = along.at(s)
    layers = along.at_all(s, along.branch(s[int(np.argmin(hidden))], first[0]))
    return (yield from cheapest_sequence(along, s.tolist(), layers, first, _paced(velocity, dt)))


def deviating(
    along: PosturesAlong, first: Array, velocity: Array, dt: float, bound: tuple[float, float]
) -> Generator[float, None, Array]:
    """Yield the share done now and then; return (2 F - 1, nq) frames, and half-way between, from one of the postures
    `first` (k, nq), in time; the tool at most `bound` [m], [rad] off its path where that was found."""
    if not along.are_few:
        return (yield from _deviating_in_itself(along, first, dt, bound))
    sequence = yield from in_time(along, first, velocity, dt, bound)
    return inside_limits(along, at_frames(sequence, along.path.frames), dt, bound)


def _deviating_in_itself(
    along: PosturesAlong, first: Array, dt: float, bound: tuple[float, float]
) -> Generator[float, None, Array]:
    """What `deviating` gives: from the first posture that allows it, or else from the one that comes nearest."""
    loose = np.maximum(bound, tolerances([along.task])[0])
    refuse_unreached(along, first[0], loose, "no posture is as near to its target as it may deviate")
    best, least = np.zeros((0, first.shape[1])), np.inf
    for number, start in enumerate(first):
        led, _ = yield from nearest_in_time(along, start, dt, number / len(first))
        q = with_halves(led)
        share = _share(along, q, bound)
        if share < least:
            best, least = q, share
        if share <= 1.0:
            break
    return best


def _share(along: PosturesAlong, q: Array, bound: tuple[float, float]) -> float:
    """How far frames and half frames q (n, nq) are off the path, over what they may be."""
    off = deviation(along.path.at(np.arange(len(q)) / 2.0), along.tips(q))
    return float((off / np.maximum(bound, 1e-12)).max())


def in_time(
    along: PosturesAlong, first: Array, velocity: Array, dt: float, bound: tuple[float, float]
) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the path through the frames at joint speeds inside the limits, the tool
    at most `bound` [m], [rad] off its path; where there is none, the one that is too fast by least. The path skips
    frames where the joints go straight."""
    s = np.arange(float(along.path.frames))
    layers = along.at_all(s)
    paced = _paced(velocity, dt)
    skippable, done = None, 0.0
    if all(map(len, layers)):
        done = 0.5
        exact = yield from scaled(cheapest_sequence(along, s.tolist(), layers, first, paced), 0.0, done)
        if exact.costs.max(initial=0.0) < TOO_FAST:
            return exact
        reach = np.ones(2 * SKIPS[-1] + 1)
        skippable = np.convolve(exact.costs >= TOO_FAST, reach)[SKIPS[-1] : SKIPS[-1] + len(s)] > 0.0
    backend, tree = get_backend(), along.model.tree
    frame = along.model.link_index(along.task.link)

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        found = paced(s0, s1, q0, q1) + SKIPPED * (s1 - s0 - 1.0)
        count = round(s1 - s0)
        if count > 1:
            found[found >= TOO_FAST] = np.inf
        looked = np.argwhere(found < TOO_FAST)
        if not len(looked):
            return found
        shares = np.arange(1, 2 * count) / (2.0 * count)
        a, b = looked.T
        here = np.broadcast_to(q0, q1.shape)
        between = here[a, b][:, None] + shares[:, None] * (q1 - here)[a, b][:, None]
        tips = backend.frame_placements(tree, between.reshape(-1, between.shape[-1]))[:, frame] @ along.task.offset
        requested = along.path.at(s0 + shares * (s1 - s0))
        off = deviation(np.tile(requested, (len(looked), 1, 1)), tips).reshape(len(looked), len(shares), 2)
        outside = (off > (1.0 - ROUNDED) * np.array(bound)).any(axis=(1, 2))
        found[a[outside], b[outside]] = np.inf if count > 1 else TOO_FAST * 0.5
        return found

    steps = cheapest_sequence(along, s.tolist(), layers, first, cost, SKIPS, skippable)
    return (yield from scaled(steps, done, 1.0))


def _paced(velocity: Array, dt: float) -> StepCost:
    """Squares of speeds as shares of their limits, and much for what is too fast."""

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        share = abs(q1 - q0) / (velocity * dt * (s1 - s0))
        most = share.max(axis=-1)
        return (s1 - s0) * (share**2).sum(axis=-1) + np.where(most > 1.0, TOO_FAST * most * (s1 - s0), 0.0)

    return cost


def at_frames(sequence: PostureSequence, frames: int) -> Array:
    """(frames, nq): the joints go straight where the path skips some."""
    return np.array([np.interp(np.arange(frames), sequence.s, column) for column in sequence.q.T]).T


def inside_limits(along: PosturesAlong, q: Array, dt: float, bound: tuple[float, float] | None) -> Array:
    """(2 F - 1, nq) frames q (F, nq) with accelerations inside the limits, and half-way between. Where they are not,
    the joints' motions are rounded off over more and more frames, for as long as the tool is within the bound, and led
    by what limits allow. None: it shall be on its path."""
    model = along.model
    best, least = with_halves(q), np.inf
    for frames in ROUNDINGS if bound is not None else ROUNDINGS[:1]:
        rows = _rounded_off(q, frames)
        if _is_too_hard(model, rows, dt):
            rows = track(model, [PostureTask(q[0])], [[each] for each in rows], rows[0], dt).q
        found = with_halves(rows)
        share = _share(along, found, bound or (1.0, 1.0))
        if share < least:
            best, least = found, share
        if share <= 1.0:
            break
    return best


def with_halves(q: Array) -> Array:
    """(2 F - 1, nq) configurations (F, nq), and what linear keys show half-way between."""
    found = np.repeat(q, 2, axis=0)[:-1]
    found[1::2] = 0.5 * (q[1:] + q[:-1])
    return found


def _is_too_hard(model: RobotModel, q: Array, dt: float) -> bool:
    v = np.diff(q, axis=0, prepend=q[:1]) / dt
    a = np.diff(v, axis=0, prepend=0.0) / dt
    return bool(
        (abs(a) > model.acceleration * (1.0 + ROUNDED)).any() or (abs(v) > model.velocity * (1 + ROUNDED)).any()
    )


def _rounded_off(q: Array, frames: int) -> Array:
    """Each frame the mean of those around it, so many to each side; the ends stay. No joint gets faster so, nor
    outside its limits."""
    if not frames or len(q) < 3:
        return q
    found = q.copy()
    for i in range(1, len(q) - 1):
        reach = min(frames, i, len(q) - 1 - i)
        found[i] = q[i - reach : i + reach + 1].mean(axis=0)
    return found
