"""What the IK constraints of an ordinary rig ask for, Blender's own solver's and iTaSC's, in the words of tasks."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import bpy

from ..animation import frames as animation
from .constraint_goals import RELATIONS, Axes, ConstraintGoal, ProxyEmpty


def chain(obj: bpy.types.Object, constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> list[str]:
    """The bones that an IK constraint of `bone` moves, the last first."""
    bones = [bone, *bone.parent_recursive] if constraint.use_tail else list(bone.parent_recursive)
    return [b.name for b in bones[: constraint.chain_count or None]]


def read_goal(
    obj: bpy.types.Object,
    bone: bpy.types.PoseBone,
    constraint: bpy.types.Constraint,
    members: Collection[str],
    problems: list[str],
) -> ConstraintGoal | None:
    """What the constraint asks for; what no task can say is added to `problems`. None: no task can say any of it.

    members: the robot's bones. Where only Blender's solver says which pose is taken (a pole, a chain that ends below
    other joints), the bones within the chain and the one above it follow those of a copy of the rig.
    """
    goal = _read_tip(obj, bone, constraint, problems)
    if goal is None:
        return None
    moved = chain(obj, constraint, bone)
    if constraint.use_stretch and any(obj.pose.bones[name].ik_stretch > 0.0 for name in moved):
        problems.append("stretch")
    has_pole = constraint.pole_target is not None
    kept = next((b.name for b in bone.parent_recursive if b.name not in moved and b.name in members), None)
    why = (
        "of iTaSC"
        if obj.pose.ik_solver == "ITASC"
        else ""
        if _is_whole(obj, constraint)
        else "of an influence that is not 1"
    )
    pole = constraint.pole_subtarget or getattr(constraint.pole_target, "name", "")
    if why:
        problems += [f"pole target {pole!r} {why}"] if has_pole else []
        problems += [f"chain length {constraint.chain_count} {why} (joints above may move)"] if kept else []
        return goal
    if has_pole and len(moved) == 1:
        problems.append(f"pole target {pole!r} of a chain of one bone")
    beside = [_as_it_was(obj, constraint, name, "POSITION", 2) for name in moved[:-1] if has_pole]
    beside += [_as_it_was(obj, constraint, kept, "POSE", 1)] if kept else []
    return replace(goal, beside=tuple(beside))


def _as_it_was(
    obj: bpy.types.Object, constraint: bpy.types.Constraint, bone: str, kind: str, priority: int
) -> ConstraintGoal:
    return ConstraintGoal(kind, bone, constraint.name, obj, bone, 1.0, proxy_empty=ProxyEmpty.RIG, priority=priority)


def _is_whole(obj: bpy.types.Object, constraint: bpy.types.Constraint) -> bool:
    """Whether its influence is 1, at all frames."""
    path = f"{constraint.path_from_id()}.influence"
    drivers = obj.animation_data.drivers if obj.animation_data else ()
    is_driven = any(driver.data_path == path for driver in drivers)
    return constraint.influence == 1.0 and (path, 0) not in animation.fcurves(obj) and not is_driven


def _read_tip(
    obj: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]
) -> ConstraintGoal | None:
    itasc = obj.pose.ik_solver == "ITASC"
    if constraint.target is None:
        problems.append("no target")
        return None
    subtarget = constraint.subtarget if constraint.target.type == "ARMATURE" else ""
    if itasc and constraint.ik_type == "DISTANCE":
        return ConstraintGoal(
            "DISTANCE",
            bone.name,
            constraint.name,
            constraint.target,
            subtarget,
            constraint.influence,
            at_tail=constraint.use_tail,
            position_weight=constraint.weight,
            relation=RELATIONS[constraint.limit_mode],
            distance=constraint.distance,
        )
    position = (constraint.use_location,) * 3
    rotation = (constraint.use_rotation,) * 3
    if itasc:
        position = _locked(constraint, "location") if constraint.use_location else (False,) * 3
        rotation = _locked(constraint, "rotation") if constraint.use_rotation else (False,) * 3
        partial = any(0 < sum(axes) < 3 for axes in (position, rotation))
        if partial and constraint.reference_axis == "TARGET":
            problems.append("axes of the target (taken as the robot's)")
    if not any(position) and not any(rotation):
        problems.append("neither position nor rotation")
        return None
    kind = ("POSE" if any(rotation) else "POSITION") if any(position) else "ORIENTATION"
    return ConstraintGoal(
        kind,
        bone.name,
        constraint.name,
        constraint.target,
        subtarget,
        constraint.influence,
        at_tail=constraint.use_tail,
        position=position,
        rotation=rotation,
        of_tip=itasc and constraint.reference_axis == "BONE",
        position_weight=constraint.weight,
        orientation_weight=constraint.orient_weight,
    )


def _locked(constraint: bpy.types.Constraint, what: str) -> Axes:
    x, y, z = (getattr(constraint, f"lock_{what}_{axis}") for axis in "xyz")
    return x, y, z
