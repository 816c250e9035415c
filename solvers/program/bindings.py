"""What keeps moves from being faster, and when."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from ...robokin.arrays import Array
from ..motion.motion import velocity_names
from ..retiming.timing import Retimed
from ..trajectories.sampled import Sampled
from ..trajectories.trajectory import Trajectory
from .moves import Move
from .run import PartOfMotion

KINDS = ("velocity", "acceleration", "jerk")
Label = tuple[str, str]


def binding_labels(done: Sequence[tuple[Move, Sampled]], times: Array) -> list[Label | None]:
    """Kind and joint of the limit that binds at times (S,) [s] of the moves one after another, as of `ActiveLimit`;
    "animation" without a joint where a move's progress is keyed, None where nothing moves."""
    found: list[Label | None] = [None] * len(times)
    now = 0.0
    for move, motion in done:
        own = np.flatnonzero((times >= now) & (times < now + motion.duration))
        for at, label in zip(own.tolist(), _labels(motion, times[own] - now), strict=True):
            found[at] = label
        now += motion.duration + move.wait
    return found


def binding_spans(labels: Sequence[Label | None], times: Array) -> Iterator[tuple[float, float, str, str]]:
    """Start and end [s], kind and joint of each limit that binds for a while. labels: at times (S,) [s], each until the
    next one."""
    for label, group in itertools.groupby(range(len(labels)), key=lambda i: labels[i]):
        own = list(group)
        if label is not None:
            yield float(times[own[0]]), float(times[min(own[-1] + 1, len(times) - 1)]), *label


def _labels(motion: Sampled, t: Array) -> list[Label | None]:
    if isinstance(motion, PartOfMotion):
        return _labels(motion.whole, np.minimum(motion.start + t, motion.whole.duration))
    if isinstance(motion, Retimed):
        return [(each.kind, each.joint) if each is not None else None for each in motion.binding_at(t)]
    if not isinstance(motion, Trajectory):
        return [("animation", "")] * len(t)
    names = [name for joint in motion.model.moving_joints for name in velocity_names(joint)]
    _, v, a = motion.sample(t)
    if not names:
        return [None] * len(t)
    shares = abs(np.stack((v, a, motion.jerk(t)), axis=-1)) / motion.limits.rows
    largest = shares.reshape(len(t), len(names) * len(KINDS)).argmax(axis=1)
    joints, kinds = np.unravel_index(largest, shares.shape[1:])
    return [(KINDS[k], names[i]) for i, k in zip(joints.tolist(), kinds.tolist(), strict=True)]
