"""What bones look like: a ring about a turning axis, a rail along a sliding one, a marker where nothing moves.

One shape of unit size serves all bones of a kind; each is scaled to its robot. Shapes are not linked to the scene.
"""

from __future__ import annotations

import math

import bpy
import numpy as np

from ...robokin.joint_types import Motion
from ...robokin.model import Joint
from .binding import Binding

Array = np.ndarray

JOINTS, FOLLOWERS, BASE, FIXED = "Joints", "Followers", "Base", "Fixed"
_PALETTES = {JOINTS: "THEME09", FOLLOWERS: "THEME10", BASE: "THEME03", FIXED: "THEME13"}


def dress(obj: bpy.types.Object, robot: Binding, sizes: Array) -> None:
    """Give every bone its shape, colour and bone collection. `sizes`: (joints,) in Blender units."""
    arm = obj.data
    arm.display_type = "STICK"
    obj.show_in_front = True
    groups = {name: arm.collections.new(name) for name in (JOINTS, FOLLOWERS, BASE, FIXED)}
    for joint, name, size in zip(robot.model.joints, robot.bones, sizes, strict=True):
        bone, pose_bone = arm.bones[name], obj.pose.bones[name]
        group = _group(joint)
        groups[group].assign(bone)
        bone.color.palette = _PALETTES[group]
        pose_bone.custom_shape = _shape(_kind(joint))
        pose_bone.use_custom_shape_bone_size = False
        pose_bone.custom_shape_scale_xyz = (float(size),) * 3
        pose_bone.custom_shape_wire_width = 2.0
    for name, group in groups.items():
        if not group.bones:
            arm.collections.remove(group)
        elif name == FIXED:
            group.is_visible = False


def _group(joint: Joint) -> str:
    if joint.parent is None:
        return BASE
    if joint.mimic is not None:
        return FOLLOWERS
    return JOINTS if joint.nv else FIXED


def _kind(joint: Joint) -> str:
    if joint.parent is None:
        return "Base"
    motions = {step.motion for step in joint.kind.decompose(joint)}
    if not motions:
        return "Fixed"
    if motions == {Motion.TRANSLATION}:
        return "Rail"
    return "Ring" if motions == {Motion.ROTATION} else "Ball"


def _shape(kind: str) -> bpy.types.Object:
    """The shape of a kind; made once per file."""
    name = f"Robokin {kind}"
    existing = bpy.data.objects.get(name)
    if existing is not None and existing.library is None:
        return existing
    vertices, edges = _WIRES[kind]()
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, edges, [])
    return bpy.data.objects.new(name, mesh)


Wire = tuple[list[tuple[float, float, float]], list[tuple[int, int]]]


def _circle(radius: float, plane: str, count: int = 48) -> Wire:
    turn = [2.0 * math.pi * i / count for i in range(count)]
    points = [(radius * math.cos(a), radius * math.sin(a)) for a in turn]
    vertices = [(x, 0.0, y) if plane == "xz" else (x, y, 0.0) if plane == "xy" else (0.0, x, y) for x, y in points]
    return vertices, [(i, (i + 1) % count) for i in range(count)]


def _lines(*lines: list[tuple[float, float, float]]) -> Wire:
    vertices: list[tuple[float, float, float]] = []
    edges: list[tuple[int, int]] = []
    for line in lines:
        edges += [(len(vertices) + i, len(vertices) + i + 1) for i in range(len(line) - 1)]
        vertices += line
    return vertices, edges


def _joined(*wires: Wire) -> Wire:
    vertices: list[tuple[float, float, float]] = []
    edges: list[tuple[int, int]] = []
    for more, links in wires:
        edges += [(a + len(vertices), b + len(vertices)) for a, b in links]
        vertices += more
    return vertices, edges


def _ring() -> Wire:
    """About Y, with a pointer that shows where the joint stands and the axis as a short line."""
    pointer = [(0.0, 0.0, 1.0), (0.12, 0.0, 1.22), (-0.12, 0.0, 1.22), (0.0, 0.0, 1.0)]
    return _joined(_circle(1.0, "xz"), _lines(pointer, [(0.0, -0.3, 0.0), (0.0, 0.3, 0.0)]))


def _rail() -> Wire:
    """Along Y, an arrow at both ends."""
    return _lines(
        [(0.0, -1.2, 0.0), (0.0, 1.2, 0.0)],
        [(0.25, 0.9, 0.0), (0.0, 1.2, 0.0), (-0.25, 0.9, 0.0)],
        [(0.25, -0.9, 0.0), (0.0, -1.2, 0.0), (-0.25, -0.9, 0.0)],
        [(0.25, -0.3, 0.0), (0.25, 0.3, 0.0), (-0.25, 0.3, 0.0), (-0.25, -0.3, 0.0), (0.25, -0.3, 0.0)],
    )


def _ball() -> Wire:
    return _joined(_circle(1.0, "xz"), _circle(1.0, "xy"), _circle(1.0, "yz"))


def _base() -> Wire:
    """A square on the ground with an arrow to the front (X)."""
    square = [(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0)]
    return _lines(square, [(1.0, 0.25, 0.0), (1.4, 0.0, 0.0), (1.0, -0.25, 0.0)])


def _fixed() -> Wire:
    return _lines(*([tuple(-0.4 * x for x in axis), tuple(0.4 * x for x in axis)] for axis in np.eye(3)))


_WIRES = {"Ring": _ring, "Rail": _rail, "Ball": _ball, "Base": _base, "Fixed": _fixed}
