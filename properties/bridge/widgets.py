"""What bones look like: a ring about a turning axis, a rail along a sliding one, both of a screw, a ball of rings
about several axes, a marker where nothing moves.

One shape of unit size serves all bones of a kind; each is scaled to its robot. Shapes are not linked to the scene.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

from ...robokin.joint_types import Elementary, Motion
from ...robokin.model import Joint
from .binding import Binding
from .carriers import Carrier

Array = np.ndarray

JOINTS, FOLLOWERS, BASE, FIXED = "Joints", "Followers", "Base", "Fixed"
_PALETTES = {JOINTS: "THEME09", FOLLOWERS: "THEME10", BASE: "THEME03", FIXED: "THEME13"}


def dress(obj: bpy.types.Object, robot: Binding, sizes: Array) -> None:
    """Give every bone its shape, colour and bone collection. `sizes`: (joints,) in Blender units."""
    obj.data.display_type = "STICK"
    obj.show_in_front = True
    for joint, carriers, size in zip(robot.model.joints, robot.carriers, sizes, strict=True):
        _dress_joint(obj, joint, carriers, float(size))
    fixed = obj.data.collections.get(FIXED)
    if fixed is not None:
        fixed.is_visible = False


def dress_helpers(obj: bpy.types.Object, robot: Binding) -> None:
    """`dress` for the joints whose helper bones have no shape yet."""
    for joint, carriers in zip(robot.model.joints, robot.carriers, strict=True):
        bones = [obj.pose.bones[carrier.bone] for carrier in carriers]
        if any(bone.custom_shape is None for bone in bones[:-1]):
            own = bones[-1]
            _dress_joint(obj, joint, carriers, own.custom_shape_scale_xyz[0] if own.custom_shape else own.length)


def _dress_joint(obj: bpy.types.Object, joint: Joint, carriers: Sequence[Carrier], size: float) -> None:
    group = _group(joint)
    steps = joint.kind.decompose(joint)
    for i, carrier in enumerate(carriers):
        own, steps = steps[: carrier.count], steps[carrier.count :]
        bone, pose_bone = obj.data.bones[carrier.bone], obj.pose.bones[carrier.bone]
        collection = obj.data.collections.get(group) or obj.data.collections.new(group)
        collection.assign(bone)
        bone.color.palette = _PALETTES[group]
        kind = "Base" if joint.parent is None and carrier is carriers[-1] else _kind(own)
        pose_bone.custom_shape = _shape(kind)
        pose_bone.custom_shape_rotation_euler = _turned(kind, own, carrier.frame)
        pose_bone.use_custom_shape_bone_size = False
        # One ring inside the other, as those of a gimbal.
        pose_bone.custom_shape_scale_xyz = (size * (1.0 + 0.25 * (len(carriers) - 1 - i)),) * 3
        pose_bone.custom_shape_wire_width = 2.0


def _group(joint: Joint) -> str:
    if joint.parent is None:
        return BASE
    if joint.mimic is not None:
        return FOLLOWERS
    return JOINTS if joint.nv else FIXED


def _kind(steps: Sequence[Elementary]) -> str:
    if not steps:
        return "Fixed"
    if len(_axes(steps)) != 1:
        return "Ball"
    motions = {step.motion for step in steps}
    return "Rail" if motions == {Motion.TRANSLATION} else "Ring" if motions == {Motion.ROTATION} else "Screw"


def _axes(steps: Sequence[Elementary]) -> list[Array]:
    """The axes of the motions, each once; none of one that turns freely."""
    found: list[Array] = []
    for step in steps:
        if step.motion.has_axis and not any(np.array_equal(step.axis, axis) for axis in found):
            found.append(step.axis)
    return found


def _turned(kind: str, steps: Sequence[Elementary], frame: Array) -> Euler:
    """How a shape is turned on its bone: the base as its link, what has one axis from Y to that axis."""
    if kind == "Base":
        return Matrix(frame.T.tolist()).to_euler()
    axis = frame.T @ _axes(steps)[0] if kind in ("Ring", "Rail", "Screw") else (0.0, 1.0, 0.0)
    return Vector((0.0, 1.0, 0.0)).rotation_difference(Vector(axis)).to_euler()


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


def _screw() -> Wire:
    """A ring to turn, on a rail to slide."""
    return _joined(_ring(), _rail())


def _ball() -> Wire:
    return _joined(_circle(1.0, "xz"), _circle(1.0, "xy"), _circle(1.0, "yz"))


def _base() -> Wire:
    """A square on the ground with an arrow to the front (X)."""
    square = [(1.0, 1.0, 0.0), (-1.0, 1.0, 0.0), (-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0)]
    return _lines(square, [(1.0, 0.25, 0.0), (1.4, 0.0, 0.0), (1.0, -0.25, 0.0)])


def _fixed() -> Wire:
    return _lines(*([tuple(-0.4 * x for x in axis), tuple(0.4 * x for x in axis)] for axis in np.eye(3)))


_WIRES = {"Ring": _ring, "Rail": _rail, "Screw": _screw, "Ball": _ball, "Base": _base, "Fixed": _fixed}
