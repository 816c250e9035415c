"""The links of a task's bones, which keep their names when bones are renamed."""

from __future__ import annotations

import re
from collections.abc import Callable

import bpy

from ...robokin import RobokinError
from ...robokin.structure.short_names import short_names
from ..bridge import Binding, binding
from ..postures import free_name


def remember_link(name: str) -> Callable[[bpy.types.PropertyGroup, bpy.types.Context], None]:
    """The update of the field `name`, a bone: its link is kept beside it, in `name`_link."""

    def remember(task: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
        try:
            links = binding(task.id_data).link_of_bone
        except RobokinError:
            links = {}
        link = links.get(getattr(task, name), "")
        setattr(task, f"{name}_link", link)
        if name == "tip" and link:
            _rename(task, link, short_names(links.values()))

    return remember


def _rename(task: bpy.types.PropertyGroup, link: str, names: dict[str, str]) -> None:
    """A task that is called after a link is called after that of its tip. names: {link: its short name}."""
    called = re.sub(r"\.\d+$", "", task.name)
    if called in names.values() and called != names[link]:
        others = {other.name for other in task.id_data.robokin.tasks if other != task}
        task.name = free_name(names[link], others)


def follow_renamed_bones(obj: bpy.types.Object, robot: Binding) -> None:
    """Bones are renamed without telling; the link that moves with the bone keeps its name. Raises RobokinError."""
    bones, links = robot.bone_of_link, robot.link_of_bone
    for task in obj.robokin.tasks:
        for name in ("tip", "other"):
            bone, link = getattr(task, name), getattr(task, f"{name}_link")
            if bone and bone not in links and link in bones:
                setattr(task, name, bones[link])
