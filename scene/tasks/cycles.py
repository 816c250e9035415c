"""Targets that hang on the pose of the robot they are to steer: such a solve would chase itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy

from ...properties.bridge import binding
from ...robokin import RobokinError

# (object, what of it counts): "" its transform, "pose" any of its bones, "bone NAME" one of them, "shape" its deformed
# geometry
Source = tuple[bpy.types.Object, str]

_BONE = "bone "
_BY_SHAPE = ("VERTEX", "VERTEX_3")


def refuse_cycles(robot: bpy.types.Object, target: bpy.types.Object, task: str, what: str = "") -> None:
    """Raise RobokinError when where `target` is depends on the pose of `robot`, however indirectly.

    what: "shape", when its geometry counts too.
    """
    seen: set[Source] = set()
    waiting: list[Source] = [(target, what)]
    while waiting:
        source = waiting.pop()
        if source in seen:
            continue
        seen.add(source)
        if source[0] == robot and _moves_with_joints(robot, source[1]):
            raise RobokinError(
                f"task {task!r}: its target {target.name!r} follows a bone of {robot.name!r} itself, a cycle; "
                "parent it to the robot object or to the world instead"
            )
        waiting.extend(_sources(*source))


def _moves_with_joints(robot: bpy.types.Object, what: str) -> bool:
    """Whether the robot's joints move it. A bone that is no joint, nor hangs on one that moves, steers from outside."""
    bone = robot.data.bones.get(what.removeprefix(_BONE)) if what.startswith(_BONE) else None
    if bone is None:
        return what == "pose" or what.startswith(_BONE)
    moving = {name for name, joint in binding(robot).joint_of_bone.items() if joint.nv}
    return any(b.name in moving for b in (bone, *bone.parent_recursive))


def _sources(obj: bpy.types.Object, what: str) -> Iterator[Source]:
    """What `what` of `obj` is computed from."""
    if obj.parent is not None:
        yield obj.parent, _parent_part(obj)
    yield from _constraint_sources(obj.constraints)
    yield from _driver_sources(obj)
    if (what == "pose" or what.startswith(_BONE)) and obj.pose is not None:
        yield obj, ""
        for bone in _bones_that_count(obj, what.removeprefix(_BONE)):
            yield from _constraint_sources(bone.constraints)
    if what == "shape":
        yield obj, ""
        for modifier in obj.modifiers:
            other = getattr(modifier, "object", None)
            if other is not None:
                yield other, "pose" if modifier.type == "ARMATURE" else "shape"


def _bones_that_count(obj: bpy.types.Object, name: str) -> Iterable[bpy.types.PoseBone]:
    """The bones whose constraints say where the bone is: those above it, and below, as inverse kinematics goes up."""
    bone = obj.pose.bones.get(name)
    return obj.pose.bones if bone is None else (bone, *bone.parent_recursive, *bone.children_recursive)


def _parent_part(obj: bpy.types.Object) -> str:
    if obj.parent_type == "BONE":
        return f"{_BONE}{obj.parent_bone}"
    if obj.parent.type == "ARMATURE" and obj.parent_type == "ARMATURE":
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
                yield other, f"{_BONE}{holder.subtarget}" if other.type == "ARMATURE" else "shape"
            else:
                yield other, "shape" if constraint.type == "SHRINKWRAP" else ""
        space = constraint.space_object
        if space is not None and "CUSTOM" in (constraint.owner_space, constraint.target_space):
            yield (
                space,
                f"{_BONE}{constraint.space_subtarget}"
                if space.type == "ARMATURE" and constraint.space_subtarget
                else "",
            )
        pole = getattr(constraint, "pole_target", None)
        if pole is not None:
            yield pole, f"{_BONE}{constraint.pole_subtarget}" if constraint.pole_subtarget else ""


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
                    part = f"{_BONE}{target.bone_target}" if target.bone_target else "pose"
                    yield target.id, part if reads_pose else ""
