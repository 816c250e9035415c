"""The feet of a robot that nothing holds."""

from __future__ import annotations

import bpy

from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.natural_root import feet
from ..bridge import Binding


def loose_feet(obj: bpy.types.Object, robot: Binding) -> tuple[str, ...]:
    """Bones of the feet of a floating robot with tasks, none of which is about a foot or the root: with them the whole
    robot moves. () otherwise."""
    model, tasks = robot.model, [task for task in obj.robokin.tasks if task.enabled]
    standing = feet(model) if model.root == "floating" and tasks else ()
    if not standing:
        return ()
    of = rigid_bodies(model).of
    about = {robot.link_of_bone.get(bone) for task in tasks for bone in (task.tip, task.other)} - {None}
    is_held = {of[link] for link in about} & {*standing, model.root_link.name}
    return () if is_held else tuple(robot.bone_of_link[link] for link in standing)
