"""What the example scenes are built of: a robot with a tool, boxes, objects that turn and move by keys, tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import binding, import_robot, write_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.postures import store_posture
from ...robokin.construction.solids import with_links
from ...robokin.library import ROBOTS, library_robot
from ...robokin.model.geometry import Geometry
from ...robokin.model.robot import JointValue
from ..animation.frames import fcurves

START = "Start"  # the posture that the scene begins with
Point = Sequence[float]


class Stage:
    """Something new at the 3D cursor, all in one collection. seconds: how long it lasts."""

    def __init__(self, context: bpy.types.Context, name: str, seconds: float) -> None:
        self.context, self.scene = context, context.scene
        self.collection = bpy.data.collections.new(name)
        self.scene.collection.children.link(self.collection)
        self.origin = bpy.data.objects.new(name, None)
        self.origin.empty_display_size = 0.1
        self.origin.location = self.scene.cursor.location
        self.collection.objects.link(self.origin)
        self.last = self.frame(seconds)

    @property
    def unit(self) -> float:
        """Blender units in a metre."""
        return 1.0 / self.scene.unit_settings.scale_length

    def frame(self, seconds: float) -> int:
        return 1 + round(seconds / frame_seconds(self.scene))

    def robot(
        self, name: str, tool: Sequence[Geometry], values: Mapping[str, JointValue], light: Sequence[Geometry] = ()
    ) -> bpy.types.Object:
        """A robot of the library with a tool on its flange, posed; the pose is stored as its posture `Start`.

        Its links and its tool may touch nothing. light: of the tool, what may. Raises RobokinError.
        """
        model = library_robot(name)
        links = {link.name: replace(link, collisions=link.visuals) for link in model.links}
        links["tool"] = replace(links["tool"], visuals=(*tool, *light), collisions=tuple(tool))
        obj, _ = import_robot(self.context, with_links(model, links))
        obj.parent = self.origin
        if ROBOTS[name].up == "y":
            obj.rotation_euler = (np.pi / 2.0, 0.0, 0.0)
        bound = binding(obj)
        write_configuration(obj, bound.model.configuration(dict(values)), bound)
        obj.robokin.home_posture = store_posture(obj, bound.model, START, dict(values)).name
        self.context.view_layer.update()
        return obj

    def empty(self, name: str, parent: bpy.types.Object | None, at: Point, turn: Point = (0.0, 0.0, 0.0)) -> Any:
        """An object at a place [m] and turned (XYZ) [rad] in its parent; without one in the stage."""
        return self._place(bpy.data.objects.new(name, None), parent, at, turn)

    def box(self, name: str, parent: bpy.types.Object | None, at: Point, size: Point, color: Point) -> Any:
        """An obstacle; size: (3,) [m] along the axes of its parent."""
        x, y, z = (0.5 * self.unit * length for length in size)
        corners = [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
        sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(corners, [], sides)
        mesh.materials.append(_material(name, color))
        made = self._place(bpy.data.objects.new(name, mesh), parent, at, (0.0, 0.0, 0.0))
        made.robokin.is_obstacle = True
        return made

    def prism(self, name: str, parent: bpy.types.Object, at: Point, sides: int, size: Point, color: Point) -> Any:
        """A regular prism along the Z axis of its parent, many sides: a cylinder; size: radius and length [m]."""
        radius, length = (each * self.unit for each in size)
        turned = 2.0 * np.pi * np.arange(sides) / sides
        ring = np.column_stack((radius * np.cos(turned), radius * np.sin(turned), np.full(sides, 0.5 * length)))
        corners = np.concatenate((ring * (1.0, 1.0, -1.0), ring))
        next_one = [*range(1, sides), 0]
        quads = [(i, k, k + sides, i + sides) for i, k in enumerate(next_one)]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(corners.tolist(), [], [tuple(range(sides))[::-1], *quads, tuple(range(sides, 2 * sides))])
        mesh.materials.append(_material(name, color))
        return self._place(bpy.data.objects.new(name, mesh), parent, at, (0.0, 0.0, 0.0))

    def ring(self, name: str, parent: bpy.types.Object, radius: float) -> None:
        """A line around the Z axis of its parent; radius [m]."""
        curve = bpy.data.curves.new(name, "CURVE")
        curve.dimensions, curve.bevel_depth = "3D", 0.004 * self.unit
        line = curve.splines.new("POLY")
        line.points.add(95)
        line.use_cyclic_u = True
        for point, angle in zip(line.points, np.linspace(0.0, 2.0 * np.pi, 97), strict=False):
            point.co = *(radius * self.unit * np.array((np.cos(angle), np.sin(angle), 0.0))), 1.0
        curve.materials.append(_material(name, (0.05, 0.1, 0.35)))
        self._place(bpy.data.objects.new(name, curve), parent, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def _place(self, obj: bpy.types.Object, parent: bpy.types.Object | None, at: Point, turn: Point) -> Any:
        obj.parent = self.origin if parent is None else parent
        obj.location = np.array(at) * self.unit
        obj.rotation_euler = turn
        obj.empty_display_size = 0.1 * self.unit
        self.collection.objects.link(obj)
        return obj

    def eased(self, obj: bpy.types.Object, path: str, index: int, keys: Sequence[tuple[float, float]]) -> None:
        """Key a channel at (seconds, value); it stands still at the first and the last."""
        for seconds, value in keys:
            getattr(obj, path)[index] = value
            obj.keyframe_insert(path, index=index, frame=self.frame(seconds))
        for point in fcurves(obj)[path, index].keyframe_points:  # whatever a user's new keys are like
            point.interpolation = "BEZIER"
            point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        getattr(obj, path)[index] = keys[0][1]

    def task(self, robot: bpy.types.Object, name: str, kind: str, link: str, target: Any, **settings: Any) -> Any:
        """A task of a link, whose other properties are given by name."""
        task = robot.robokin.tasks.add()
        task.name, task.kind, task.tip, task.target = name, kind, binding(robot).bone_of_link[link], target
        task.position_tolerance *= self.unit
        for key, value in settings.items():
            setattr(task, key, value)
        return task

    def choose(self, robot: bpy.types.Object) -> bpy.types.Object:
        """Only the robot is selected, and active. A bake begins at its posture `Start`. The scene's range takes in that
        of the example."""
        self.scene.frame_start = min(self.scene.frame_start, 1)
        self.scene.frame_end = max(self.scene.frame_end, self.last)
        self.scene.frame_set(1)
        for obj in self.context.selected_objects:
            obj.select_set(False)
        robot.select_set(True)
        self.context.view_layer.objects.active = robot
        solver = robot.robokin.solver
        solver.start, solver.posture = "POSTURE", START
        self.context.view_layer.update()
        return robot


def _material(name: str, color: Point) -> bpy.types.Material:
    made = bpy.data.materials.new(name)
    made.diffuse_color = (*color, 1.0)
    if made.node_tree is None:  # Blender 4.5; from 5.0 on a material has nodes from the start
        made.use_nodes = True
    surface = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*color, 1.0)
    return made
