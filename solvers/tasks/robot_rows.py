"""Rows of tasks on the whole robot, in the form in which the kernel makes them (rk_robot_row in robokin_step.h).

A row says: lower <= what it is of <= upper at the end of a step. The kernel knows what that is at q and how it changes;
the same rows are those of the task's `rows`.
"""

from __future__ import annotations

import enum
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import RobotModel
from ...robokin.model.tree import Tree
from ..kinematics.state import State
from .task_jacobian import TaskJacobian

ONE = ((), (1,))  # shapes of one number


class RowKind(enum.IntEnum):
    """The values are those of `enum rk_row_kind` in the kernel."""

    CENTER = 0
    COORDINATE = 1
    SHIFT = 2
    TURN = 3
    RATE = 4
    RATES = 5


# weight: in units of the task.   residual: the index of the part.   is_first: of the first level, for criteria.   Else
# as in the kernel's header.
ROBOT_ROW = np.dtype(
    [
        *((name, np.int32) for name in ("kind", "column", "coordinate", "component", "residual", "is_first")),
        *((name, np.float64) for name in ("weight", "lower", "upper")),
        ("aim", np.float64, 4),
    ]
)


def center_rows(directions: Array, lower: Array, upper: Array, weight: Array) -> Array:
    """Rows of the centre of mass c, lower <= n . c <= upper [m] along directions n (m, 3) in the root frame."""
    rows = np.zeros(len(directions), ROBOT_ROW)
    rows["aim"][:, :3] = directions
    rows["lower"], rows["upper"], rows["weight"] = lower, upper, weight
    return rows


def coordinate_rows(model: RobotModel, wanted: Array, weight: Array, band: Array) -> Array:
    """Rows of the degrees of freedom whose weight (nv,) is positive, towards a configuration (nq,) up to band (nv,)."""
    used = weight > 0.0
    rows, band = _columns(model)[used], band[used]
    turns = rows["kind"] == RowKind.TURN
    value = np.where(turns, 0.0, wanted[rows["coordinate"] + rows["component"]])
    rows["lower"], rows["upper"], rows["weight"] = value - band, value + band, weight[used]
    if turns.any():
        rows["aim"][turns] = wanted[rows["coordinate"][turns, None] + np.arange(4)]
    return rows


def rate_rows(model: RobotModel, v: Array, weight: Array, band: Array) -> Array:
    """Rows of the velocities whose weight (nv,) is positive, v (nv,) up to band (nv,)."""
    used = weight > 0.0
    rows = np.zeros(int(used.sum()), ROBOT_ROW)
    rows["kind"], rows["column"], rows["residual"] = RowKind.RATE, used.nonzero()[0], model.is_length[used]
    rows["lower"], rows["upper"], rows["weight"] = (v - band)[used], (v + band)[used], weight[used]
    return rows


def sum_rows(c: Array, weight: Array, band: Array) -> Array:
    """Rows of sums of velocities A v (`Task.rates`) whose weight (m,) is positive, c (m,) up to band (m,)."""
    used = weight > 0.0
    rows = np.zeros(int(used.sum()), ROBOT_ROW)
    rows["kind"], rows["component"] = RowKind.RATES, used.nonzero()[0]
    rows["lower"], rows["upper"], rows["weight"] = (c - band)[used], (c + band)[used], weight[used]
    return rows


def task_jacobian_of(state: State, rows: Array, rates: Array) -> TaskJacobian:
    """What the equations among rows see, of a ball its angular velocity; only those of the centre of mass change.
    rates: (k, nv) that rows of kind RATES refer to."""
    rows = rows[rows["lower"] == rows["upper"]]
    center, sums = (rows["kind"] == kind for kind in (RowKind.CENTER, RowKind.RATES))
    column, plain = rows["column"] + rows["component"], ~(center | sums)
    J = np.zeros((len(rows), state.model.nv))
    J[plain, column[plain]] = 1.0 / state.scale[column[plain]]
    J[sums] = rates[rows["component"][sums]]
    if not center.any():
        return TaskJacobian(J, lambda: np.zeros((*J.shape, J.shape[1])))
    S = np.where(center[:, None], rows["aim"][:, :3], 0.0) / state.length
    return TaskJacobian(
        J + S @ state.center_of_mass_jacobian, lambda: np.tensordot(S, state.center_of_mass_derivative(), 1)
    )


def bits(rows: Array) -> Array:
    """(m, 10) the memory of records as numbers: they are copied so in a fifth of the time."""
    return rows.view(np.float64).reshape(len(rows), ROBOT_ROW.itemsize // 8)


def value_reader(
    model: RobotModel, rows: Array, target: Mapping[str, Array] | Array, whole: Callable[[Any], Array]
) -> Callable[[Any], Array]:
    """What reads the values (m,) of rows from targets that name the same joints as this one: by `whole`, or faster
    where each joint has one row and one number."""
    joint_of = [joint.name for joint in model.moving_joints for _ in range(joint.nv)]
    joints = [joint_of[column] for column in rows["column"].tolist()]
    if isinstance(target, np.ndarray) or sorted(joints) != sorted(target):
        return whole

    def read(other: Mapping[str, Array]) -> Array:
        values = [other[joint] for joint in joints]
        return np.array([value.item() for value in values]) if all(v.shape in ONE for v in values) else whole(other)

    return read


def sides_around(read: Callable[[Any], Array], band: Array) -> Callable[[Any], tuple[Array, Array]]:
    """The sides of rows at `band` (m,) from the values (m,) that are read from a target."""

    def sides(target: Any) -> tuple[Array, Array]:
        value = read(target)
        return value - band, value + band

    return sides


_of_trees: weakref.WeakKeyDictionary[Tree, Array] = weakref.WeakKeyDictionary()


def _columns(model: RobotModel) -> Array:
    """(nv,) the row of each degree of freedom, without its sides."""
    tree = model.tree
    rows = _of_trees.get(tree)
    if rows is None:
        rows = np.zeros(tree.nv, ROBOT_ROW)
        for motion, iq, iv in zip(
            map(MotionPrimitive, tree.motion.tolist()), tree.iq.tolist(), tree.iv.tolist(), strict=True
        ):
            if motion.has_axis:
                rows[iv] = (RowKind.COORDINATE, iv, iq, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
                continue
            lengths = motion.nv - 3
            for k in range(lengths):
                rows[iv + k] = (RowKind.SHIFT, iv, iq, k, 0, 0, 0.0, 0.0, 0.0, 0.0)
            for k in range(3):
                rows[iv + lengths + k] = (RowKind.TURN, iv + lengths, iq + lengths, k, 0, 0, 0.0, 0.0, 0.0, 0.0)
        rows["residual"] = model.is_length
        _of_trees[tree] = rows
    return rows
