"""New objects for tasks to follow: where they are of use, in the size of the robot."""

from __future__ import annotations

import math
from collections.abc import Set

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

from ...properties.bridge import Binding, read_configuration, to_blender
from ...properties.task_kinds import KINDS
from ...robokin.spatial.se3 import translation
from ...solvers.kinematics.state import State

MADE = "robokin_target"  # on an object: it was made with a task
AHEAD = 0.25  # of the robot's size: how far before the tip a target is that it points at or keeps away from


def robot_size(obj: bpy.types.Object) -> float:
    """Diagonal of the box around the robot's bones at rest, in world units."""
    ends = [point for bone in obj.data.bones for point in (bone.head_local, bone.tail_local)]
    points = np.array(ends, dtype=float)  # single precision, which they have, overflows in the norm
    return float(np.linalg.norm(np.ptp(points, axis=0))) * obj.matrix_world.median_scale


def rounded(pose: Matrix, size: float) -> tuple[Vector, Euler]:
    """Location and rotation without what single precision adds ("-0 m", "0.000009 degrees"): to a millionth of the
    size at most, and to 1e-4 degrees."""
    digits = 6 - math.floor(math.log10(size)) if size > 0.0 else 6
    location = Vector([round(x, digits) + 0.0 for x in pose.translation])
    return location, Euler([math.radians(round(math.degrees(angle), 4) + 0.0) for angle in pose.to_euler()])


def new_target(obj: bpy.types.Object, robot: Binding, kind: str, tip: str, pose: Matrix) -> bpy.types.Object:
    """An object that a new task of the kind can follow, not linked yet. pose: of the tip in the world."""
    name, size = f"{robot.link_of_bone[tip] if KINDS[kind].tip else KINDS[kind].label} target", robot_size(obj)
    if kind in ("AIM", "LASER", "DISTANCE"):
        pose = pose @ Matrix.Translation((0.0, 0.0, AHEAD * size))
    elif kind in ("CENTER_OF_MASS", "SUPPORT"):
        center = translation(State(robot.model, read_configuration(obj, robot)).center_of_mass)
        pose = Matrix.Translation(to_blender(obj, center, None, robot).translation)
        if kind == "SUPPORT":
            pose.translation.z = min((obj.matrix_world @ Vector(corner)).z for corner in obj.bound_box)
    target = bpy.data.objects.new(name, _DATA.get(KINDS[kind].target, lambda *_: None)(name, size))
    target.empty_display_type = "ARROWS"
    target.empty_display_size = 0.1 * size
    target.show_in_front = True
    target.location, target.rotation_euler = rounded(pose, size)
    target[MADE] = True
    return target


def is_spare(obj: bpy.types.Object, target: bpy.types.Object) -> bool:
    """Whether a target was made with a task of the robot, and nothing needs it any more."""
    if MADE not in target or target.type != "EMPTY" or not target.is_editable or target.children:
        return False
    if any(task.target == target or task.surface == target for task in obj.robokin.tasks):
        return False
    return is_unused(target, {obj})


def is_unused(target: bpy.types.Object, but: Set[bpy.types.Object] = frozenset()) -> bool:
    """Whether nothing but these needs an object."""
    users = bpy.data.user_map(subset={target})[target] - but
    return all(isinstance(user, (bpy.types.Collection, bpy.types.Scene)) for user in users)


def _line(name: str, size: float) -> bpy.types.Curve:
    """Through the origin, along Y."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    points = curve.splines.new("BEZIER").bezier_points
    points.add(2)
    for point, y in zip(points, (-1.0, 0.0, 1.0), strict=True):
        point.co = (0.0, y * AHEAD * size, 0.0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    return curve


def _square(name: str, size: float) -> bpy.types.Mesh:
    mesh, half = bpy.data.meshes.new(name), 0.1 * size
    mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
    return mesh


_DATA = {"CURVE": _line, "MESH": _square}
