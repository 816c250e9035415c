"""Stay away from singular configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.configuration import integrate
from ..fixed_arrays import cached_settings
from ..kinematics.state import State
from ..tasks import Task
from ..tasks.base import states_rows_of
from ..tasks.native import is_kernel_clearance, is_on_robot, tip_form_of
from ..tasks.task_jacobian import TaskJacobian
from .base import CriterionKind, CriterionRecord, Potential

SINGULAR = 1e-6  # singular values count as at least this large, so that V and its gradient stay finite
STEP = 1e-5  # of central differences, in radians or L


class Manipulability(Potential):
    """V = -1/2 log det JJ' of the rows of the tasks of the first level: 1/L scaled, without free axes and weights.
    A task of partial influence counts as a whole one.

    (Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4, 1985.) Robots with fewer degrees of freedom than rows
    have J'J in place of JJ'. Singular values s count as sqrt(s^2 + 1e-12). Without tasks V = 0.
    """

    @cached_settings
    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)

    def record(self, state: State) -> CriterionRecord | None:
        return record_of_rows(CriterionKind.MANIPULABILITY, self, state)

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_rows(state), compute_uv=False)
        return -0.5 * float(np.log(s**2 + SINGULAR**2).sum())

    def gradient(self, state: State) -> Array:
        J, derivative = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        inverse = (U * (s / (s**2 + SINGULAR**2))) @ Vt
        return -np.einsum("rj,rjk->k", inverse, derivative)


def record_of_rows(kind: CriterionKind, criterion: Potential, state: State) -> CriterionRecord | None:
    """None when the kernel does not have the rows of all tasks of the first level."""
    known = (tip_form_of(task) or is_on_robot(task, state.model) or is_kernel_clearance(task) for task in state.tasks)
    return CriterionRecord(kind, criterion.gain, criterion.metric(state)) if all(known) else None


def task_rows(state: State) -> Array:
    """J (m, nv), dimensionless, of the rows of the tasks, without their weights."""
    rows = [_rows(state, task, target) for task, target in _counting(state)]
    return np.vstack([np.zeros((0, state.model.nv)), *rows])


def task_jacobian(state: State) -> tuple[Array, Array]:
    """`task_rows` and their derivative (m, nv, nv) [row, column, along v_k]."""
    nv = state.model.nv
    changes = [_change(state, task, target) for task, target in _counting(state)]
    return task_rows(state), np.concatenate([np.zeros((0, nv, nv)), *changes])


def _rows(state: State, task: Task, target: object) -> Array:
    jacobian = _stated_jacobian(state, task, target)
    return state.equations(task, target) if jacobian is None else jacobian.J * state.scale


def _change(state: State, task: Task, target: object) -> Array:
    jacobian = _stated_jacobian(state, task, target)
    return _differences(state, task, target) if jacobian is None else jacobian.derivative() * state.scale[:, None]


def _stated_jacobian(state: State, task: Task, target: object) -> TaskJacobian | None:
    return task.task_jacobian(state, target) if states_rows_of(type(task), "task_jacobian") else None


def _counting(state: State) -> list[tuple[Task, Any]]:
    pairs = zip(state.tasks, state.targets, strict=True)
    return [(task, target) for task, target in pairs if task.influence]


def _differences(state: State, task: Task, target: object) -> Array:
    """The derivative of a task's equations, by central differences; one-sided where a side has other rows, as a beam
    that misses its mesh."""
    here = state.equations(task, target)
    derivative = np.zeros((*here.shape, state.model.nv))
    for k, moved in enumerate(np.diag(STEP * state.scale)):
        sides = [
            state.at(integrate(state.model, state.q, direction)).equations(task, target)
            for direction in (moved, -moved)
        ]
        forward, backward = (side if side.shape == here.shape else here for side in sides)
        steps = sum(side is not here for side in (forward, backward))
        derivative[..., k] = (forward - backward) / (max(steps, 1) * moved[k])
    return derivative
