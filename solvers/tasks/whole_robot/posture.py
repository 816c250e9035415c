"""Joint values: of all joints, of some, of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from ....robokin.arrays import Array, shown
from ....robokin.errors import TaskError
from ....robokin.model.joint_types import MotionPrimitive
from ....robokin.model.robot import RobotModel
from ....robokin.spatial import quaternion, so3
from ...fixed_arrays import cached_settings, fixed
from ...kinematics.state import State
from ..base import Forms, Part, Rows
from ..checks import is_mapping, not_negative, numbers, own_name, per_axis, positive
from ..protocols import KernelRobotTask
from ..robot_rows import RowKind, coordinate_rows, sides_around, value_reader

NARROW = 1e-4  # [rad, m] tolerances


class PostureTask(KernelRobotTask):
    """Joints take values. Parts: angle [rad], length [m].

    target: {joint name: value, a list for several coordinates}, or (nq,) of all joints.
    weights: {joint name: weight} in place of 1; 0 leaves a joint free.   band: errors that do not count, one number
    for both or (angle [rad], length [m]).
    e = q_d - q; for the rotation of a ball or floating joint log(R' R_d), in the child frame.
    Raises UnknownNameError, ConfigurationError when it is first used.
    """

    kind: ClassVar[str] = "posture"
    forms: ClassVar[Forms] = {"target": "joints", "weights": "joints", "band": "pair"}

    @cached_settings
    def __init__(
        self,
        target: object,
        weights: Mapping[str, float] | None = None,
        angle_tolerance: float = 1e-5,
        length_tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        super().__init__(own_name(name, type(self).__name__), priority, influence)
        if not (weights is None or isinstance(weights, Mapping)):
            raise TaskError(f"{self.name}: weights must be {{joint name: weight}}, not {shown(weights)}")
        self.weights = {
            joint: not_negative(weight, f"{self.name}: weight of {joint!r}")
            for joint, weight in (weights or {}).items()
        }
        self.band = per_axis(band, f"{self.name}: band", 2)
        self.parts = (
            Part("angle", "rad", positive(angle_tolerance, f"{self.name}: angle tolerance")),
            Part("length", "m", positive(length_tolerance, f"{self.name}: length tolerance")),
        )
        self._set_target(target)

    def checked_target(self, target: object) -> Mapping[str, Array] | Array:
        if not is_mapping(target):
            return numbers(target, f"{self.name}: target")
        if not target:
            raise TaskError(f"{self.name}: the target names no joint")
        return fixed({joint: numbers(value, f"{self.name}: value of {joint!r}") for joint, value in target.items()})

    def rows(self, state: State, target: Mapping[str, Array] | Array) -> Rows:
        wanted, weight = self.wanted(state.model, target)
        e, J = difference_rows(state.model, state.q, wanted)
        part = state.is_length.astype(int)
        return Rows.wanted(J, e, weight, part, self.band[part])

    def robot_rows(self, model: RobotModel, target: Mapping[str, Array] | Array) -> Array:
        return coordinate_rows(model, *self.wanted(model, target), self.band[model.is_length.astype(int)])

    def sides(
        self, model: RobotModel, rows: Array, target: Mapping[str, Array] | Array
    ) -> Callable[[Any], tuple[Array, Array]] | None:
        if (rows["kind"] == RowKind.TURN).any():
            return None
        at = rows["coordinate"] + rows["component"]
        read = value_reader(model, rows, target, lambda other: _configuration(model, other)[at])
        return sides_around(read, self.band[rows["residual"]])

    def wanted(self, model: RobotModel, target: Mapping[str, Array] | Array) -> tuple[Array, Array]:
        """(nq,) and the weight (nv,) of each degree of freedom."""
        names = [joint.name for joint in model.moving_joints] if isinstance(target, np.ndarray) else list(target)
        weight = np.zeros(model.nv)
        for joint in names:
            weight[model.slot(joint).v] = self.weights.get(joint, 1.0) * self.influence
        return _configuration(model, target), weight

    @property
    def is_narrow(self) -> bool:
        """Whether values that meet it are as good as one."""
        return not self.band.any() and all(part.tolerance <= NARROW for part in self.parts)

    def prescribed(self, model: RobotModel, q: Array, target: dict[str, Array] | Array) -> Array:
        """(nq,) q with the joint values of the target."""
        wanted, there = _configuration(model, target), q.copy()
        for joint in model.moving_joints:
            at = model.slot(joint.name).q
            if (isinstance(target, np.ndarray) or joint.name in target) and self.weights.get(joint.name, 1.0):
                there[at] = wanted[at]
        return there

    def check(self, model: RobotModel) -> None:
        for joint in self.weights:
            model.joint(joint)
        _configuration(model, self.target)


class JointTask(PostureTask):
    """One joint takes a value. Parts and errors: see `PostureTask`.

    target: its value, a list for several coordinates [rad, m].   weight: of its rows.
    """

    kind: ClassVar[str] = "joint"
    forms: ClassVar[Forms] = {"target": "joint value", "band": "number"}

    @cached_settings
    def __init__(
        self,
        joint: str,
        target: object,
        weight: float = 1.0,
        tolerance: float = 1e-5,
        band: object = 0.0,
        name: str = "",
        priority: int = 1,
        influence: float = 1.0,
    ) -> None:
        if not isinstance(joint, str):
            raise TaskError(f"a task's joint must be the name of a joint, not {shown(joint)}")
        self.joint = joint
        own = own_name(name, f"{type(self).__name__} of {joint}")
        weights = {joint: positive(weight, f"{own}: weight")}
        super().__init__(target, weights, tolerance, tolerance, band, own, priority, influence)
        self._set_target(target)

    def checked_target(self, target: object) -> Mapping[str, Array] | Array:
        return super().checked_target(target if is_mapping(target) else {self.joint: target})


def _configuration(model: RobotModel, target: Mapping[str, Array] | Array) -> Array:
    """(nq,) with the named joints' values, neutral else. Raises UnknownNameError, ConfigurationError."""
    if isinstance(target, np.ndarray):
        return model.check_configuration(target)
    for joint in target:
        if not model.joint(joint).nq:
            raise TaskError(f"joint {joint!r} does not move: no value can be asked of it")
    return model.configuration({joint: value.tolist() for joint, value in target.items()})


def difference_rows(model: RobotModel, q: Array, wanted: Array) -> tuple[Array, Array]:
    """e (..., nv) from q to wanted configurations (..., nq), and J (..., nv, nv) with d(e)/dt = -J v."""
    lead, tree = q.shape[:-1], model.tree
    e, J = np.zeros((*lead, model.nv)), np.zeros((*lead, model.nv, model.nv))
    J[...] = np.eye(model.nv)
    plain = tree.motion <= MotionPrimitive.HELICAL
    e[..., tree.iv[plain]] = wanted[..., tree.iq[plain]] - q[..., tree.iq[plain]]
    for node in np.flatnonzero(~plain):
        motion, iq, iv = MotionPrimitive(tree.motion[node]), int(tree.iq[node]), int(tree.iv[node])
        lengths = motion.nv - 3
        at = slice(iq + lengths, iq + motion.nq)
        turn = quaternion.log(quaternion.multiply(quaternion.conjugate(q[..., at]), wanted[..., at]))
        rows = slice(iv + lengths, iv + motion.nv)
        e[..., rows] = turn
        J[..., rows, rows] = so3.left_jacobian_inverse(turn)
        if lengths:
            shift = slice(iv, iv + 3)
            e[..., shift] = wanted[..., iq : iq + 3] - q[..., iq : iq + 3]
            J[..., shift, shift] = quaternion.to_matrix(q[..., at])
    return e, J
