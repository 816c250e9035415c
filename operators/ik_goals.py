"""What the IK constraints of an ordinary rig ask for, Blender's own solver's and iTaSC's, in the words of tasks."""

from __future__ import annotations

import bpy

from .constraint_goals import RELATIONS, Axes, Goal


def chain(obj: bpy.types.Object, constraint: bpy.types.Constraint, bone: bpy.types.PoseBone) -> list[str]:
    """The bones that an IK constraint of `bone` moves, the last first."""
    bones = [bone, *bone.parent_recursive] if constraint.use_tail else list(bone.parent_recursive)
    return [b.name for b in bones[: constraint.chain_count or None]]


def read_goal(
    obj: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint, problems: list[str]
) -> Goal | None:
    """What the constraint asks for; what no task can say is added to `problems`. None: no task can say any of it."""
    itasc = obj.pose.ik_solver == "ITASC"
    if constraint.target is None:
        problems.append("no target")
        return None
    if constraint.pole_target is not None:
        problems.append(f"pole target {constraint.pole_subtarget or constraint.pole_target.name!r}")
    moved = chain(obj, constraint, bone)
    if constraint.use_stretch and any(obj.pose.bones[name].ik_stretch > 0.0 for name in moved):
        problems.append("stretch")
    if len(moved) < len(bone.parent_recursive) + constraint.use_tail:
        problems.append(f"chain length {constraint.chain_count} (joints above may move)")
    subtarget = constraint.subtarget if constraint.target.type == "ARMATURE" else ""
    if itasc and constraint.ik_type == "DISTANCE":
        return Goal(
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
    return Goal(
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
