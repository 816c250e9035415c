"""Meshes of a robot that were found after it was imported: into its records, and into the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import bpy

from ...robokin.model.geometry import Geometry, Mesh
from ...robokin.model.link import Link
from .editing.records import bone_record, edit_records
from .model.binding import binding
from .visuals.gltf_axes import with_gltf_axes
from .visuals.link_visuals import VisualMeshes, add_visuals
from .visuals.new_data import all_or_nothing, collections_for


def show_found_meshes(context: bpy.types.Context, obj: bpy.types.Object, found: Mapping[str, str]) -> list[str]:
    """Warnings. found: {file name as the description has it: path}. The visuals with these files are added to the
    robot's collection. Raises BridgeError, ModelError, and then changes nothing."""
    robot, records, places = binding(obj), {}, set()
    stored = [bone_record(obj.data.bones[bone]) for bone in robot.bones]
    links = with_gltf_axes([_with_paths(record.link, found) for record in stored])
    for record, link, bone in zip(stored, links, robot.bones, strict=True):
        places |= {(bone, i) for i, each in enumerate(record.link.visuals) if _with_path(each, found) != each}
        if link is not record.link:
            records[bone] = dataclasses.replace(record, link=link)
    edit_records(context, obj, records)
    with all_or_nothing():
        meshes = VisualMeshes(binding(obj).model)
        worn = next((child for child in obj.children if child.type == "MESH"), obj)
        add_visuals(obj, binding(obj), meshes, collections_for(worn)[0], places)
        context.view_layer.update()
    return [warning for warning in meshes.warnings if "not found" not in warning]


def _with_paths(link: Link, found: Mapping[str, str]) -> Link:
    visuals, collisions = (
        tuple(_with_path(each, found) for each in shapes) for shapes in (link.visuals, link.collisions)
    )
    if visuals == link.visuals and collisions == link.collisions:
        return link
    return dataclasses.replace(link, visuals=visuals, collisions=collisions)


def _with_path(geometry: Geometry, found: Mapping[str, str]) -> Geometry:
    shape = geometry.shape
    if not isinstance(shape, Mesh) or shape.path is not None or shape.filename not in found:
        return geometry
    return dataclasses.replace(geometry, shape=dataclasses.replace(shape, path=found[shape.filename]))
