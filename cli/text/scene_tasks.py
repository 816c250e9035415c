"""Tasks for the robot of a .blend: as everywhere on the command line, or with an object as their target."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..errors import UsageError
from .fields import Fields, parse_fields
from .tasks import build_task, check_task

if TYPE_CHECKING:
    import bpy

    from ...scene.tasks.ad_hoc import AdHocTask

# What an object stands for, and what is read there until it is known where the object is. Of a twist: the axes in which
# it is reported.
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
    "along_curve": ("curve", "0:0:0:0:0:1"),
    "twist": ("frame", "space"),
}
_ANY_PLANE = "0:0:0:0:0:1"  # of what falls on the XY plane of an object
_BESIDE = ("other", "about", "closed")  # what else would say of a target what its object says


def parse_scene_tasks(texts: Sequence[str], model: RobotModel) -> list[AdHocTask]:
    """In the open file, for its robot. Raises TaskError or UnknownNameError."""
    parsed = [parse_scene_task(text) for text in texts]
    for text, each in zip(texts, parsed, strict=True):
        check_task(text, each.task, model)
    return parsed


def ad_hoc_tasks(arguments: argparse.Namespace, model: RobotModel) -> tuple[list[AdHocTask], bool]:
    """The tasks of `add_scene_tasks`, and whether the file's own count beside them. Raises UsageError, or as
    `parse_scene_tasks`."""
    if arguments.only_given and not arguments.task:
        raise UsageError("--only-given: no --task is given")
    return parse_scene_tasks(arguments.task, model), not arguments.only_given


def parse_scene_task(text: str) -> AdHocTask:
    """Raises TaskError or UnknownNameError, naming the field or the object."""
    from ...scene.tasks.ad_hoc import AdHocTask

    fields = parse_fields(text, "task")
    is_on_place = "object" in fields and not {"surface", "surface_object"} & set(fields)
    surface = _surface(text, fields)
    place = _followed(text, fields)
    task = build_task(text, fields)
    influence = task.influence
    if influence != 1.0:
        task = build_task(text, {name: value for name, value in fields.items() if name != "influence"})
    return AdHocTask(task, influence, place, surface, is_on_place)


def _surface(text: str, fields: Fields) -> bpy.types.Object | None:
    """Takes the object that a laser falls on out, and puts something that it falls on in, or the spot of a beam."""
    from ..blender import find_object

    if "direction" in fields and "object" in fields:
        fields.setdefault("surface", _ANY_PLANE)
    if fields.get("kind") != "laser":
        return None
    name = fields.pop("surface_object", None)
    if name is not None and "surface" in fields:
        raise TaskError(f"task {text!r}: surface and surface_object both say what the beam falls on: give one")
    if name is not None or "object" in fields:
        fields.setdefault("surface", _ANY_PLANE)
    return None if name is None else find_object(name)


def _followed(text: str, fields: Fields) -> tuple[bpy.types.Object, str] | None:
    """Takes the fields of an object out, and puts what it stands for in."""
    from ..blender import find_object

    name, bone = fields.pop("object", None), fields.pop("bone", "")
    if name is None:
        if bone:
            raise TaskError(f"task {text!r}: bone is given without object, its armature")
        return None
    kind = fields.get("kind", "")
    if kind and kind not in _STANDS_FOR:
        raise TaskError(f"task {text!r}: object: no target of its kind can be one (of {', '.join(_STANDS_FOR)} it can)")
    field, value = _STANDS_FOR.get(kind, ("target", ""))
    for other in (field, *_BESIDE):
        if other in fields:
            raise TaskError(f"task {text!r}: object and {other} both say where the target is: give one")
    fields[field] = value
    owner = find_object(name)
    if bone and owner.type != "ARMATURE":
        raise TaskError(f"task {text!r}: bone: {name!r} is no armature")
    return owner, bone
