"""A link of a robot in the scene, pulled by hand."""

from __future__ import annotations

from collections.abc import Collection

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration, to_blender
from ...properties.task_kinds import KINDS
from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array
from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.tool_links import tool_links
from ...solvers.posing.pull import Pull, hold
from ..animation.curves import refuse_driven
from ..tasks.root_frames import roots_from_world
from ..tasks.solver_tasks import enabled_tasks

_PLACES = ("POSITION", "PLANE", "LINE", "CURVE", "DISTANCE")  # kinds of tasks that leave the rotation of their tip


class LinkPull:
    """grip: (4, 4) in the world, Blender units, where the pull begins: at the point, with the link's axes.
    freedom: in how many ways the link can move while what is held stays."""

    def __init__(
        self,
        obj: bpy.types.Object,
        bone: str,
        point: Array | None = None,
        pinned: Collection[str] = (),
        is_self_motion: bool = False,
    ) -> None:
        """point: (3,) in the world that is pulled; the link's origin when None.   pinned: bones whose links stay.

        A base that could move stays, unless it is pulled itself or bones are pinned; and of a robot that follows its
        targets the tips that are not fixed to the link. In a self-motion all tips stay, without tasks the tools, and
        the link's rotation goes as it may. Raises RobokinError.
        """
        self._obj, self._robot = obj, binding(obj)
        robot, self.start = self._robot, read_configuration(obj, self._robot)
        if bone not in robot.link_of_bone:
            raise RobokinError(f"bone {bone!r} is no link of the robot")
        refuse_driven(obj, robot)
        model, link = robot.model_at(self.start), robot.link_of_bone[bone]
        own = {robot.link_of_bone[name] for name in pinned if name in robot.link_of_bone} - {link}
        anchors = dict.fromkeys(sorted(own), True)
        if not own:
            anchors |= dict.fromkeys(base_hold(model, link), True)
        tips = _task_tips(obj, robot)
        if is_self_motion:
            anchors |= tips or dict.fromkeys(tool_links(model)[:1], True)
        elif obj.robokin.live:
            body = rigid_bodies(model).of
            anchors |= {tip: rotation for tip, rotation in tips.items() if body[tip] != body[link]}
        tasks = [hold(model, self.start, name, rotation) for name, rotation in anchors.items()]
        self.anchors = tuple(anchors)
        at = (
            None
            if point is None
            else _into_root(obj, robot, np.block([[np.eye(3), point[:, None]], [0, 0, 0, 1]]))[:3, 3]
        )
        self._pull = Pull(model, self.start, link, at, tasks, rotation=not is_self_motion)
        self.freedom = self._pull.freedom
        self.grip = self._in_world(self._pull.grip)

    def to(self, T_world: Array) -> Array:
        """(nq,) the pose that brings the grip to (4, 4) in the world, or as near as can be."""
        return self._pull.to(_into_root(self._obj, self._robot, T_world))

    @property
    def moved(self) -> Array:
        """(3,) in the world, Blender units, by how much the last pose has moved the grip."""
        return self._in_world(self._pull.now)[:3, 3] - self.grip[:3, 3]

    def _in_world(self, T: Array) -> Array:
        return np.array(to_blender(self._obj, T, None, self._robot))

    @property
    def is_met(self) -> bool:
        """Whether the last pose does all that was asked."""
        return self._pull.is_met


def base_hold(model: RobotModel, link: str) -> tuple[str, ...]:
    """The root link, where it could move and the one that is pulled is not fixed to it."""
    root = model.root_link.name
    return () if model.root == "fixed" or rigid_bodies(model).of[link] == root else (root,)


def _into_root(obj: bpy.types.Object, robot: Binding, T_world: Array) -> Array:
    world = np.array(obj.matrix_world, float)
    return roots_from_world(obj, world[None], np.asarray(T_world, float)[None], "pull", robot)[0]


def _task_tips(obj: bpy.types.Object, robot: Binding) -> dict[str, bool]:
    """{link: whether its rotation counts} of the tips that the robot's tasks are about."""
    tips: dict[str, bool] = {}
    for task in enabled_tasks(obj, robot):
        link = robot.link_of_bone.get(robot.own_bone(task.tip)) if KINDS[task.kind].tip else None
        if link is not None and not KINDS[task.kind].is_velocity and task.kind != "JOINT":
            tips[link] = tips.get(link, False) or task.kind not in _PLACES
    return tips
