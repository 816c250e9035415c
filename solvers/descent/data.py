"""What an inverse kinematics problem compiles to: the part of the tree that the tasks depend on, and packed tasks.

Both backends read it: the kernel through the arrays' addresses, the reference directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.model.rolling import RollingBase
from ...robokin.model.tree import Tree
from ...robokin.spatial.se3 import unpack
from ...robokin.spatial.swing_twist import Cone
from ..kinematics.support_tree import Support, chain_to, support_tree, with_ancestors
from ..tasks import FrameTask
from ..velocity.chain_length import certify, length_scale

MANY_TURNS = 3.0 * np.pi  # [rad] half range of an angle beyond which restarts do not go through all of its turns ...
NEAR_TURNS = 2.0 * np.pi  # ... but stay so near to the start, which is a whole turn also at a bound

# Field by field `struct rk_task` of kernel/include/robokin_ik.h.
TASK_RECORD = np.dtype(
    [
        ("kind", np.int32),
        ("tip_axes", np.int32),
        ("parts", np.int32),  # bit 0: position rows, bit 1: orientation rows
        ("exact", np.int32),  # bits as `parts`: that part needs its rows of A, the identity will not do
        ("weights", np.float64, 6),  # position rows already divided by the length scale
        ("used", np.float64, 6),  # 1 where the weight is not 0
        ("tolerance", np.float64, 2),
        ("axis", np.float64, 3),
        ("reach_centre", np.float64, 3),  # in the root frame
        ("reach", np.float64),  # of the tip from there; infinite: no certificate
        ("wrist", np.float64, 3),  # origin of the last node that turns, in tip axes
        ("wrist_reach", np.float64),  # of that origin; infinite: no certificate
    ],
    align=True,
)

# Field by field `struct rk_cone`.
CONE_RECORD = np.dtype(
    [
        ("q", np.int32),
        ("v", np.int32),
        ("basis", np.float64, (3, 3)),
        ("swing", np.float64, 2),
        ("twist", np.float64, 2),
    ],
    align=True,
)

# Field by field `struct rk_base`.
BASE_RECORD = np.dtype(
    [
        ("q", np.int32),
        ("v", np.int32),
        ("wheel_q", np.int32, 2),
        ("wheel_v", np.int32, 2),
        ("centre", np.float64, 2),
        ("forward", np.float64, 2),
        ("rolled", np.float64, 2),
        ("separation", np.float64),
    ],
    align=True,
)


class Certificate(NamedTuple):
    """How far a target may be, in plain numbers, which are fast. centre: (3,) in the root frame.
    used: (3,) bool, axes along which it counts.   wrist: (3,) in tip axes.   reach, wrist_reach: [m] of tip and
    wrist, with tolerances."""

    centre: list[float]
    used: list[bool]
    wrist: list[float]
    reach: float
    wrist_reach: float


@dataclass(frozen=True, eq=False)
class IKData:
    """The support tree and the packed tasks. n nodes, nq and nv coordinates and columns of the support.

    tree: the nodes that carry a task or an ancestor of one, as a tree of its own; its frame i is the tip of task i.
    With a wheeled base come its wheels.
    robot_lower, robot_upper: bounds on the model's q.   q_index: (nq,) where the support's coordinates lie in it.
    cones, bases: of the support's balls, and its wheeled bases; indices are those of the support.
    records: TASK_RECORD per task.   length: the scale L [m] that position errors are divided by.
    lower, upper: (nq,).   middle: (nq,) centre of restarts: mid-range, half a turn from an only bound of an angle.
    half_range: (nq,) of the restarts around their centre; 0 keeps the start's value; NaN: a quaternion. Angles
    of many turns stay near the start's.
    about_middle: (nq,) bool, restarts are centred on `middle` (else on the start's value).
    periodic: (nq,) bool, angles without bounds, of which whole turns do not matter.
    damping: (nv,) factor of each column's damping: 1 for angles, 1/L^2 for lengths.
    rolled_from: (nq,) the configuration from which the wheels move the bases, without slip; None: bases move freely.
    """

    tree: Tree
    robot_lower: Array
    robot_upper: Array
    q_index: Array
    cones: tuple[Cone, ...]
    bases: tuple[RollingBase, ...]
    records: Array
    length: float
    lower: Array
    upper: Array
    middle: Array
    half_range: Array
    about_middle: Array
    periodic: Array
    damping: Array
    rolled_from: Array | None = None

    @cached_property
    def coordinate(self) -> Array:
        """(nv,) int32: the coordinate that a column moves by plain addition, -1 for a rotation of a quaternion."""
        coordinate = np.full(self.tree.nv, -1, np.int32)
        for motion, iq, iv in zip(self.tree.motion, self.tree.iq, self.tree.iv, strict=True):
            plain = {MotionPrimitive.BALL: 0, MotionPrimitive.FREE: 3}.get(MotionPrimitive(motion), 1)
            coordinate[iv : iv + plain] = np.arange(iq, iq + plain)
        return coordinate

    @cached_property
    def certificates(self) -> list[Certificate]:
        """How far the target of each task may be."""
        records = self.records
        slack = records["tolerance"][:, 0] + 1e-9 * self.length
        turned = slack + records["tolerance"][:, 1] * np.linalg.norm(records["wrist"], axis=1)
        reach, wrist_reach = records["reach"] + slack, records["wrist_reach"] + turned
        columns = records["reach_centre"], records["used"][:, :3] > 0.0, records["wrist"], reach, wrist_reach
        return [Certificate(*own) for own in zip(*(column.tolist() for column in columns), strict=True)]

    @property
    def cone_records(self) -> Array:
        """(cones,) CONE_RECORD."""
        return cone_records(self.cones)

    @property
    def base_records(self) -> Array:
        """(bases,) BASE_RECORD."""
        records = np.zeros(len(self.bases), BASE_RECORD)
        for record, base in zip(records, self.bases, strict=True):
            for name in BASE_RECORD.names or ():
                record[name] = getattr(base, name)
        return records

    @cached_property
    def _columns_of_tasks(self) -> list[list[int]]:
        """Per task, the columns that move its tip, ascending."""
        columns = []
        for frame in range(self.tree.n_frames):
            own: set[int] = set()
            for node in chain_to(self.tree, frame)[0]:
                iv = int(self.tree.iv[node])
                own.update(range(iv, iv + MotionPrimitive(self.tree.motion[node]).nv))
            for base in self.bases:
                own.update(base.wheel_v if base.v in own else ())
            columns.append(sorted(own))
        return columns

    @property
    def task_start(self) -> Array:
        return _starts(self._columns_of_tasks)

    @property
    def task_columns(self) -> Array:
        return np.array([column for own in self._columns_of_tasks for column in own], np.int32)

    @cached_property
    def _coupled_columns(self) -> list[list[int]]:
        """Per column, the lower ones it is coupled to in H = J'J factored from the last column to the first."""
        coupled: list[set[int]] = [set() for _ in range(self.tree.nv)]
        for own in self._columns_of_tasks:
            for column in own:
                coupled[column].update(other for other in own if other < column)
        for column in reversed(range(self.tree.nv)):
            for other in coupled[column]:
                coupled[other].update(lower for lower in coupled[column] if lower < other)
        return [sorted(lower) for lower in coupled]

    @property
    def fill_start(self) -> Array:
        return _starts(self._coupled_columns)

    @property
    def fill(self) -> Array:
        return np.array([lower for own in self._coupled_columns for lower in own], np.int32)


def cone_records(cones: Sequence[Cone]) -> Array:
    """(cones,) CONE_RECORD."""
    records = np.zeros(len(cones), CONE_RECORD)
    for record, cone in zip(records, cones, strict=True):
        record["q"], record["v"], record["basis"] = cone.q, cone.v, cone.basis
        record["swing"], record["twist"] = (cone.a, cone.b), (cone.lower, cone.upper)
    return records


def _starts(lists: list[list[int]]) -> Array:
    """(len + 1,) where each list starts when they are put one behind the other."""
    return np.cumsum([0, *map(len, lists)]).astype(np.int32)


def compile_ik(model: RobotModel, tasks: Sequence[FrameTask], limits: PositionLimits) -> IKData:
    """Compile tasks of a model inside limits, which may be others than its own. Raises UnknownNameError for unknown
    links."""
    tree = model.tree
    frames = [model.link_index(task.link) for task in tasks]
    tip_nodes = [int(tree.frame_node[frame]) for frame in frames]
    links = [unpack(tree.frame_placement[frame]) for frame in frames]
    tips = [T @ task.offset for T, task in zip(links, tasks, strict=True)]
    support = support_tree(tree, tip_nodes, tips, limits.lower, limits.upper, model.rolling_bases)
    records = np.zeros(len(tasks), TASK_RECORD)
    for index, (record, task) in enumerate(zip(records, tasks, strict=True)):
        record["kind"] = task.record_kind
        record["used"] = task.weights != 0.0
        record["tolerance"] = task.position_tolerance, task.orientation_tolerance
        record["axis"] = task.axis
        for bit, weights in enumerate(np.split(task.weights, 2)):
            record["parts"] |= int(weights.any()) << bit
            equal = np.ptp(weights) == 0.0 and task.is_gradient_equal
            record["exact"] |= int(weights.any() and not equal) << bit
        record["tip_axes"] = task.frame == "tip"
        certify(record, task, index, support.tree)
    length = length_scale(support.tree, records)
    for record, task in zip(records, tasks, strict=True):
        record["weights"] = task.weights * np.repeat((1.0 / length, 1.0), 3)
    return _with_ranges(model, limits, support, records, length)


def compile_whole(model: RobotModel, limits: PositionLimits, used: Array, length: float) -> IKData:
    """The whole robot, without tips, for tasks in levels. used: (nq,) bool, the coordinates that restarts draw."""
    tree = replace(model.tree, lower=limits.lower, upper=limits.upper)
    support = Support(tree, np.arange(model.nq), model.rolling_bases)
    data = _with_ranges(model, limits, support, np.zeros(0, TASK_RECORD), length)
    no_tips = replace(tree, frame_node=np.zeros(0, np.int32), frame_placement=np.zeros((0, 12)))
    # Whole turns matter to tasks on joint values.
    periodic = np.zeros(model.nq, bool)
    return replace(data, tree=no_tips, half_range=np.where(used, data.half_range, 0.0), periodic=periodic)


def _with_ranges(model: RobotModel, limits: PositionLimits, support: Support, records: Array, length: float) -> IKData:
    """Where solves start and restart, and how columns are damped."""
    tree = support.tree
    lower, upper = tree.lower, tree.upper
    finite = np.isfinite(lower) & np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite, 0.5 * lower + 0.5 * upper, 0.0)
    middle = np.minimum(np.maximum(middle, lower), upper)
    half_range = np.where(finite, 0.5 * (upper - lower), 0.0)
    damping = np.where(model.is_length[robot_columns(model, support)], 1.0 / length**2, 1.0)
    about_middle = finite.copy()
    periodic = tree.turning & np.isinf(lower) & np.isinf(upper)
    moving = {int(tree.iq[node]) for node in with_ancestors(tree, tree.frame_node.tolist())}
    for node, motion in enumerate(map(MotionPrimitive, tree.motion)):
        iq = int(tree.iq[node])
        if motion in (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL) and not finite[iq]:
            half_range[iq] = np.pi
            if np.isfinite(lower[iq]) or np.isfinite(upper[iq]):  # the turn next to its one bound
                middle[iq] = lower[iq] + np.pi if np.isfinite(lower[iq]) else upper[iq] - np.pi
                about_middle[iq] = True
        if motion is MotionPrimitive.ROTATION and finite[iq] and half_range[iq] > MANY_TURNS:
            half_range[iq], about_middle[iq] = NEAR_TURNS, False
        if motion in (MotionPrimitive.BALL, MotionPrimitive.FREE):
            start = iq + motion.nq - 4
            middle[start : start + 4] = 1.0, 0.0, 0.0, 0.0
            half_range[start : start + 4] = np.nan
        if iq not in moving:  # wheels, which move no task but with their base
            half_range[iq] = 0.0
    cones = []
    for cone in limits.cones:
        where = support.at(cone.q, cone.v)
        if where is not None:
            cones.append(replace(cone, q=where[0], v=where[1]))
    return IKData(
        tree=tree,
        robot_lower=limits.lower,
        robot_upper=limits.upper,
        q_index=support.q_index,
        cones=tuple(cones),
        bases=support.bases,
        records=records,
        length=length,
        lower=lower,
        upper=upper,
        middle=middle,
        half_range=half_range,
        about_middle=about_middle,
        periodic=periodic,
        damping=damping,
    )


def robot_columns(model: RobotModel, support: Support | IKData) -> Array:
    """(nv of the support,) where its columns lie in the robot's v."""
    tree = support.tree
    first_v = {int(iq): int(iv) for iq, iv in zip(model.tree.iq, model.tree.iv, strict=True)}
    columns = np.zeros(tree.nv, np.int64)
    for iq, iv, motion in zip(tree.iq, tree.iv, tree.motion, strict=True):
        width = MotionPrimitive(motion).nv
        columns[iv : iv + width] = first_v[int(support.q_index[iq])] + np.arange(width)
    return columns
