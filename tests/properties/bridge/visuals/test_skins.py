"""A mesh that the armature of a robot deforms: which bone moves what one clicks."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, write_configuration
from robokin_addon.properties.bridge.visuals.skins import bone_under_skin
from support.blender.rigs import ARM, add_rig

SIDES = 4


def add_skin(robot: bpy.types.Object) -> bpy.types.Object:
    """A tube around each bone, of one mesh, which all bones have a share in."""
    points, faces, weights = [], [], []
    for bone in robot.data.bones:
        across, up = (bone.matrix_local.col[k].to_3d() for k in (0, 2))
        for share in (0.0, 1.0):
            centre = bone.head_local.lerp(bone.tail_local, share)
            for k in range(SIDES):
                angle = 2.0 * math.pi * k / SIDES
                points.append(centre + 0.05 * (math.cos(angle) * across + math.sin(angle) * up))
                weights.append(dict.fromkeys(robot.data.bones.keys(), 0.01) | {bone.name: 0.9})
        first = len(points) - 2 * SIDES
        for k in range(SIDES):
            a, b = first + k, first + (k + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata(points, [], faces)
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.vertex_groups.new(name="painted by hand")
    for vertex, own in enumerate(weights):
        for name, weight in {**own, "painted by hand": 1.0}.items():
            group = skin.vertex_groups.get(name) or skin.vertex_groups.new(name=name)
            group.add([vertex], weight, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = robot
    return skin


@pytest.mark.parametrize("smooth", [False, True])
def test_the_bone_that_moves_a_face_most_is_under_it(scene, smooth):
    """Seen from each side of each bone, in another pose, and where a modifier makes more faces of each."""
    robot = add_rig(ARM)
    skin = add_skin(robot)
    if smooth:
        skin.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    model = binding(robot).model
    write_configuration(robot, 0.4 * np.ones(model.nq))
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for bone in robot.pose.bones:
        middle = robot.matrix_world @ bone.head.lerp(bone.tail, 0.6)
        out = (bone.x_axis + bone.z_axis).normalized()
        hit, _, _, face, found, _ = scene.ray_cast(depsgraph, middle, out)
        assert hit and found.original == skin
        assert bone_under_skin(found.evaluated_get(depsgraph), face) == (robot, bone.name)
    skin.modifiers["Armature"].show_viewport = False
    assert bone_under_skin(skin.evaluated_get(bpy.context.evaluated_depsgraph_get()), 0) is None
    assert bone_under_skin(skin.evaluated_get(bpy.context.evaluated_depsgraph_get()), -1) is None
