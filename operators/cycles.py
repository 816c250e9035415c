"""Targets that hang on the pose of the robot they are to steer: such a solve would chase itself."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ..robokin import RobokinError

# (object, what of it counts): "" its transform, "pose" any of its bones, "shape" its deformed geometry
Source = tuple[bpy.types.Object, str]

_BY_SHAPE = ("VERTEX", "VERTEX_3")


def refuse_cycles(robot: bpy.types.Object, target: bpy.types.Object, task: str) -> None:
    """Raise RobokinError when where `target` is depends on the pose of `robot`, however indirectly."""
    seen: set[Source] = set()
    waiting: list[Source] = [(target, "")]
    while waiting:
        source = waiting.pop()
        if source in seen:
            continue
        seen.add(source)
        if source == (robot, "pose"):
            raise RobokinError(
                f"task {task!r}: its target {target.name!r} follows a bone of {robot.name!r} itself, a cycle; "
                "parent it to the robot object or to the world instead"
            )
        waiting.extend(_sources(*source))


def _sources(obj: bpy.types.Object, what: str) -> Iterator[Source]:
    """What `what` of `obj` is computed from."""
    if obj.parent is not None:
        yield obj.parent, _parent_part(obj)
    yield from _constraint_sources(obj.constraints)
    yield from _driver_sources(obj)
    if what == "pose" and obj.pose is not None:
        yield obj, ""
        for bone in obj.pose.bones:
            yield from _constraint_sources(bone.constraints)
    if what == "shape":
        yield obj, ""
        for modifier in obj.modifiers:
            other = getattr(modifier, "object", None)
            if other is not None:
                yield other, "pose" if modifier.type == "ARMATURE" else "shape"


def _parent_part(obj: bpy.types.Object) -> str:
    if obj.parent_type == "BONE" or (obj.parent.type == "ARMATURE" and obj.parent_type == "ARMATURE"):
        return "pose"
    return "shape" if obj.parent_type in _BY_SHAPE else ""


def _constraint_sources(constraints: bpy.types.bpy_prop_collection) -> Iterator[Source]:
    for constraint in constraints:
        if constraint.mute:
            continue
        holders = [constraint, *getattr(constraint, "targets", ())]
        for holder in holders:
            other = getattr(holder, "target", None)
            if other is None:
                continue
            if getattr(holder, "subtarget", ""):
                yield other, "pose" if other.type == "ARMATURE" else "shape"
            else:
                yield other, "shape" if constraint.type == "SHRINKWRAP" else ""
        pole = getattr(constraint, "pole_target", None)
        if pole is not None:
            yield pole, "pose" if constraint.pole_subtarget else ""


def _driver_sources(obj: bpy.types.Object) -> Iterator[Source]:
    if obj.animation_data is None:
        return
    for curve in obj.animation_data.drivers:
        if curve.data_path.startswith("pose."):
            continue  # drives the pose of `obj`, not where it is
        for variable in curve.driver.variables:
            for target in variable.targets:
                if isinstance(target.id, bpy.types.Object):
                    reads_pose = target.bone_target if variable.type != "SINGLE_PROP" else "pose." in target.data_path
                    yield target.id, "pose" if reads_pose else ""
