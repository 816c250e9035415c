"""The links of a task's bones, which keep their names when bones are renamed."""

from __future__ import annotations

from collections.abc import Callable

import bpy

from ...robokin import RobokinError
from ..bridge import Binding, binding


def remember_link(name: str) -> Callable[[bpy.types.PropertyGroup, bpy.types.Context], None]:
    """The update of the field `name`, a bone: its link is kept beside it, in `name`_link."""

    def remember(task: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
        try:
            setattr(task, f"{name}_link", binding(task.id_data).link_of_bone.get(getattr(task, name), ""))
        except RobokinError:
            setattr(task, f"{name}_link", "")

    return remember


def follow_renamed_bones(obj: bpy.types.Object, robot: Binding) -> None:
    """Bones are renamed without telling; the link that moves with the bone keeps its name. Raises RobokinError."""
    bones, links = robot.bone_of_link, robot.link_of_bone
    for task in obj.robokin.tasks:
        for name in ("tip", "other"):
            bone, link = getattr(task, name), getattr(task, f"{name}_link")
            if bone and bone not in links and link in bones:
                setattr(task, name, bones[link])
