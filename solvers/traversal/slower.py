"""Along the path exactly, as slowly as joint speeds ask for: near a singularity the tool waits for the joints."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ..progress import scaled
from .postures_along import APART, LEAPING, PosturesAlong, PostureSequence, cheapest_sequence

STEP = 0.04  # [rad] between two postures of the path
FINEST = 1e-12  # frames between two poses, at least
NARROW = 1e-10  # frames: where postures are so near each other that the joints cannot move on between them ...
LEAP = 0.0401  # [rad] ... by so much
PASSES = 48
ASIDE = 1e-6  # frames: in a singularity itself a posture says nothing about those around it
FEW = 1e-3  # what the sum of all joints' motions counts beside the time of the slowest


class LeapError(TaskError):
    """The tool would have to leap."""


def slower_sequence(along: PosturesAlong, first: Array, dt: float) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the path of the least time from one of the postures `first` (k, nq), in
    steps of at most 0.04 rad. Raises LeapError, and TaskError where no posture meets a pose of the path."""

    def cost(s0: float, s1: float, q0: Array, q1: Array) -> Array:
        times = abs(q1 - q0) / along.model.velocity
        found = np.maximum(times.max(axis=-1), (s1 - s0) * dt) + FEW * times.sum(axis=-1)
        return found if s1 - s0 > NARROW else found + LEAPING * (abs(q1 - q0).max(axis=-1) > LEAP)

    s = np.arange(float(along.path.frames))
    s[1:-1][along.at(s)[1][1:-1]] += ASIDE
    layers, names, _ = along.named_at(s)
    for stage, apart in enumerate((APART, LEAP)):  # then not between branches that come near each other and do not meet
        for number in range(PASSES):
            low, high = (0.5 * (stage + k / PASSES) for k in (number, number + 1))
            cheapest = cheapest_sequence(along, s.tolist(), layers, first, cost, names=names, apart=apart)
            sequence = yield from scaled(cheapest, low, high)
            steps = abs(np.diff(sequence.q, axis=0)).max(axis=1, initial=0.0)
            wide = (steps > STEP) & (np.diff(sequence.s) > FINEST)
            if not wide.any():
                break
            at = np.flatnonzero(wide)
            new = 0.5 * (sequence.s[at] + sequence.s[at + 1])
            found, called, hidden = along.named_at(new)
            if hidden.any():
                new[hidden] += 0.2 * (sequence.s[at + 1] - new)[hidden]
                found, called, _ = along.named_at(new)
            order = np.argsort(np.concatenate((s, new)), kind="stable")
            s = np.concatenate((s, new))[order]
            both, all_names = [*layers, *found], [*names, *called]
            layers, names = [both[k] for k in order], [all_names[k] for k in order]
        if not (steps > LEAP).any():
            return sequence
    where = sequence.s[int(np.argmax(steps > LEAP))]
    raise LeapError(
        f"{along.task.name}: at frame {where:.4g} of its path the joints would have to leap, as a limit is in the "
        "way of turning on, from every posture that was tried: deviate, or take another path"
    )
