"""What the methods ask of a robot: where its tip is, the tip's Jacobian, and the ends of its joints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...robokin import RobotModel, TaskError, forward_kinematics, frame_jacobian
from ...robokin.arrays import Array
from ...robokin.model.robot import solvable_model
from ...robokin.spatial import se3

UNKNOWN = {
    "spherical": "a ball turns by a quaternion",
    "floating": "a floating joint turns by a quaternion",
    "wheeled": "a wheeled base rolls",
}


@dataclass(frozen=True, eq=False)
class ArmTip:
    """A robot whose coordinates are angles and lengths.

    link: that carries the tip.   offset: (4, 4) T_link_tip.   method: its name, for errors.
    Raises TaskError naming the joint of another kind, UnknownNameError for a wrong link.
    """

    model: RobotModel
    link: str
    offset: Array
    method: str

    def __post_init__(self) -> None:
        solvable_model(self.model).link_index(self.link)
        for joint in self.model.moving_joints:
            if joint.type in UNKNOWN:
                raise TaskError(
                    f"joint {joint.name!r}: {UNKNOWN[joint.type]}, and {self.method} knows angles and lengths only, "
                    "as the other methods of the papers do: solve_ik knows every joint"
                )

    @cached_property
    def lower(self) -> Array:
        """(nq,)"""
        return self.model.limits.lower

    @cached_property
    def upper(self) -> Array:
        """(nq,)"""
        return self.model.limits.upper

    def pose(self, q: Array) -> Array:
        """(4, 4) T_root_tip."""
        return forward_kinematics(self.model, q)[self.link] @ self.offset

    def jacobian(self, q: Array) -> Array:
        """(6, nv) velocity of the tip's origin and angular velocity, in root axes."""
        J = frame_jacobian(self.model, q, self.link, reference="local_world_aligned").copy()
        if self.offset[:3, 3].any():
            r = self.pose(q)[:3, 3] - forward_kinematics(self.model, q)[self.link][:3, 3]
            J[:3] += np.cross(J[3:].T, r).T
        return J

    def body_jacobian(self, q: Array) -> Array:
        """(6, nv) the twist of the tip in its own axes."""
        R = self.pose(q)[:3, :3]
        J = self.jacobian(q)
        return np.vstack((R.T @ J[:3], R.T @ J[3:]))

    def error(self, q: Array, T_target: Array) -> Array:
        """(6,) from the tip to its target: place, and rotation as a vector, in root axes."""
        T = self.pose(q)
        turn = T[:3, :3] @ se3.log(se3.inverse(T) @ T_target)[3:]
        return np.concatenate((T_target[:3, 3] - T[:3, 3], turn))

    def clamped(self, q: Array) -> Array:
        """(nq,) with every coordinate inside its limits."""
        return np.clip(q, self.lower, self.upper)
