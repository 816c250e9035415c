"""What a task made of a constraint follows: the constraint's own target, or an empty that hangs on it."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...properties.bridge.visuals.new_data import collections_for
from .constraint_goals import ConstraintGoal, ProxyEmpty
from .proxy_empties import proxy_empty


def target_of(
    context: bpy.types.Context, obj: bpy.types.Object, goal: ConstraintGoal, tip_pose: Matrix
) -> tuple[bpy.types.Object, str]:
    """(the object, its bone or ""). tip_pose: of the goal's tip in the world, where it stands now."""
    if goal.proxy_empty not in (None, ProxyEmpty.RIG):
        empty = _empty(obj, goal)
        proxy_empty(obj, goal, empty)
        return empty, ""
    if goal.is_held:
        return _carried(context, obj, goal, tip_pose), ""
    if goal.kind == "PLANE":
        return _floor(context, obj, goal), ""
    if goal.head_tail:
        return _along_bone(obj, goal), ""
    return goal.target, goal.subtarget


def turned(
    obj: bpy.types.Object, goal: ConstraintGoal, target: bpy.types.Object, subtarget: str, R: np.ndarray
) -> bpy.types.Object:
    """Stands where the target is, turned by R (3, 3) in its axes: what a link follows whose axes are not its bone's."""
    if subtarget:
        follower = _empty(obj, goal)
        follow = follower.constraints.new("COPY_TRANSFORMS")
        follow.target, follow.subtarget = target, subtarget
        target = follower
    empty = _empty(obj, goal)
    empty.parent = target
    empty.matrix_basis = Matrix(R.tolist()).to_4x4()
    return empty


def _along_bone(obj: bpy.types.Object, goal: ConstraintGoal) -> bpy.types.Object:
    """Follows a place between the ends of a bone."""
    empty = _empty(obj, goal)
    follow = empty.constraints.new("COPY_TRANSFORMS")
    follow.target, follow.subtarget, follow.head_tail = goal.target, goal.subtarget, goal.head_tail
    return empty


def _floor(context: bpy.types.Context, obj: bpy.types.Object, goal: ConstraintGoal) -> bpy.types.Object:
    """The pose of the plane: its Z axis is the normal, towards the side where the tip may be."""
    axis = Vector([float(letter == goal.axis[-1]) for letter in "XYZ"])
    normal = -axis if goal.axis[0] == "-" else axis
    plane = Matrix.LocRotScale(goal.distance * axis, normal.to_track_quat("Z", "Y"), None)
    if goal.follows_rotation:
        return _carried(context, obj, goal, _world(goal) @ plane)
    empty = _empty(obj, goal)
    empty.matrix_world = plane
    follow = empty.constraints.new("COPY_LOCATION")
    follow.target, follow.subtarget, follow.use_offset = goal.target, goal.subtarget, True
    return empty


def _carried(context: bpy.types.Context, obj: bpy.types.Object, goal: ConstraintGoal, pose: Matrix) -> bpy.types.Object:
    """A child of the target, at a place in the world."""
    empty = _empty(obj, goal)
    empty.parent = goal.target
    if goal.subtarget:
        empty.parent_type, empty.parent_bone = "BONE", goal.subtarget
    context.view_layer.update()
    empty.matrix_world = pose
    return empty


def _world(goal: ConstraintGoal) -> Matrix:
    world = goal.target.matrix_world
    return world @ goal.target.pose.bones[goal.subtarget].matrix if goal.subtarget else world


def _empty(obj: bpy.types.Object, goal: ConstraintGoal) -> bpy.types.Object:
    empty = bpy.data.objects.new(f"{goal.subtarget or goal.target.name} target", None)
    empty.empty_display_type = "ARROWS"
    empty.empty_display_size = 0.5 * obj.data.bones[goal.bone].length
    for collection in collections_for(obj):
        collection.objects.link(empty)
    return empty
