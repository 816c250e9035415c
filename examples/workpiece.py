"""What the robot of the demo draws on and with: a tilted plate, a figure of eight on it, a pen."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector
from studio import material

Array = np.ndarray

CENTRE, TILT = (0.52, 0.0, 0.34), math.radians(22)  # of the plate's top [m]; it leans to the robot's right
PLATE = (0.34, 0.60, 0.02)  # [m]
WIDTH, HEIGHT = 0.23, 0.11  # half of the figure of eight [m]
RAMP = 0.2  # share of the time that the pace takes to rise, and to fall
PEN_LENGTH, PEN_RADIUS = 0.07, 0.007  # below the tool centre point [m]


def plate_frame() -> Matrix:
    """T_world_plate: origin in the middle of the top, z out of it."""
    return Matrix.LocRotScale(Vector(CENTRE), Euler((TILT, 0.0, 0.0)), None)


def eight(turn: Array) -> Array:
    """(n, 3) points of the figure in the plate's frame; closed for turn = 0 .. 1."""
    u = 2.0 * math.pi * turn
    return np.column_stack((HEIGHT * np.sin(2.0 * u), WIDTH * np.sin(u), np.zeros_like(u)))


def turns(count: int) -> Array:
    """0 .. 1 in `count` samples at an even pace that rises from rest and falls to rest smoothly."""
    t = np.linspace(0.0, 1.0, count)
    ramp = np.clip(np.minimum(t, 1.0 - t) / RAMP, 0.0, 1.0)
    gone = np.cumsum(np.sin(ramp * math.pi / 2.0) ** 2)
    return (gone - gone[0]) / (gone[-1] - gone[0])


def tool_poses(count: int) -> list[Matrix]:
    """World poses of the tool centre point, one per frame: the pen's tip on the figure, the pen square to the plate."""
    upside_down = Matrix.Rotation(math.pi, 4, "X")  # the tool's z points into the plate
    return [
        plate_frame() @ Matrix.Translation((x, y, z + PEN_LENGTH)) @ upside_down
        for x, y, z in eight(turns(count)).tolist()
    ]


def add_plate(scene: bpy.types.Scene) -> None:
    plate = _box("Workpiece", PLATE, (0.0, 0.0, -PLATE[2] / 2 - 0.001))
    plate.matrix_world = plate_frame()
    bevel = plate.modifiers.new("Bevel", "BEVEL")
    bevel.width, bevel.segments = 0.006, 4
    plate.data.materials.append(material("Plate", (0.055, 0.075, 0.11), roughness=0.35))
    foot = _box("Stand", (0.12, 0.12, CENTRE[2] - 0.03), (0.0, 0.0, (CENTRE[2] - 0.03) / 2))
    foot.location = (*CENTRE[:2], 0.0)
    foot.data.materials.append(material("Stand", (0.5, 0.5, 0.52), roughness=0.3, metallic=0.9))
    for obj in (plate, foot):
        scene.collection.objects.link(obj)


def add_line(scene: bpy.types.Scene, first: int, last: int) -> None:
    """The figure: a thin line that is there, and a bright one that is drawn from frame `first` to `last`."""
    count = 4 * (last - first) + 1
    pale = _line("Path", count, 0.0012, material("Path", (0.35, 0.45, 0.6), roughness=0.6))
    drawn = _line("Drawn", count, 0.0034, material("Ink", (1.0, 0.22, 0.02), glow=2.5))
    for obj in (pale, drawn):
        scene.collection.objects.link(obj)
    # Points are spaced evenly in time, so the share of the spline that is shown is the share of the time gone by.
    drawn.data.bevel_factor_mapping_end = "RESOLUTION"
    for frame, share in ((first, 0.0), (last, 1.0)):
        drawn.data.bevel_factor_end = share
        drawn.data.keyframe_insert("bevel_factor_end", frame=frame)
    slot = drawn.data.animation_data.action_slot
    for curve in drawn.data.animation_data.action.layers[0].strips[0].channelbag(slot).fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def add_pen(scene: bpy.types.Scene, robot: bpy.types.Object, bone: str, tool: Matrix) -> None:
    """A pen in the gripper. `tool`: where the tool centre point is now, in the world."""
    rings = ((-0.03, 1.0), (PEN_LENGTH - 0.02, 1.0), (PEN_LENGTH - 0.003, 0.22), (PEN_LENGTH, 0.05))
    sides = 32
    vertices = [
        (PEN_RADIUS * share * math.cos(a), PEN_RADIUS * share * math.sin(a), z)
        for z, share in rings
        for a in np.linspace(0.0, 2.0 * math.pi, sides, endpoint=False).tolist()
    ]
    faces: list[tuple[int, ...]] = [
        (r * sides + i, r * sides + (i + 1) % sides, (r + 1) * sides + (i + 1) % sides, (r + 1) * sides + i)
        for r in range(len(rings) - 1)
        for i in range(sides)
    ]
    faces += [tuple(range(sides))[::-1], tuple(range((len(rings) - 1) * sides, len(rings) * sides))]
    mesh = bpy.data.meshes.new("Pen")
    mesh.from_pydata(vertices, [], faces)
    mesh.materials.append(material("Pen", (1.0, 0.22, 0.02), roughness=0.25))
    pen = bpy.data.objects.new("Pen", mesh)
    scene.collection.objects.link(pen)
    pen.parent, pen.parent_type, pen.parent_bone = robot, "BONE", bone
    bpy.context.view_layer.update()
    pen.matrix_world = tool


def _line(name: str, count: int, radius: float, look: bpy.types.Material) -> bpy.types.Object:
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution = "3D", radius, 3
    spline = curve.splines.new("POLY")
    spline.points.add(count - 1)
    points = eight(turns(count))
    spline.points.foreach_set("co", np.column_stack((points, np.ones(count))).astype(np.float32).ravel())
    curve.materials.append(look)
    obj = bpy.data.objects.new(name, curve)
    obj.matrix_world = plate_frame()
    return obj


def _box(name: str, size: tuple[float, float, float], middle: tuple[float, float, float]) -> bpy.types.Object:
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    vertices = [tuple(m + s * c / 2 for m, s, c in zip(middle, size, corner, strict=True)) for corner in corners]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    return bpy.data.objects.new(name, mesh)
