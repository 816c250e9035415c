"""Every task: its Jacobian against central differences, and its motion until it is met."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, integrate, random_configuration
from robokin_addon.solvers import AimTask, LaserTask, Task
from robokin_addon.solvers.kinematics.state import State
from support.blender.every_task import every_task
from support.random_problems.random_trees import random_robot

H = 1e-6
ROOTS = ("fixed", "floating", "planar")


def _seen(task: Task, state: State, J: np.ndarray) -> np.ndarray:
    """What rows (m, nv) see of how their sides change: those of an aim leave out what is along the direction to the
    target, where they ask for nothing."""
    seen, aims = np.eye(len(J)), isinstance(task, AimTask) and not task.band
    if aims or (isinstance(task, LaserTask) and J[3:].any()):
        away = (task.target if aims else task.target[0]) - task.tip(state)[:3, 3]
        seen[-3:, -3:] -= np.outer(away, away) / (away @ away)
    return seen


def _slope(model: RobotModel, task: Task, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """d/dt of the sides of the rows when q moves with v, by central differences; and -J v, which it should be."""
    rows = task.rows(State(model, q), task.target)
    ahead, back = (task.rows(State(model, integrate(model, q, sign * H * v)), task.target) for sign in (1.0, -1.0))
    if not len(ahead.J) == len(back.J) == len(rows.J):
        pytest.fail(f"{task}: the rows change")
    slopes, expected = [], []
    seen = _seen(task, State(model, q), rows.J)
    for side in ("lower", "upper"):
        first, last = getattr(back, side), getattr(ahead, side)
        # A laser that misses states how far its target is, but moves the tip no nearer.
        kept = np.isfinite(first) & (rows.J.any(axis=1) | (task.kind != "laser"))
        slopes.append(seen[np.ix_(kept, kept)] @ (last[kept] - first[kept]) / (2.0 * H))
        expected.append(-(rows.J @ v)[kept])
    return np.concatenate(slopes), np.concatenate(expected)


@pytest.mark.parametrize("seed", range(9))
def test_jacobians_are_central_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 10, ROOTS[seed % 3])
    q = random_configuration(model, rng)
    seen = 0.0
    for name, task in every_task(rng, model, q, random_configuration(model, rng)).items():
        v = rng.normal(size=model.nv)
        slope, expected = _slope(model, task, q, v)
        size = max(1.0, abs(expected).max(initial=0.0))
        np.testing.assert_allclose(slope, expected, rtol=0, atol=1e-6 * size, err_msg=f"{name} of seed {seed}")
        seen += abs(expected).max(initial=0.0)
    assert seen > 1.0


@pytest.mark.parametrize("seed", range(9))
def test_rows_take_as_many_directions_beside_where_a_task_is_met(seed: int) -> None:
    """Else the levels below lose one more or less, as rounding will."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 10, ROOTS[seed % 3])
    q, end = random_configuration(model, rng), random_configuration(model, rng)
    for name, task in every_task(rng, model, q, end).items():
        states = [State(model, integrate(model, end, h * rng.normal(size=model.nv))) for h in (0.0, 1e-8, 1e-6, 1e-4)]
        ranks = {np.linalg.matrix_rank(task.rows(state, task.target).J, 1e-9) for state in states}
        assert len(ranks) == 1, f"{name} of seed {seed} takes {ranks} directions"
