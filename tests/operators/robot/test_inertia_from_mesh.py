"""Inertia from the meshes on a robot's bones, against closed forms."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix
from robokin_addon.properties.bridge import adopt_unit, build_armature, robot_model
from robokin_addon.robokin import Joint, Link, RobotModel, load_urdf
from robokin_addon.robokin.inertia import box, implausible_links
from robokin_addon.robokin.spatial.se3 import placement
from robokin_addon.robokin.spatial.so3 import exp
from support.robots import robot

SIZE = (0.2, 0.3, 0.5)


def two_links(unit: float = 1.0) -> bpy.types.Object:
    """A hinge about a skew axis, its frame turned and moved."""
    scene = bpy.context.scene
    scene.unit_settings.scale_length = unit
    T = placement(exp([0.3, -0.8, 0.4]), np.array([0.4, 0.1, 0.7]))
    joints = [Joint("hinge", "revolute", "base", "arm", placement=T, axis=(0, 0.6, 0.8), lower=-2.0, upper=2.0)]
    obj = build_armature(bpy.context, scene.collection, RobotModel("two", [Link("base"), Link("arm")], joints))
    obj.data.bones.active = obj.data.bones["hinge"]
    return obj


def put_box(obj: bpy.types.Object, bone: str, unit: float = 1.0, mirrored: bool = False, size=SIZE) -> np.ndarray:
    """A box of SIZE on a bone, anyhow placed; T_link_box [m]."""
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    cube = bpy.context.object
    cube.parent, cube.parent_type, cube.parent_bone = obj, "BONE", bone
    cube.location = (0.3 / unit, -0.1 / unit, 0.2 / unit)
    cube.rotation_euler = Euler((0.4, 1.1, -0.7))
    cube.scale = [edge / unit for edge in size]
    if mirrored:
        cube.scale.x *= -1.0
    bpy.context.view_layer.update()
    obj.pose.bones[bone].rotation_euler[1] = 0.0
    bpy.context.view_layer.update()
    # Where Blender shows it, with the robot at rest and its object in the origin, against the link's rest frame.
    world = np.array(cube.matrix_world)
    world[:3, :3] = Matrix(world[:3, :3].tolist()).to_quaternion().to_matrix() if not mirrored else np.eye(3)
    world[:3, 3] *= unit
    model = robot_model(obj)
    T_root_link = model.joint("hinge").placement if bone == "hinge" else np.eye(4)
    bpy.context.view_layer.objects.active = obj
    return np.linalg.inv(T_root_link) @ world


def arm(obj: bpy.types.Object) -> Link:
    return robot_model(obj).links[1]


def masses(name: str) -> list[float]:
    """By the object's name: an undo makes all objects anew."""
    return [link.mass for link in robot_model(bpy.data.objects[name]).links]


@pytest.mark.parametrize("unit", [1.0, 0.001, 0.0254])
@pytest.mark.parametrize("angle", [0.0, 1.3])
def test_a_box_on_a_bone(scene, unit, angle):
    obj = two_links(unit)
    T = put_box(obj, "hinge", unit)
    obj.pose.bones["hinge"].rotation_euler[1] = angle  # the pose does not matter
    obj.location = (3.0, -2.0, 1.0)
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.inertia_from_mesh(material="STEEL") == {"FINISHED"}
    wanted = box(SIZE).times(7850.0).moved(T)
    assert arm(obj).mass == pytest.approx(wanted.mass, rel=1e-6)
    assert arm(obj).com == pytest.approx(wanted.com, abs=1e-6)
    assert arm(obj).inertia == pytest.approx(wanted.inertia, abs=1e-6 * abs(wanted.inertia).max())
    assert robot_model(obj).links[0].mass == 0.0


def test_numbers_are_kept_in_double_precision(scene):
    obj = two_links()
    put_box(obj, "hinge", size=(0.1, 0.1, 0.1))
    bpy.ops.robokin.inertia_from_mesh(by="MASS", mass=0.7)
    mass = arm(obj).mass
    assert mass == float(np.float32(0.7))  # an operator's property is single precision; nothing more is lost
    moments = arm(obj).inertia
    assert np.count_nonzero(moments != moments.astype(np.float32)) > 3
    again = robot_model(obj)
    obj.data.bones["hinge"].robokin.damping = 0.5
    assert robot_model(obj) is not again and np.array_equal(arm(obj).inertia, moments)


