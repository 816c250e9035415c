"""Limits that bind several degrees of freedom together: the cones of balls, and where wheeled bases may go.

A step of such a group is safe when the group, braking from then on along the same path (the same axis of rotation, the
same arc), keeps inside at every frame until it stands; of more than LONGEST frames, at so many of them, and between
them on average. From a step that is safe at every frame the braked one is always safe again, so there is always a next
step; what is asked for beyond is shortened towards it. Twin of kernel/src/limits/coupled.c.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.rolling import RollingBase
from ...robokin.spatial import quaternion, swing_twist
from ...robokin.spatial.swing_twist import Cone

HALVINGS = 40  # of a step that is too long
ROUNDS = 10  # of moving a ball into its cone and its step into its bounds
LONGEST = 256  # frames of braking that are looked at one by one; of more, so many


def frames_to_stop(step: Array, max_change: Array) -> float:
    """How many times `max_change` (n,) brakes the step (n,) to rest, along its own direction; 0: at once."""
    return float(np.max(abs(step) / max_change, initial=0.0))


def braked(step: Array, max_change: Array) -> Array:
    """(n,) the next step when braking."""
    frames = frames_to_stop(step, max_change)
    return step * (1.0 - 1.0 / frames) if frames > 1.0 else np.zeros_like(step)


def stopping_shares(frames: float) -> tuple[Array, Array]:
    """(k,) numbers of frames of braking after a step, 0 first, and the multiples of the step that are covered then."""
    count = int(min(frames, 1e9))
    numbers = np.arange(min(count, LONGEST) + 1)
    j = numbers if count <= LONGEST else numbers * count // LONGEST
    return j, 1.0 + j - (0.5 * j * (j + 1) / frames if count else 0.0)


def shortened(step: Array, brake: Array, is_safe: Callable[[Array], bool]) -> Array:
    """The farthest safe step found between the braked one and `step`."""
    if is_safe(step):
        return step
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if is_safe(brake + middle * (step - brake)):
            low = middle
        else:
            high = middle
    return brake + low * (step - brake)


# -- balls -------------------------------------------------------------------------------------------------------------


def balls_are_safe(
    cone: Cone, last: Array, steps: Array, max_change: Array, locked: float = swing_twist.LOCKED
) -> Array:
    """(...) bool: whether each of `steps` (..., 3) from `last` (4,) and braking after it stay in the cone; locked: see
    `contains`."""
    if (abs(steps) < max_change).all():
        return swing_twist.contains(cone, quaternion.turned(last, steps), locked=locked)
    if steps.ndim == 1:
        _, shares = stopping_shares(frames_to_stop(steps, max_change))
        return np.asarray(
            swing_twist.contains(cone, quaternion.turned(last, shares[:, None] * steps), locked=locked).all()
        )
    return np.array([balls_are_safe(cone, last, step, max_change, locked) for step in steps])


def ball_within(cone: Cone, last: Array, previous: Array, lo: Array, hi: Array, max_change: Array, q: Array) -> Array:
    """(4,) near q: inside the cone, its step from `last` within [lo, hi] and safe. previous: (3,) the last step."""
    for _ in range(ROUNDS):
        step = quaternion.log(quaternion.multiply(quaternion.conjugate(last), q))
        bounded = np.minimum(np.maximum(step, lo), hi)
        if (step != bounded).any():
            q = quaternion.turned(last, bounded)
        inside = swing_twist.project(cone, q)
        settled, q = bool((inside == q).all()), inside
        if settled:
            break
    step = quaternion.log(quaternion.multiply(quaternion.conjugate(last), q))
    bounded = np.minimum(np.maximum(step, lo), hi)
    kept = shortened(bounded, braked(previous, max_change), lambda x: bool(balls_are_safe(cone, last, x, max_change)))
    return q if (kept == step).all() else swing_twist.project(cone, quaternion.turned(last, kept))


# -- wheeled bases -----------------------------------------------------------------------------------------------------


def base_is_safe(
    base: RollingBase, start: Array, step: Array, max_change: Array, lower: Array, upper: Array, max_step: Array
) -> bool:
    """Whether the base, at x, y, angle `start`, stays within lower, upper and its steps within `max_step`, each (3,),
    while its wheels turn by `step` (2,) and then brake."""
    here, done, passed = start, 0.0, -1
    for number, share in zip(*map(np.ndarray.tolist, stopping_shares(frames_to_stop(step, max_change))), strict=True):
        there = base.roll(here, (share - done) * step)
        farthest = (number - passed) * max_step
        if (there < lower).any() or (there > upper).any() or (abs(there - here) > farthest).any():
            return False
        here, done, passed = there, share, number
    return True


def base_within(
    base: RollingBase,
    start: Array,
    previous: Array,
    step: Array,
    max_change: Array,
    lower: Array,
    upper: Array,
    max_step: Array,
) -> Array:
    """(2,) the safe step of the wheels nearest to `step` on the way to it from braking. previous: (2,) the last one."""
    if not np.isfinite([lower, upper, max_step]).any():
        return step
    brake = braked(previous, max_change)
    return shortened(step, brake, lambda x: base_is_safe(base, start, x, max_change, lower, upper, max_step))
