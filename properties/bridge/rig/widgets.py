"""What bones look like: a ring about a turning axis, a rail along a sliding one, a thread of a screw, rings inside each
other of a joint of several axes, a ball on the pin that it twists about, a marker where nothing moves.

One shape of unit size serves all bones of a kind; each is scaled to its robot. Shapes are not linked to the scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

from ....robokin.arrays import Array
from ....robokin.model.joint_types import Elementary, MotionPrimitive
from ....robokin.model.robot import Joint
from ..model.binding import Binding
from ..model.joint_bones import JointBone
from .widget_shapes import SHAPES

JOINTS, FOLLOWERS, BASE, FIXED = "Joints", "Followers", "Base", "Fixed"
_PREFIX = "Robokin "
_ELEMENTARY = {
    MotionPrimitive.ROTATION: "Ring",
    MotionPrimitive.TRANSLATION: "Rail",
    MotionPrimitive.HELICAL: "Screw",
    MotionPrimitive.BALL: "Ball",
    MotionPrimitive.FREE: "Free",
}
_TYPES = {
    "planar": "Plane",
    "wheeled": "Wheels",
    "cylindrical": "Cylindrical",
    "universal": "Universal",
    "gimbal": "Gimbal",
}
_PALETTES = {JOINTS: "THEME09", FOLLOWERS: "THEME10", BASE: "THEME03", FIXED: "THEME13"}


def assign_shapes(obj: bpy.types.Object, robot: Binding, sizes: Array) -> None:
    """Give every bone its shape, colour and bone collection. `sizes`: (joints,) in Blender units."""
    obj.data.display_type = "STICK"
    obj.show_in_front = True
    for joint, joint_bones, size in zip(robot.model.joints, robot.joint_bones, sizes, strict=True):
        _assign_joint_shapes(obj, joint, joint_bones, float(size))
    fixed = obj.data.collections.get(FIXED)
    if fixed is not None:
        fixed.is_visible = False


def assign_helper_shapes(obj: bpy.types.Object, robot: Binding) -> None:
    """`assign_shapes` for the joints whose helper bones have no shape yet."""
    for joint, joint_bones in zip(robot.model.joints, robot.joint_bones, strict=True):
        bones = [obj.pose.bones[joint_bone.bone] for joint_bone in joint_bones]
        if any(bone.custom_shape is None for bone in bones[:-1]):
            own = bones[-1]
            _assign_joint_shapes(
                obj, joint, joint_bones, own.custom_shape_scale_xyz[0] if own.custom_shape else own.length
            )


def update_shapes(obj: bpy.types.Object, robot: Binding) -> None:
    """Bones that have one of our shapes get that of what they are now."""
    for joint, joint_bones in zip(robot.model.joints, robot.joint_bones, strict=True):
        for joint_bone, kind, steps in _kinds(joint, joint_bones):
            pose_bone = obj.pose.bones[joint_bone.bone]
            shape = pose_bone.custom_shape
            if shape is not None and shape.name.startswith(_PREFIX) and shape.name != _PREFIX + kind:
                _put_shape(pose_bone, kind, steps, joint_bone.frame)


def _assign_joint_shapes(obj: bpy.types.Object, joint: Joint, joint_bones: Sequence[JointBone], size: float) -> None:
    group = _group(joint)
    for i, (joint_bone, kind, steps) in enumerate(_kinds(joint, joint_bones)):
        bone, pose_bone = obj.data.bones[joint_bone.bone], obj.pose.bones[joint_bone.bone]
        collection = obj.data.collections.get(group) or obj.data.collections.new(group)
        collection.assign(bone)
        bone.color.palette = _PALETTES[group]
        _put_shape(pose_bone, kind, steps, joint_bone.frame)
        pose_bone.use_custom_shape_bone_size = False
        # One ring inside the other, as those of a gimbal.
        pose_bone.custom_shape_scale_xyz = (size * (1.0 + 0.25 * (len(joint_bones) - 1 - i)),) * 3
        pose_bone.custom_shape_wire_width = 2.0


def _put_shape(bone: bpy.types.PoseBone, kind: str, steps: Sequence[Elementary], frame: Array) -> None:
    bone.custom_shape = _shape(kind)
    bone.custom_shape_rotation_euler = _turned(kind, steps, frame)


def _kinds(joint: Joint, joint_bones: Sequence[JointBone]) -> Iterator[tuple[JointBone, str, Sequence[Elementary]]]:
    """Each bone of a joint with its shape and the motions that it carries."""
    steps = joint.kind.decompose(joint)
    for joint_bone in joint_bones:
        own, steps = steps[: joint_bone.count], steps[joint_bone.count :]
        kind = _kind(joint, own)
        if joint.parent is None and joint_bone is joint_bones[-1]:
            kind = "Wheels" if joint.drive else "Base"
        yield joint_bone, kind, own


def _group(joint: Joint) -> str:
    if joint.parent is None:
        return BASE
    if joint.mimic is not None:
        return FOLLOWERS
    return JOINTS if joint.nv else FIXED


def _kind(joint: Joint, steps: Sequence[Elementary]) -> str:
    """The shape of a bone that carries some motions of a joint."""
    if not steps:
        return "Fixed"
    if len(steps) == 1 and steps[0].motion in _ELEMENTARY:
        return _ELEMENTARY[steps[0].motion]
    return _TYPES[joint.type]


def _turned(kind: str, steps: Sequence[Elementary], frame: Array) -> Euler:
    """How a shape is turned on its bone: the base as its link, the others with Y along the first axis of the joint and
    Z along the second; what has none, as its bone."""
    if kind in ("Base", "Wheels"):
        return Matrix(frame.T.tolist()).to_euler()
    axes = [frame.T @ step.axis for step in steps if step.motion.has_axis]
    if kind == "Plane":
        axes = axes[::-1]
    if not axes:
        return Euler()
    across = next((axis for axis in axes if abs(axis @ axes[0]) < 0.5), None)
    if across is None:
        return Vector((0.0, 1.0, 0.0)).rotation_difference(Vector(axes[0])).to_euler()
    return Matrix(np.column_stack((np.cross(axes[0], across), axes[0], across)).tolist()).to_euler()


def _shape(kind: str) -> bpy.types.Object:
    """The shape of a kind; made once per file."""
    name = _PREFIX + kind
    existing = bpy.data.objects.get(name)
    if existing is not None and existing.library is None:
        return existing
    vertices, edges = SHAPES[kind]()
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, [])
    return bpy.data.objects.new(name, mesh)
