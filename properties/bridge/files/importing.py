"""A robot model into the scene: collection, armature, visuals; all or nothing."""

from __future__ import annotations

from dataclasses import replace

import bpy

from ....robokin.inertia import inertia_warnings
from ....robokin.limit_warnings import limit_warnings
from ....robokin.model.robot import RobotModel
from ..editing.build import build_armature
from ..model.binding import binding
from ..visuals.gltf_axes import gltf_is_y_up, turned
from ..visuals.link_visuals import VisualMeshes, add_visuals
from ..visuals.new_data import all_or_nothing

MADE = "robokin_collection"  # on a collection: it was made for a robot, and goes with it


def import_robot(
    context: bpy.types.Context, model: RobotModel, *, meshes: bool = True
) -> tuple[bpy.types.Object, list[str]]:
    """(armature object, warnings): `model` in a new collection of the scene, its visuals in a collection below it.

    Leaves Blender in Object Mode with the robot active and selected. Raises RobokinError, and then leaves nothing.
    """
    if gltf_is_y_up(model.links):
        links = [replace(e, visuals=turned(e.visuals), collisions=turned(e.collisions)) for e in model.links]
        model = RobotModel(model.name, links, model.joints[1:], model.root, model.drive)
    with all_or_nothing():
        visuals = VisualMeshes(model) if meshes else None
        collection = _new_collection(model.name)
        context.scene.collection.children.link(collection)
        obj = build_armature(context, collection, model)
        if visuals is not None:
            below = _new_collection(f"{model.name} Visuals")
            collection.children.link(below)
            add_visuals(obj, binding(obj), visuals, below)
        context.view_layer.update()
    left_out = visuals.warnings if visuals is not None else []
    return obj, [*left_out, *inertia_warnings(model), *limit_warnings(model)]


def _new_collection(name: str) -> bpy.types.Collection:
    found = bpy.data.collections.new(name)
    found[MADE] = True
    return found
