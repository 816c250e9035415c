"""Why velocities that are asked for are not had, where limits on speed are not the reason: claims about the motions
that are possible, to first order, from where a frame stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.generalized_inverses import null_space
from ..kinematics.state import State
from ..limits.rolling import rolling_level
from ..qp.level import Level
from ..results import Diagnosis, Status
from ..velocity.task_levels import TaskLevels
from .diagnosis import SINGULAR_VALUE, around, rank

NOTABLE = 1e-3  # relative: of what a level asks for, what no motion gives it
AT_BOUND = 1e-9  # [rad, m]


def why_stopped(levels: TaskLevels, q: Array, targets: Sequence[Any], shares: Array, dt: float) -> Diagnosis | None:
    """SINGULAR where the first level that cannot be had from q (nq,) at any speed has lost rank against all poses
    around, or no joint moves it; LIMIT where what would have all levels takes joints beyond position bounds at which
    they stand. None where neither was shown. targets: of all tasks, checked.   shares: (tasks,) influences."""
    state = levels.state(q, targets, dt, influence=shares)
    nv = levels.model.nv
    x = np.zeros(nv)
    for k, level in enumerate(own := _levels(levels, state, targets, shares)):
        Z = _freedom(nv, own[:k])
        J, e = level.J @ Z, _lacking(level, x)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        kept = s > SINGULAR_VALUE
        step = Vt[kept].T @ ((U[:, kept].T @ e) / s[kept])
        if np.linalg.norm(e - J @ step) > NOTABLE * np.linalg.norm(e):
            return _singular(levels, state, targets, shares, k, J)
        x = x + Z @ step
    return _at_bounds(levels, q, x)


def _levels(levels: TaskLevels, state: State, targets: Sequence[Any], shares: Array) -> list[Level]:
    """The levels of a step from a state: wheels and loop closures first."""
    rows = levels.rows(state, targets, shares)
    wheels = [rolling_level(base, float(state.q[base.q + 2]), state.scale) for base in levels.model.rolling_bases]
    closures = [level for _, level in levels.closures(state, rows)]
    return [*wheels, *closures, *levels.levels(state, rows, 0.0)]


def _freedom(nv: int, above: Sequence[Level]) -> Array:
    """(nv, f) the motions that leave the equations of levels as they are."""
    equations = [level.J[level.lower == level.upper] for level in above]
    return null_space(np.concatenate([np.empty((0, nv)), *equations]), SINGULAR_VALUE)


def _lacking(level: Level, x: Array) -> Array:
    """(m,) what its rows lack after a displacement."""
    reached = level.J @ x
    return np.maximum(level.lower - reached, 0.0) + np.minimum(level.upper - reached, 0.0)


def _singular(
    levels: TaskLevels, state: State, targets: Sequence[Any], shares: Array, k: int, J: Array
) -> Diagnosis | None:
    """SINGULAR, when the level with number k has lost rank; J: its rows in the motions that those above leave."""
    ranks, nv = [], levels.model.nv
    for x in around(nv):
        near = levels.state(state.moved(state.scale * x).q, targets, state.dt, influence=shares)
        own = _levels(levels, near, targets, shares)
        ranks.append(rank(own[k].J @ _freedom(nv, own[:k])))
    if not rank(J) and not any(ranks):
        return Diagnosis(Status.SINGULAR, "no joint moves it as is asked")
    if rank(J) >= min(ranks):
        return None
    return Diagnosis(Status.SINGULAR, "in a singular configuration: no motion is what is asked for")


def _at_bounds(levels: TaskLevels, q: Array, x: Array) -> Diagnosis | None:
    model = levels.model
    slots = [(joint.name, model.slot(joint.name)) for joint in model.moving_joints]
    plain = [(name, slot) for name, slot in slots if slot.q.stop - slot.q.start == slot.v.stop - slot.v.start]
    lower, upper = model.limits.lower, model.limits.upper
    names = tuple(
        name
        for name, slot in plain
        if (
            ((q[slot.q] <= lower[slot.q] + AT_BOUND) & (x[slot.v] < 0.0))
            | ((q[slot.q] >= upper[slot.q] - AT_BOUND) & (x[slot.v] > 0.0))
        ).any()
    )
    if not names:
        return None
    them = "the limit of" if len(names) == 1 else "the limits of"
    return Diagnosis(Status.LIMIT, f"a motion beyond {them} {', '.join(names)} is what is asked for", joints=names)
