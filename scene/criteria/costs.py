"""What criteria cost, and how steeply that rises: the same numbers in a bake, beside the list, and in Python."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

import numpy as np

from ...robokin import RobotModel, difference
from ...robokin.arrays import Array
from ...solvers.criteria import Criterion, State
from ...solvers.tracking.starts import Segment


def cost(criterion: Criterion, state: State, v: Array) -> tuple[float, Array]:
    """(the cost, its slope (nv,)) at v (nv,). Slopes are per radian or robot size, of what costs velocities per
    radian/s. Raises RobokinError; what has no weight and does not fit the robot costs nothing."""
    if not criterion.fits(state):
        return 0.0, np.zeros(len(v))
    return float(criterion.value(state, v)), criterion.slope(state, v) * state.scale


def steepness(slope: Array) -> float:
    """How steep a slope (nv,) is, in the direction in which the cost rises most."""
    return float(np.linalg.norm(slope))


def costs_of_motion(
    model: RobotModel, segments: Iterable[tuple[Segment, Sequence[Criterion]]], Q: Array, dt: float
) -> Generator[float, None, Array]:
    """Yield the share done (0..1) now and then; return (n, c, 2) cost and steepness at every frame of Q (n, nq), which
    begins at rest; dt [s] between two frames."""
    rows: list[list[tuple[float, float]]] = []
    v = np.zeros(model.nv)
    for segment, criteria in segments:
        for targets in segment.targets:
            own = []
            if criteria:
                i = len(rows)
                last, v = v, difference(model, Q[max(0, i - 1)], Q[i]) / dt
                state = segment.tracker.levels.state(Q[i], targets, dt, last)
                own = [cost(criterion, state, v) for criterion in criteria]
                yield i / len(Q)
            rows.append([(value, steepness(slope)) for value, slope in own])
    return np.array(rows).reshape(len(rows), -1, 2)
