"""Collision shapes of links, made from their meshes; obstacles."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import is_robot
from ...properties.collection import marked_collections
from ...properties.results.result_text import in_scene_units
from ...robokin import RobokinError
from ...robokin.collision.fitting import KINDS
from ...robokin.units import small_length
from ...scene.link_shapes import fit_shapes
from ...scene.obstacle_shapes import farthest_beyond
from ...scene.obstacles import hangs_on
from ..modal import ModalOperator

SHAPES = (
    ("LEAST", "Least Volume", "The box, capsule or sphere of least volume"),
    *((kind.upper().replace(" ", "_"), kind.title(), f"A {kind} around each mesh") for kind in KINDS if kind != "hull"),
    ("HULL", "Hull", "The convex hull of a few corners of each mesh, rounded so that nothing is outside"),
    ("PARTS", "Convex Parts", "Hulls that cover each mesh and keep its holes"),
)


class ROBOKIN_OT_fit_collisions(ModalOperator, bpy.types.Operator):
    """Give each link a collision shape around each of its meshes, in place of those that it has"""

    bl_idname = "robokin.fit_collisions"
    bl_label = "Fit Collision Shapes"

    shape: bpy.props.EnumProperty(name="Shape", description="What is put around a mesh", items=SHAPES)
    around: bpy.props.EnumProperty(
        name="Around",
        description="Which meshes",
        items=(
            ("VISUALS", "Objects", "Mesh objects on the bones, in place of all shapes of their links"),
            ("COLLISIONS", "Collision Meshes", "The collision meshes of the description, in place of these"),
        ),
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        kind = self.shape.lower().replace("_", " ")
        made = yield from fit_shapes(context, obj, kind, self.around.lower())
        self.report({"INFO"}, in_scene_units(context.scene, str(made)))


class ROBOKIN_OT_obstacle(ModalOperator, bpy.types.Operator):
    """Mark the selected mesh objects, or instances of collections, as obstacles, which robots may not touch"""

    bl_idname = "robokin.obstacle"
    bl_label = "Mark as Obstacle"

    clear: bpy.props.BoolProperty(name="Clear", description="Take the mark away", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if any(map(_may_be, context.selected_objects)):
            return True
        cls.poll_message_set("Select mesh objects, or instances of collections, first")
        return False

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object | None) -> Generator[float, None, None]:
        chosen = [each for each in context.selected_objects if _may_be(each)]
        context.view_layer.update()
        level, text = "INFO", f"obstacles: {_named(chosen)}"
        if self.clear:
            within = {each for marked in marked_collections(context.scene) for each in marked.all_objects}
            kept = [each for each in chosen if each in within]
            level = "WARNING" if kept else "INFO"
            text = f"no mark of their own any more: {_named(chosen)}"
            text += f"; still obstacles by their collection: {_named(kept)}" if kept else ""
        else:
            try:
                reach, name = yield from self._reach(context.scene, obj, set(chosen))
                text += f"; their convex parts reach at most {small_length(reach)} beyond the meshes" if name else ""
                text += f" ({name})" if name else ""
            except RobokinError as error:
                level, text = "WARNING", f"{text}; {error}"
            robots = [each for each in context.scene.objects if is_robot(each)]
            if parts := [each for each in chosen if any(hangs_on(each, robot) for robot in robots)]:
                level = "WARNING"
                text += f"; no obstacle of the robot that carries it on a bone: {_named(parts)}"
                text += ", run Fit Collision Shapes there to make it a part of that robot"
        for each in chosen:
            each.robokin.is_obstacle = not self.clear
        self.report({level}, in_scene_units(context.scene, text))

    def _reach(
        self, scene: bpy.types.Scene, obj: bpy.types.Object | None, chosen: set[bpy.types.Object]
    ) -> Generator[float, None, tuple[float, str]]:
        robot = obj or next(filter(is_robot, scene.objects), None)
        return (0.0, "") if robot is None else (yield from farthest_beyond(scene, robot, chosen))


def _named(objects: list[bpy.types.Object]) -> str:
    return ", ".join(obj.name for obj in objects[:6]) + (" ..." if len(objects) > 6 else "")


def _may_be(obj: bpy.types.Object) -> bool:
    return obj.type == "MESH" or obj.instance_type == "COLLECTION"


CLASSES = (ROBOKIN_OT_fit_collisions, ROBOKIN_OT_obstacle)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