def test_a_mirrored_object_and_modifiers(scene):
    obj = two_links()
    put_box(obj, "hinge", mirrored=True)
    cube = obj.children[0]
    modifier = cube.modifiers.new("more", "ARRAY")
    modifier.count, modifier.relative_offset_displace = 2, (2.0, 0.0, 0.0)
    assert bpy.ops.robokin.inertia_from_mesh(density=100.0) == {"FINISHED"}
    assert arm(obj).mass == pytest.approx(2 * math.prod(SIZE) * 100.0, rel=1e-6)


def test_mass_is_shared_by_volume_and_comes_back_with_one_undo(scene):
    obj = two_links()
    put_box(obj, "hinge")
    put_box(obj, "base", size=(0.1, 0.3, 0.5))
    name = obj.name
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.robokin.inertia_from_mesh("EXEC_DEFAULT", True, which="ALL", by="MASS", mass=9.0) == {"FINISHED"}
    assert masses(name) == pytest.approx([3.0, 6.0], rel=1e-6)
    bpy.ops.ed.undo()
    assert masses(name) == [0.0, 0.0]
    bpy.ops.ed.redo()
    assert masses(name) == pytest.approx([3.0, 6.0], rel=1e-6)


@pytest.mark.parametrize(
    "method, volume",
    [
        ("HULL", math.prod(SIZE)),
        ("BOX", math.prod(SIZE)),
        ("SPHERE", math.pi / 6 * 0.5**3),
        ("CYLINDER", math.pi * 0.15**2 * 0.5),
        ("CAPSULE", math.pi * 0.15**2 * (0.2 + 0.2)),
    ],
)
def test_shapes_around_a_mesh(scene, method, volume):
    obj = two_links()
    T = put_box(obj, "hinge")
    assert bpy.ops.robokin.inertia_from_mesh(method=method, density=10.0) == {"FINISHED"}
    assert arm(obj).mass == pytest.approx(10.0 * volume, rel=1e-5)
    assert arm(obj).com == pytest.approx(T[:3, 3], abs=1e-6)


def test_an_open_mesh_has_its_hull_and_a_link_without_mesh_is_an_error(scene):
    obj = two_links()
    with pytest.raises(RuntimeError, match=r"no mesh with faces is parented to or deformed by 'hinge'"):
        bpy.ops.robokin.inertia_from_mesh(which="ACTIVE")
    put_box(obj, "hinge")
    mesh = obj.children[0].data

    import bmesh  # there once bpy is

    opened = bmesh.new()
    opened.from_mesh(mesh)
    opened.faces.ensure_lookup_table()
    bmesh.ops.delete(opened, geom=[opened.faces[0]], context="FACES_ONLY")
    opened.to_mesh(mesh)
    assert bpy.ops.robokin.inertia_from_mesh(density=1.0) == {"FINISHED"}
    assert arm(obj).mass == pytest.approx(math.prod(SIZE), rel=1e-6)
    before = arm(obj)
    opened.clear()
    for corner in ((0, 0, 0), (1, 0, 0), (0, 1, 0)):
        opened.verts.new(corner)
    opened.faces.new(opened.verts)
    opened.to_mesh(mesh)
    with pytest.raises(RuntimeError, match=r"bone 'hinge', mesh .*no volume"):
        bpy.ops.robokin.inertia_from_mesh()
    assert arm(obj) is before


def test_real_robots_get_inertias_that_bodies_can_have(scene):
    for name in ("ur5_robot", "kinova"):
        bpy.ops.robokin.import_urdf(filepath=str(robot(name)))
        obj = bpy.context.object
        assert bpy.ops.robokin.inertia_from_mesh(which="ALL", material="ALUMINIUM") == {"FINISHED"}
        model = robot_model(obj)
        assert 5.0 < model.total_mass < 50.0 and not implausible_links(model)
        assert len(model.links) == len(load_urdf(robot(name)).links)


def test_inertia_after_a_change_of_the_unit_scale(scene):
    obj = two_links()
    put_box(obj, "hinge")
    bpy.context.scene.unit_settings.scale_length = 0.5
    assert bpy.ops.robokin.inertia_from_mesh(density=8.0) == {"FINISHED"}
    assert arm(obj).mass == pytest.approx(math.prod(SIZE), rel=1e-6)
    kept = arm(obj)
    adopt_unit(obj)
    assert arm(obj).com == pytest.approx(kept.com, rel=1e-12)
