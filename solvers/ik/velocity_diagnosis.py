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
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..results import Diagnosis, Status
from ..velocity.task_levels import TaskLevels
from .diagnosis import LOST_MOTION, SINGULAR_VALUE, around, rank

NOTABLE = 1e-3  # relative: of what a level asks for, what no motion gives it
ROUNDED = 1e-9  # relative: to what all levels ask for, what one of them does not ask for


def why_stopped(levels: TaskLevels, q: Array, targets: Sequence[Any], shares: Array, dt: float) -> Diagnosis | None:
    """Look at the first level that cannot be had from q (nq,) at any speed: SINGULAR where it has lost rank against all
    poses around, or no joint moves it; TASK_CONFLICT where each task alone could be had. LIMIT where what would have
    all levels takes joints beyond bounds in this frame. None where nothing was shown. targets: of all tasks, checked.
    shares: (tasks,) influences."""
    state = levels.state(q, targets, dt, influence=shares)
    own = _levels(levels, state, targets, shares)
    x, lost = _displacement(own, levels.model.nv)
    if lost is None:
        return _beyond_bounds(levels, q, state.scale * x, dt)
    return _singular(levels, state, targets, shares, own, lost) or _conflict(levels, state, targets, shares)


def _displacement(own: Sequence[Level], nv: int) -> tuple[Array, int | None]:
    """(nv,) what gives each level what it asks for; and the number of the first one that cannot be had so."""
    x = np.zeros(nv)
    least = ROUNDED * max(np.linalg.norm(_residual(level, x)) for level in own)
    for k, level in enumerate(own):
        Z = _freedom(nv, own[:k])
        J, e = level.J @ Z, _residual(level, x)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        kept = s > SINGULAR_VALUE
        step = Vt[kept].T @ ((U[:, kept].T @ e) / s[kept])
        if np.linalg.norm(e - J @ step) > max(NOTABLE * np.linalg.norm(e), least):
            return x, k
        x = x + Z @ step
    return x, None


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


def _residual(level: Level, x: Array) -> Array:
    """(m,) the residual of its rows after a displacement."""
    reached = level.J @ x
    return np.maximum(level.lower - reached, 0.0) + np.minimum(level.upper - reached, 0.0)


def _singular(
    levels: TaskLevels, state: State, targets: Sequence[Any], shares: Array, here: Sequence[Level], k: int
) -> Diagnosis | None:
    """SINGULAR, when the rows of level number k have lost rank in the motions that those above leave."""
    ranks, nv = [], levels.model.nv
    for x in around(nv):
        near = levels.state(state.moved(state.scale * x).q, targets, state.dt, influence=shares)
        own = _levels(levels, near, targets, shares)
        ranks.append(rank(own[k].J @ _freedom(nv, own[:k])))
    at_hand = rank(here[k].J @ _freedom(nv, here[:k]))
    if not at_hand and not any(ranks):
        return Diagnosis(Status.SINGULAR, "no joint moves it as is asked")
    if at_hand >= min(ranks):
        return None
    return Diagnosis(Status.SINGULAR, f"{LOST_MOTION}: none of the others is what is asked for")


def _conflict(levels: TaskLevels, state: State, targets: Sequence[Any], shares: Array) -> Diagnosis | None:
    """TASK_CONFLICT, when each task alone could be had; as few are named as cannot be had together."""

    def is_lost(kept: Sequence[int]) -> bool:
        own = np.where(np.isin(np.arange(len(shares)), kept), shares, 0.0)
        return _displacement(_levels(levels, state, targets, own), levels.model.nv)[1] is not None

    kept = np.flatnonzero(shares).tolist()
    if any(is_lost([i]) for i in kept):
        return None
    for i in kept[::-1]:
        fewer = [other for other in kept if other != i]
        kept = fewer if is_lost(fewer) else kept
    names = tuple(levels.tasks[i].name for i in kept)
    return Diagnosis(Status.TASK_CONFLICT, f"each alone can be had, not together: {', '.join(names)}", tasks=names)


def _beyond_bounds(levels: TaskLevels, q: Array, x: Array, dt: float) -> Diagnosis | None:
    """LIMIT, when a displacement x (nv,) takes joints beyond position bounds at which they stand; else beyond bounds on
    speed; else beyond position bounds."""
    model, limits = levels.model, StepLimits.of(levels.model, dt)
    there = q[limits.coordinate] + x  # of joints that have bounds
    past = np.maximum(limits.lower - there, there - limits.upper)
    found = (past > (1.0 - NOTABLE) * abs(x), "position"), (abs(x) > limits.max_step, "speed"), (past > 0.0, "position")
    for beyond, of in found:
        names = tuple(joint.name for joint in model.moving_joints if beyond[model.slot(joint.name).v].any())
        if names:
            reason = f"a motion beyond the limits on {of} of {', '.join(names)} is what is asked for"
            return Diagnosis(Status.LIMIT, reason, joints=names)
    return None
