"""Meshes that the armature of a robot deforms."""

from __future__ import annotations

from collections import Counter

import bpy

from ..record.snapshot import is_robot


def bone_under_skin(shown: bpy.types.Object, face: int) -> tuple[bpy.types.Object, str] | None:
    """(robot, bone) of the bone that moves a face of a mesh most, by the weights of its corners. shown: the mesh as
    the viewport shows it, evaluated. None where no robot's armature deforms that face."""
    for modifier in shown.original.modifiers:
        robot = modifier.object if modifier.type == "ARMATURE" and modifier.show_viewport else None
        if robot is None or not is_robot(robot) or not 0 <= face < len(shown.data.polygons):
            continue
        weights: Counter[str] = Counter()
        for corner in shown.data.polygons[face].vertices:
            for group in shown.data.vertices[corner].groups:
                weights[shown.vertex_groups[group.group].name] += group.weight
        for name, weight in weights.most_common():
            if name in robot.data.bones and weight:
                return robot, name
    return None
