"""One axis of a joint in the scene, turned or slid by hand."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration, world_from_root
from ...robokin import Joint, RobokinError, clamp, forward_kinematics
from ...robokin.arrays import Array
from ...robokin.spatial import quaternion
from ..animation.curves import refuse_driven


def moving_joint(robot: Binding, bone: str) -> Joint:
    """The nearest joint that moves by itself, above a bone or its own; for one that follows another, that one. Raises
    RobokinError."""
    above = {joint.child: joint for joint in robot.model.joints}
    link = robot.link_of_bone.get(robot.own_bone(bone))
    joint = None if link is None else above[link]
    while joint is not None and not joint.nq:
        joint = above.get(str(joint.parent))
    if joint is None:
        raise RobokinError(f"no joint moves bone {bone!r}")
    at = robot.model.slot(joint.name).q.start
    return next(each for each in robot.model.moving_joints if robot.model.slot(each.name).q.start == at)


def scalar_coordinates(robot: Binding, joint: Joint) -> list[int]:
    """Indices in q of a joint's angles and lengths; none of what a quaternion says."""
    at = robot.model.slot(joint.name).q
    return list(range(at.start, at.stop - (4 if joint.nq != joint.nv else 0)))


_LITTLE, _VISIBLE = (
    0.01,
    1e-3,
)  # a step of a joint [rad or m], and by what share of it a point moves that is off its axis


def _points_of(obj: bpy.types.Object, bone: str) -> list[Array]:
    """(3,) in the world, of places that move with a bone: where the bones below it begin, and its own end."""
    pose = obj.pose.bones[bone]
    return [np.array(obj.matrix_world @ at) for at in (*(below.head for below in pose.children_recursive), pose.tail)]


class JointTurn:
    """One axis of a joint. joint: which.   index: in q; of a ball, of its quaternion.   axis, axes: which of its axes
    this is, of how many.   is_length: it slides.   value: of its coordinate; of a ball, by how much it has turned about
    an axis of its own.   is_locked: it has a padlock.
    lower, upper: its limits, infinite where it has none; a ball stays in its cone."""

    def __init__(self, obj: bpy.types.Object, bone: str, axis: int = 0, point: Array | None = None) -> None:
        """point: (3,) in the world, of the link that is taken hold of. Raises RobokinError naming the joint."""
        robot = binding(obj)
        self.start = read_configuration(obj, robot)
        self.joint = moving_joint(robot, bone)
        self.is_locked = self.joint.name in robot.locked
        own = scalar_coordinates(robot, self.joint)
        self.is_ball = not own
        self.axes = len(own) or 3
        self.axis = axis % self.axes
        refuse_driven(obj, robot, robot.model.slot(self.joint.name).q)
        self._model, self._q = robot.model, self.start.copy()
        self.is_length = self.joint.kind.lengths[self.axis]
        if self.is_ball:
            self.index = robot.model.slot(self.joint.name).q.start
            self._about = robot.model.limits.ball_axes(self.index)[:, self.axis]
            self.value, self.lower, self.upper = 0.0, -np.inf, np.inf
        else:
            self.index = own[self.axis]
            self.value = float(self._q[self.index])
            self.lower, self.upper = (float(x[self.index]) for x in (robot.model.lower, robot.model.upper))
        self._link = robot.link_of_bone.get(robot.own_bone(bone), self.joint.child)
        self._world = world_from_root(obj, None, robot)
        self._unit = robot.metres_per_unit
        start = self.value
        for each in _points_of(obj, bone) if point is None else (point,):
            self._hold(each)
            moved = self.point_at(start + _LITTLE) - each
            self._put(start)
            if np.linalg.norm(moved) > _VISIBLE * _LITTLE:
                break

    def point_at(self, value: float) -> Array:
        """(3,) in the world, Blender units, of what was taken hold of, at a value [rad or m]."""
        self._put(value)
        return (self._world @ (self._frame() @ self._offset))[:3] / self._unit

    def to(self, value: float) -> Array:
        """(nq,) with the value, moved inside the limits."""
        self._put(min(max(value, self.lower), self.upper))
        return clamp(self._model, self._q) if self.is_ball else self._q.copy()

    def refuse_locked(self) -> None:
        """Raises RobokinError."""
        if self.is_locked:
            raise RobokinError(f"joint {self.joint.name!r} is locked: open its padlock in Joint Values to move it")

    def _put(self, value: float) -> None:
        self.value, at = value, self.index
        if self.is_ball:
            self._q[at : at + 4] = quaternion.multiply(self.start[at : at + 4], quaternion.exp(value * self._about))
        else:
            self._q[at] = value

    def _hold(self, point: Array) -> None:
        self._offset = np.linalg.solve(self._world @ self._frame(), np.append(point * self._unit, 1.0))

    def _frame(self) -> Array:
        return forward_kinematics(self._model, self._q)[self._link]
