"""A mesh that the armature of a robot deforms: which bone moves what one clicks."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, write_configuration
from robokin_addon.properties.bridge.visuals.link_surfaces import link_surfaces
from robokin_addon.properties.bridge.visuals.skins import bone_under_skin
from support.blender.rigs import ARM, add_rig

SIDES = 4


def add_skin(robot: bpy.types.Object, shared: float = 0.01) -> bpy.types.Object:
    """A tube around each bone, of one mesh, which all bones have a share in."""
    points, faces, weights = [], [], []
    for bone in robot.data.bones:
        across, up = (bone.matrix_local.col[k].to_3d() for k in (0, 2))
        for share in (0.0, 1.0):
            centre = bone.head_local.lerp(bone.tail_local, share)
            for k in range(SIDES):
                angle = 2.0 * math.pi * k / SIDES
                points.append(centre + 0.05 * (math.cos(angle) * across + math.sin(angle) * up))
                weights.append(dict.fromkeys(robot.data.bones.keys(), shared) | {bone.name: 0.9})
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


def world_triangles(skin: bpy.types.Object) -> np.ndarray:
    """(n, 3, 3) as Blender deforms it."""
    shown = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
    data = shown.to_mesh()
    data.calc_loop_triangles()
    points = np.array([skin.matrix_world @ vertex.co for vertex in data.vertices])
    triangles = points[[tuple(each.vertices) for each in data.loop_triangles]]
    shown.to_mesh_clear()
    return triangles


def test_the_surface_of_a_link_is_what_its_bone_moves_of_a_skin(scene):
    """Where Blender's own deformation has it, in a pose, of a robot that has been moved, with what a modifier adds."""
    robot = add_rig(ARM)
    skin = add_skin(robot, shared=0.0)
    skin.parent = robot
    skin.modifiers.new("Mirror", "MIRROR").use_mirror_merge = False
    skin.modifiers.move(1, 0)
    robot.location, robot.rotation_euler = (1.0, -2.0, 0.5), (0.3, 0.2, -0.9)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    bound = binding(robot)
    write_configuration(robot, 0.4 * np.ones(bound.model.nq))
    bpy.context.view_layer.update()
    found = []
    for bone, surfaces in link_surfaces(bpy.context, robot, bound, bound.bones):
        posed = np.array(robot.matrix_world @ robot.pose.bones[bone].matrix)
        T = posed @ np.block([[bound.frames[bound.bones.index(bone)].T, np.zeros((3, 1))], [0, 0, 0, 1]])
        assert [surface.mesh for surface in surfaces] == ["skin"] and len(surfaces[0].triangles) == 4 * SIDES
        found.append(surfaces[0].triangles @ T[:3, :3].T + T[:3, 3])
    found, expected = (each.reshape(-1, 9) for each in (np.concatenate(found), world_triangles(skin)))
    away = abs(found[:, None] - expected).max(axis=2)
    assert away.shape == (len(found), len(found))
    assert max(away.min(axis=0).max(), away.min(axis=1).max()) < 1e-5
    assert skin.modifiers["Armature"].show_viewport


def test_shapes_are_fitted_and_masses_are_found_from_a_skin(scene, capfd):
    robot = add_rig(ARM)
    skin = add_skin(robot)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.fit_collisions() == {"FINISHED"}
    assert all(link.collisions for link in binding(robot).model.links[: len(robot.data.bones)])
    assert bpy.ops.robokin.inertia_from_mesh(which="ALL", by="DENSITY", density=1000.0) == {"FINISHED"}
    assert "not closed" not in capfd.readouterr().out  # a part of a skin never is: it has its hull
    bone = robot.data.bones[-1]
    k = binding(robot).bones.index(bone.name)
    assert binding(robot).model.links[k].mass == pytest.approx(1000.0 * 2.0 * 0.05**2 * bone.length, rel=1e-4)
    skin.modifiers.remove(skin.modifiers["Armature"])
    with pytest.raises(RuntimeError, match="no mesh with faces is parented to or deformed by a bone of"):
        bpy.ops.robokin.fit_collisions()


def test_what_is_hidden_or_on_a_bone_is_no_skin(scene):
    """On a bone it counts once, as what hangs there."""
    robot = add_rig(ARM)
    skin = add_skin(robot)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    bound = binding(robot)
    skin.hide_viewport = True
    assert not any(surfaces for _, surfaces in link_surfaces(bpy.context, robot, bound, bound.bones))
    skin.hide_viewport = False
    skin.parent, skin.parent_type, skin.parent_bone = robot, "BONE", bound.bones[-1]
    bpy.context.view_layer.update()
    counts = {bone: len(surfaces) for bone, surfaces in link_surfaces(bpy.context, robot, bound, bound.bones)}
    assert counts == {bone: int(bone == bound.bones[-1]) for bone in bound.bones}


def test_weights_count_as_shares_of_each_vertex(scene):
    """A triangle whose first vertex is moved by one bone alone, however little it weighs, and the others a little more
    by another one."""
    robot = add_rig(ARM)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    bound = binding(robot)
    first, last = bound.bones[0], bound.bones[-1]
    mesh = bpy.data.meshes.new("triangle")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    skin = bpy.data.objects.new("triangle", mesh)
    scene.collection.objects.link(skin)
    for name, weights in ((first, (0.1, 0.2, 0.2)), (last, (0.0, 0.3, 0.3))):
        group = skin.vertex_groups.new(name=name)
        for vertex, weight in enumerate(weights):
            group.add([vertex], weight, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = robot
    bpy.context.view_layer.update()
    found = dict(link_surfaces(bpy.context, robot, bound, bound.bones))
    assert [bone for bone, surfaces in found.items() if surfaces] == [first]
