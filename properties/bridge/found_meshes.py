"""Meshes of a robot that were found after it was imported: into its records, and into the scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import bpy

from ...robokin.model.geometry import Geometry, Mesh
from ...robokin.model.link import Link
from .editing.records import bone_record, edit_records
from .model.binding import binding
from .visuals.gltf_axes import gltf_is_y_up, is_gltf
from .visuals.link_visuals import VisualMeshes, add_visuals
from .visuals.new_data import all_or_nothing, collections_for


def show_found_meshes(context: bpy.types.Context, obj: bpy.types.Object, found: Mapping[str, str]) -> list[str]:
    """Warnings. found: {file name as the description has it: path}. The visuals with these files are added to the
    robot's collection. Raises BridgeError, ModelError, and then changes nothing."""
    robot, records, places = binding(obj), {}, set()
    stored = [bone_record(obj.data.bones[bone]) for bone in robot.bones]
    y_up = gltf_is_y_up([_with_paths(record.link, found, False) for record in stored])
    if y_up is None:  # as the others
        shapes = [each.shape for record in stored for each in record.link.visuals]
        y_up = any(isinstance(shape, Mesh) and shape.path and shape.y_up for shape in shapes)
    links = [_with_paths(record.link, found, y_up) for record in stored]
    for record, link, bone in zip(stored, links, robot.bones, strict=True):
        places |= {(bone, i) for i, each in enumerate(record.link.visuals) if _is_found(each, found)}
        if link is not record.link:
            records[bone] = dataclasses.replace(record, link=link)
    edit_records(context, obj, records)
    with all_or_nothing():
        meshes = VisualMeshes(binding(obj).model)
        worn = next((child for child in obj.children if child.type == "MESH"), obj)
        add_visuals(obj, binding(obj), meshes, collections_for(worn)[0], places)
        context.view_layer.update()
    return [warning for warning in meshes.warnings if "not found" not in warning]


def _with_paths(link: Link, found: Mapping[str, str], y_up: bool) -> Link:
    """The link with what was found, glTF files with that way up; itself where nothing was."""
    visuals, collisions = (
        tuple(_with_path(each, found, y_up) if _is_found(each, found) else each for each in shapes)
        for shapes in (link.visuals, link.collisions)
    )
    if visuals == link.visuals and collisions == link.collisions:
        return link
    return dataclasses.replace(link, visuals=visuals, collisions=collisions)


def _is_found(geometry: Geometry, found: Mapping[str, str]) -> bool:
    shape = geometry.shape
    return isinstance(shape, Mesh) and shape.path is None and shape.filename in found


def _with_path(geometry: Geometry, found: Mapping[str, str], y_up: bool) -> Geometry:
    shape = geometry.shape
    assert isinstance(shape, Mesh)
    own = dataclasses.replace(shape, path=found[shape.filename], y_up=y_up and is_gltf(geometry))
    return dataclasses.replace(geometry, shape=own)
