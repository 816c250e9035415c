"""The feet of a robot that nothing holds."""

from __future__ import annotations

import bpy

from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.natural_root import feet
from ..bridge import Binding
from ..task_kinds import KINDS


def loose_feet(obj: bpy.types.Object, robot: Binding) -> tuple[str, ...]:
    """Bones of the feet of a floating robot that targets lead, while no task is about where a foot or the root is: with
    them the whole robot moves. () otherwise."""
    model, tasks = robot.model, [task for task in obj.robokin.tasks if task.enabled and task.influence > 0.0]
    is_led = any(KINDS[task.kind].target for task in tasks)
    standing = feet(model) if model.root == "floating" and is_led else ()
    if not standing:
        return ()
    of = rigid_bodies(model).of
    placing = [task for task in tasks if KINDS[task.kind].tip == "Tip"]  # not the value of a joint
    about = {robot.link_of_bone.get(bone) for task in placing for bone in (task.tip, task.other)} - {None}
    is_held = {of[link] for link in about} & {*standing, model.root_link.name}
    return () if is_held else tuple(robot.bone_of_link[link] for link in standing)
