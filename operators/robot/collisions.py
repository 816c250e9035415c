"""Collision shapes of links, made from their meshes; obstacles."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator

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
from ...robokin import Link, RobokinError
from ...robokin.collision.fitting import KINDS, fitted
from ...robokin.model.geometry import Geometry
from ...scene.obstacle_shapes import farthest_beyond
from ..common import RobotOperator
from ..modal import ModalOperator


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
                text += f"; their convex parts reach at most {1e3 * reach:.3g} mm beyond the meshes" if name else ""
                text += f" ({name})" if name else ""
            except RobokinError as error:
                level, text = "WARNING", f"{text}; {error}"
        for each in chosen:
            each.robokin.is_obstacle = not self.clear
        self.report({level}, text)

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
