"""Stay away from singular configurations."""

from __future__ import annotations

from typing import ClassVar

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
STRUCTURAL = 1e-9  # relative to the largest: below, the robot can never move that way


class Manipulability(Potential):
    """V = -1/2 log det JJ' of the rows of the tasks of the first level: 1/L scaled, without free axes and weights.

    (Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4, 1985.) Robots with fewer degrees of freedom than rows
    have J'J in place of JJ'. Singular values s count as sqrt(s^2 + 1e-12). Without tasks V = 0.
    """

    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)

    def record(self, state: State) -> CriterionRecord | None:
        return _record(CriterionKind.MANIPULABILITY, self, state)

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_jacobian(state)[0], compute_uv=False)
        return -0.5 * float(np.log(s**2 + SINGULAR**2).sum())

    def gradient(self, state: State) -> Array:
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        inverse = (U * (s / (s**2 + SINGULAR**2))) @ Vt
        return -np.einsum("rj,rjk->k", inverse, change)


class SmallestSingularValue(Potential):
    """V = -the smallest singular value of the rows of `Manipulability`, those left out that are always 0.

    Not smooth where the two smallest are equal.
    """

    is_smooth: ClassVar[bool] = False

    def __init__(self, weight: float = 1.0, gain: float = 1.0, name: str = "") -> None:
        super().__init__(weight, gain, name)

    def record(self, state: State) -> CriterionRecord | None:
        return _record(CriterionKind.SMALLEST_SINGULAR_VALUE, self, state)

    def potential(self, state: State) -> float:
        s = np.linalg.svd(task_jacobian(state)[0], compute_uv=False)
        return -float(s[_smallest(s)]) if len(s) else 0.0

    def gradient(self, state: State) -> Array:
        J, change = task_jacobian(state)
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        if not len(s):
            return np.zeros(state.model.nv)
        at = _smallest(s)
        return -np.einsum("r,rjk,j->k", U[:, at], change, Vt[at])


def _record(kind: CriterionKind, criterion: Potential, state: State) -> CriterionRecord | None:
    """None when the kernel does not have the rows of all tasks of the first level."""
    counting = [task for task in state.tasks if task.influence]
    if not all(isinstance(task, FrameTask) and task.is_in_kernel for task in counting) or partial(counting):
        return None
    return CriterionRecord(kind, criterion.gain, criterion.metric(state))


def _smallest(s: Array) -> int:
    return max(int((s > STRUCTURAL * s[0]).sum()) - 1, 0)


def task_jacobian(state: State) -> tuple[Array, Array]:
    """J (m, nv), dimensionless, of the rows of the tasks, and its derivative (m, nv, nv) [row, column, along v_k]."""
    nv = state.model.nv
    blocks = [
        _frame_rows(state, task) if isinstance(task, FrameTask) else _other_rows(state, task, target)
        for task, target in zip(state.tasks, state.targets, strict=True)
        if task.influence
    ]
    if not blocks:
        return np.zeros((0, nv)), np.zeros((0, nv, nv))
    return np.vstack([J for J, _ in blocks]), np.vstack([change for _, change in blocks])


def _other_rows(state: State, task: Task, target: object) -> tuple[Array, Array]:
    """Its equations, without their weights; the derivative by central differences."""
    J = state.equations(task, target)
    change = np.zeros((*J.shape, state.model.nv))
    for k, moved in enumerate(np.diag(STEP * state.scale)):
        ahead, back = (state.at(integrate(state.model, state.q, sign * moved)) for sign in (1.0, -1.0))
        change[..., k] = (ahead.equations(task, target) - back.equations(task, target)) / (2.0 * moved[k])
    return J, change


def _frame_rows(state: State, task: FrameTask) -> tuple[Array, Array]:
    tree, columns = state.model.tree, state.columns
    frame = state.model.link_index(task.link)
    node = int(tree.frame_node[frame])
    T = unpack_placement(tree.frame_placement[frame]) @ task.offset
    if node >= 0:
        T = unpack_placement(columns.placements[node]) @ T
    moving = columns.moving(node)
    both = moving[:, None] & moving
    linear, angular = columns.point_velocity(T[:3, 3]), columns.angular
    turned = np.cross(angular[None, :, :], angular[:, None, :])
    changes = (columns.change(linear), np.where(columns.above.T[:, :, None], turned, 0.0))
    J = np.concatenate((linear, angular), axis=1).T * moving
    change = np.where(both, np.moveaxis(np.concatenate(changes, axis=2), 2, 0), 0.0)
    if task.frame == "tip" or task.record_kind is TaskKind.AXIS:
        # Rows in tip axes: the derivative of R'x along k is R'(dx - w_k x x).
        spin = hat(angular) * moving[:, None, None]
        for part in (slice(0, 3), slice(3, 6)):
            change[part] -= np.einsum("kab,bj->ajk", spin, J[part])
            J[part] = T[:3, :3].T @ J[part]
            change[part] = np.einsum("ba,bjk->ajk", T[:3, :3], change[part])
    S = _selection(task) / np.repeat((state.length, 1.0), 3)
    G = columns.G * state.scale
    return S @ J @ G, np.einsum("sr,rab->sab", S, G.T @ change @ columns.G)


def _selection(task: FrameTask) -> Array:
    """(s, 6) the rows that count: axes that are not free; of an axis task the two turns that tilt its axis."""
    if task.record_kind is TaskKind.AXIS:
        S = np.zeros((2, 6))
        S[:, 3:] = np.linalg.svd(task.axis[None])[2][1:]
        return S
    return np.eye(6)[task.weights != 0.0]
