"""A bake whose time is free: how many frames it takes, and which moments of the scene they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...solvers.tracking.data import LATE
from ...solvers.tracking.result import TrackResult

WORD = "duration"
MOST = 10.0  # times as long as the scene has it is looked for a start that is in time
SLOWER = 1.5
_SAME_FRAME = 1e-6  # frames


def frees_time(cost: object) -> bool:
    """Whether a cost has the duration in it."""
    return cost == WORD or (isinstance(cost, Mapping) and WORD in cost)


def timed_cost(cost: object) -> object:
    """The cost where the time is settled."""
    others = {word: weight for word, weight in cost.items() if word != WORD} if isinstance(cost, Mapping) else {}
    return others or "acceleration"


def frames_in_time(frames: Sequence[int], moments: Sequence[float], stretch: float) -> tuple[range, list[float]]:
    """The frames of a motion that takes `stretch` times as long, rounded up to whole steps, and at which moments of the
    scene, evenly spread over those of now, their targets are."""
    step = int(frames[1] - frames[0]) if len(frames) > 1 else 1
    count = max(int(np.ceil((len(frames) - 1) * stretch - _SAME_FRAME)), 1) + 1
    own = range(frames[0], frames[0] + count * step, step)
    return own, np.linspace(moments[0], moments[-1], count).tolist()


def is_too_fast(results: Sequence[TrackResult], frames: Sequence[int], moments: Sequence[float]) -> bool:
    """Whether frames are late that more time may help."""
    span = moments[-1] - moments[0]
    return any((each.codes == LATE).any() for each in results) and frames[-1] - frames[0] < MOST * span
