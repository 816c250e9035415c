"""Collision shapes of links, made from their meshes; obstacles."""

from __future__ import annotations

import dataclasses

import bpy
import numpy as np

from ...properties.bridge import binding, is_robot
from ...properties.bridge.editing.records import bone_record, edit_records
from ...properties.bridge.record.reading import read_robot
from ...properties.bridge.record.rescale import rescaled_link
from ...properties.bridge.record.snapshot import metres_per_unit
from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.bridge.visuals.link_meshes import link_meshes, link_triangles
from ...properties.collection import marked_collections
from ...properties.selected.active_robot import active_robot
from ...robokin import Link, RobokinError
from ...robokin.collision.fitting import KINDS, fitted
from ...robokin.model.geometry import Geometry
from ...scene.obstacles import farthest_beyond
from ..common import RobotOperator


class ROBOKIN_OT_fit_collisions(RobotOperator, bpy.types.Operator):
    """Give each link a collision shape around each of its meshes, in place of those that it has"""

    bl_idname = "robokin.fit_collisions"
    bl_label = "Fit Collision Shapes"

    shape: bpy.props.EnumProperty(
        name="Shape",
        description="What is put around a mesh",
        items=(
            ("LEAST", "Least Volume", "The one of least volume"),
            *((kind.upper(), kind.title(), f"A {kind} around each mesh") for kind in KINDS),
        ),
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot, depsgraph = binding(obj), context.evaluated_depsgraph_get()
        kinds = KINDS if self.shape == "LEAST" else (self.shape.lower(),)
        ratio = read_robot(obj.data[ROBOT_KEY], obj.data.name).metres_per_unit / metres_per_unit(obj)
        records, worst, count = {}, (0.0, ""), 0
        for bone in robot.bones:
            shapes = []
            for mesh in link_meshes(obj, bone):
                triangles, _ = link_triangles(depsgraph, obj, robot, mesh)
                if len(triangles):
                    fit = fitted(np.asarray(triangles, float).reshape(-1, 3), kinds)
                    shapes.append(Geometry(fit.shape, fit.placement))
                    worst = max(worst, (fit.gap, bone))
            if shapes:
                record = bone_record(obj.data.bones[bone])
                own = rescaled_link(Link("shapes", collisions=tuple(shapes)), ratio).collisions
                link = dataclasses.replace(record.link, collisions=own)
                records[bone], count = dataclasses.replace(record, link=link), count + len(shapes)
        if not records:
            raise RobokinError(f"no mesh with faces is parented to a bone of {obj.name!r}")
        edit_records(context, obj, records)
        self.report(
            {"INFO"}, f"{count} shapes on {len(records)} links; they reach at most {1e3 * worst[0]:.3g} mm beyond "
            f"the convex hulls of the meshes ({worst[1]})"
        )  # fmt: skip
        return {"FINISHED"}


class ROBOKIN_OT_obstacle(bpy.types.Operator):
    """Mark the selected mesh objects, or instances of collections, as obstacles, which robots may not touch"""

    bl_idname = "robokin.obstacle"
    bl_label = "Mark as Obstacle"
    bl_options = {"REGISTER", "UNDO"}

    clear: bpy.props.BoolProperty(name="Clear", description="Take the mark away", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if any(map(_may_be, context.selected_objects)):
            return True
        cls.poll_message_set("Select mesh objects, or instances of collections, first")
        return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen = [obj for obj in context.selected_objects if _may_be(obj)]
        for obj in chosen:
            obj.robokin.is_obstacle = not self.clear
        context.view_layer.update()
        if self.clear:
            within = {obj for each in marked_collections(context.scene) for obj in each.all_objects}
            text, kept = f"no mark of their own any more: {_named(chosen)}", [obj for obj in chosen if obj in within]
            level = "WARNING" if kept else "INFO"
            text += f"; still obstacles by their collection: {_named(kept)}" if kept else ""
        else:
            level, text = self._reach(context, chosen)
            text = f"obstacles: {_named(chosen)}{text}"
        self.report({level}, text)
        return {"FINISHED"}

    def _reach(self, context: bpy.types.Context, chosen: list[bpy.types.Object]) -> tuple[str, str]:
        robot = active_robot(context) or next(filter(is_robot, context.scene.objects), None)
        try:
            reach, name = (0.0, "") if robot is None else farthest_beyond(context.scene, robot, set(chosen))
        except RobokinError as error:
            return "WARNING", f"; {error}"
        return (
            "INFO",
            f"; their convex parts reach at most {1e3 * reach:.3g} mm beyond the meshes ({name})" if name else "",
        )


def _named(objects: list[bpy.types.Object]) -> str:
    return ", ".join(obj.name for obj in objects[:6]) + (" ..." if len(objects) > 6 else "")


def _may_be(obj: bpy.types.Object) -> bool:
    return obj.type == "MESH" or obj.instance_type == "COLLECTION"


CLASSES = (ROBOKIN_OT_fit_collisions, ROBOKIN_OT_obstacle)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
