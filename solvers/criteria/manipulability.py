"""Stay away from singular configurations."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...robokin.configuration import integrate
from ...robokin.so3 import hat
from ...robokin.tree import unpack_placement
from ..influence import partial
from ..state import State
from ..tasks import FrameTask, Task, TaskKind
from .base import CriterionKind, CriterionRecord, Potential

Array = np.ndarray

SINGULAR = 1e-6  # singular values count as at least this large, so that V and its gradient stay finite
STEP = 1e-5  # of central differences, in radians or L


class Manipulability(Potential):
    """V = -1/2 log det JJ' of the rows of the tasks of the first level: 1/L scaled, without free axes and weights.

    (Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4, 1985.) Robots with fewer degrees of freedom than rows
    have J'J in place of JJ'. Singular values s count as sqrt(s^2 + 1e-12). Without tasks V = 0.
    """

    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)

    def record(self, state: State) -> CriterionRecord | None:
        return record_of_rows(CriterionKind.MANIPULABILITY, self, state)

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_rows(state), compute_uv=False)
        return -0.5 * float(np.log(s**2 + SINGULAR**2).sum())

    def gradient(self, state: State) -> Array:
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        inverse = (U * (s / (s**2 + SINGULAR**2))) @ Vt
        return -np.einsum("rj,rjk->k", inverse, change)


def record_of_rows(kind: CriterionKind, criterion: Potential, state: State) -> CriterionRecord | None:
    """None when the kernel does not have the rows of all tasks of the first level."""
    counting = [task for task in state.tasks if task.influence]
    if not all(isinstance(task, FrameTask) and task.is_in_kernel for task in counting) or partial(counting):
        return None
    return CriterionRecord(kind, criterion.gain, criterion.metric(state))


def task_rows(state: State) -> Array:
    """J (m, nv), dimensionless, of the rows of the tasks, without their weights."""
    rows = [
        _FrameRows(state, task).J if isinstance(task, FrameTask) else state.equations(task, target)
        for task, target in _counting(state)
    ]
    return np.vstack([np.zeros((0, state.model.nv)), *rows])


def task_jacobian(state: State) -> tuple[Array, Array]:
    """`task_rows` and their derivative (m, nv, nv) [row, column, along v_k]."""
    nv = state.model.nv
    changes = [
        _FrameRows(state, task).change if isinstance(task, FrameTask) else _differences(state, task, target)
        for task, target in _counting(state)
    ]
    return task_rows(state), np.concatenate([np.zeros((0, nv, nv)), *changes])


def _counting(state: State) -> list[tuple[Task, Any]]:
    pairs = zip(state.tasks, state.targets, strict=True)
    return [(task, target) for task, target in pairs if task.influence]


def _differences(state: State, task: Task, target: object) -> Array:
    """The derivative of a task's equations, by central differences; one-sided where a side has other rows, as a beam
    that misses its mesh."""
    here = state.equations(task, target)
    change = np.zeros((*here.shape, state.model.nv))
    for k, moved in enumerate(np.diag(STEP * state.scale)):
        sides = [state.at(integrate(state.model, state.q, way)).equations(task, target) for way in (moved, -moved)]
        ahead, back = (side if side.shape == here.shape else here for side in sides)
        steps = sum(side is not here for side in (ahead, back))
        change[..., k] = (ahead - back) / (max(steps, 1) * moved[k])
    return change


class _FrameRows:
    """Rows of a task on one tip, by the degrees of freedom that move it."""

    def __init__(self, state: State, task: FrameTask) -> None:
        tree, columns = state.model.tree, state.columns
        frame = state.model.link_index(task.link)
        node = int(tree.frame_node[frame])
        T = unpack_placement(tree.frame_placement[frame]) @ task.offset
        if node >= 0:
            T = unpack_placement(columns.placements[node]) @ T
        self._columns, self._R, self._moving = columns, T[:3, :3], columns.moving(node)
        self._linear = columns.point_velocity(T[:3, 3])
        self._world = np.concatenate((self._linear, columns.angular), axis=1).T * self._moving
        self._is_turned = task.frame == "tip" or task.record_kind is TaskKind.AXIS
        self._S = _selection(task) / np.repeat((state.length, 1.0), 3)
        self._G = columns.G * state.scale

    @property
    def J(self) -> Array:
        """(s, nv)"""
        J = self._world
        if self._is_turned:
            J = np.concatenate((self._R.T @ J[:3], self._R.T @ J[3:]))
        return self._S @ J @ self._G

    @property
    def change(self) -> Array:
        """(s, nv, nv)"""
        columns, moving, R = self._columns, self._moving, self._R
        angular = columns.angular
        turned = np.cross(angular[None, :, :], angular[:, None, :])
        changes = (columns.change(self._linear), np.where(columns.above.T[:, :, None], turned, 0.0))
        both = moving[:, None] & moving
        change = np.where(both, np.moveaxis(np.concatenate(changes, axis=2), 2, 0), 0.0)
        if self._is_turned:
            # Rows in tip axes: the derivative of R'x along k is R'(dx - w_k x x).
            spin = hat(angular) * moving[:, None, None]
            for part in (slice(0, 3), slice(3, 6)):
                change[part] -= np.einsum("kab,bj->ajk", spin, self._world[part])
                change[part] = np.einsum("ba,bjk->ajk", R, change[part])
        return np.einsum("sr,rab->sab", self._S, self._G.T @ change @ columns.G)


def _selection(task: FrameTask) -> Array:
    """(s, 6) the rows that count: axes that are not free; of an axis task the two turns that tilt its axis."""
    if task.record_kind is TaskKind.AXIS:
        S = np.zeros((2, 6))
        S[:, 3:] = np.linalg.svd(task.axis[None])[2][1:]
        return S
    return np.eye(6)[task.weights != 0.0]
