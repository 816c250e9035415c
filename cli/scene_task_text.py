"""Tasks for the robot of a .blend: as everywhere on the command line, or with an object as their target."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..robokin.errors import TaskError
from .errors import UsageError
from .field_text import Fields, parse_fields
from .task_text import GRAMMAR as TASKS
from .task_text import build_task

if TYPE_CHECKING:
    import bpy

    from ..operators.given_tasks import GivenTask

GRAMMAR = f"""\
{TASKS}
  With an object of the scene as target, which may move:
            ,object=NAME       in place of target (of a distance: of other_point). The target is its pose; its origin;
                               its Z axis (axis, line), XY plane (plane); a curve object (curve), the vertices of a
                               mesh (support)
            ,bone=NAME         of the armature object=NAME"""

# What an object stands for, and what is read there until it is known where the object is.
_STANDS_FOR = {
    "pose": ("target", "0:0:0:1:0:0:0"),
    "position": ("target", "0:0:0"),
    "orientation": ("target", "1:0:0:0"),
    "axis": ("target", "0:0:1"),
    "aim": ("target", "0:0:0"),
    "plane": ("target", "0:0:0:0:0:1"),
    "line": ("target", "0:0:0:0:0:1"),
    "curve": ("target", "0:0:0:0:0:1"),
    "distance": ("other_point", "0:0:0"),
    "laser": ("target", "0:0:0"),
    "center_of_mass": ("target", "0:0:0"),
    "support": ("target", "0:0:0:1:0:0:0:1:0"),
}


def parse_scene_tasks(arguments: argparse.Namespace) -> list[GivenTask]:
    """Those of `add_scene_tasks`, in the open file. Raises TaskError, UnknownNameError, UsageError."""
    if arguments.only_given and not arguments.task:
        raise UsageError("--only-given: no --task is given")
    return [parse_scene_task(text) for text in arguments.task]


def parse_scene_task(text: str) -> GivenTask:
    """Raises TaskError or UnknownNameError, naming the field or the object."""
    from ..operators.given_tasks import GivenTask

    fields = parse_fields(text, "task")
    place = _followed(text, fields)
    task = build_task(text, fields)
    if task.influence == 1.0:
        return GivenTask(task, 1.0, place)
    whole = {name: value for name, value in fields.items() if name != "influence"}
    return GivenTask(build_task(text, whole), task.influence, place)


def _followed(text: str, fields: Fields) -> tuple[bpy.types.Object, str] | None:
    """Takes the fields of an object out, and puts what it stands for in."""
    from .blender import find_object

    name, bone = fields.pop("object", None), fields.pop("bone", "")
    if name is None:
        if bone:
            raise TaskError(f"task {text!r}: bone is given without object, its armature")
        return None
    kind = fields.get("kind", "")
    if kind and kind not in _STANDS_FOR:
        raise TaskError(f"task {text!r}: object: no target of its kind can be one (of {', '.join(_STANDS_FOR)} it can)")
    field, value = _STANDS_FOR.get(kind, ("target", ""))
    for other in (field, "other"):
        if other in fields:
            raise TaskError(f"task {text!r}: object and {other} both say where the target is: give one")
    fields[field] = value
    owner = find_object(name)
    if bone and owner.type != "ARMATURE":
        raise TaskError(f"task {text!r}: bone: {name!r} is no armature")
    return owner, bone
