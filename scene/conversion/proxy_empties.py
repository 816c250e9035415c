"""Empties that show where a constraint would put a bone: targets of tasks that cannot say what the constraint does."""

from __future__ import annotations

import bpy
import numpy as np

from ..animation import frames as animation
from ..animation.curves import ensure_channelbag
from .constraint_goals import ConstraintGoal, ProxyEmpty

_NUMBERS = ("co", "handle_left", "handle_right")
_CHOICES = ("interpolation", "easing", "handle_left_type", "handle_right_type")


def proxy_empty(obj: bpy.types.Object, goal: ConstraintGoal, empty: bpy.types.Object) -> None:
    """Let a new empty be where the goal's constraint, of a bone of `obj`, would put the bone, or sees its target."""
    constraint = obj.pose.bones[goal.bone].constraints[goal.constraint]
    if goal.proxy_empty is ProxyEmpty.PLACE:
        own = empty.constraints.new("COPY_LOCATION")
        for name in ("target", "subtarget", "target_space", "space_object", "space_subtarget"):
            setattr(own, name, getattr(constraint, name))
        for name in ("head_tail", "use_bbone_shape"):
            setattr(own, name, getattr(constraint, name, 0))
    else:
        own = empty.constraints.copy(constraint)
        own.mute, own.influence = False, 1.0
    if goal.rotation_mode not in ("QUATERNION", "AXIS_ANGLE"):  # what Automatic means for rotations that are inverted
        empty.rotation_mode = goal.rotation_mode
    if goal.unmoved is not None:
        empty.parent = obj
        empty.matrix_basis = goal.unmoved
    elif constraint.owner_space in ("WORLD", "CUSTOM"):
        own.owner_space = constraint.owner_space
    else:  # spaces of bones, which an object does not have
        empty.parent = obj
        if constraint.owner_space != "POSE":
            empty.matrix_parent_inverse = obj.data.bones[goal.bone].matrix_local
        own.owner_space = "LOCAL"
    _copy_curves(obj, constraint.path_from_id(), empty, own.path_from_id())


def _copy_curves(obj: bpy.types.Object, old: str, other: bpy.types.Object, new: str) -> None:
    """What animates the settings of a constraint animates those of its copy. The influence is the task's."""
    curves = [curve for curve in animation.fcurves(obj).values() if curve.data_path.startswith(f"{old}.")]
    curves = [curve for curve in curves if curve.data_path.rpartition(".")[2] not in ("influence", "mute", "enabled")]
    for curve in curves:
        made = ensure_channelbag(other).fcurves.new(new + curve.data_path[len(old) :], index=curve.array_index)
        made.extrapolation = curve.extrapolation
        count = len(curve.keyframe_points)
        made.keyframe_points.add(count)
        for name in (*_NUMBERS, *_CHOICES):
            values = np.empty(count * 2, np.float32) if name in _NUMBERS else np.empty(count, np.int32)
            curve.keyframe_points.foreach_get(name, values)
            made.keyframe_points.foreach_set(name, values)
        made.update()
