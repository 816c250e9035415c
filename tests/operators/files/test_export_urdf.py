"""A robot armature as a URDF: Pinocchio and our reader find the same robot, with what was modelled in Blender."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import bpy
import numpy as np
import pinocchio as pin
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import (
    binding,
    build_armature,
    import_robot,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.properties.bridge.visuals.meshes import read_mesh
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    clamp,
    forward_kinematics,
    load_urdf,
    missing_meshes,
    random_configuration,
)
from robokin_addon.robokin.model.geometry import Box, Mesh
from support.blender.rigs import ARM, add_rig
from support.oracles.compare import compare_models
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot as urdf_of
from support.robots import robot_data


def export(obj, path):
    with bpy.context.temp_override(object=obj):
        assert bpy.ops.robokin.export_urdf(filepath=str(path)) == {"FINISHED"}
    return load_urdf(path, [robot_data().parent.parent])


def warnings(obj, path):
    """What is said of the export, one line each."""
    from robokin_addon.properties.bridge import export_urdf

    return export_urdf(obj, str(path), bpy.context.evaluated_depsgraph_get())


@pytest.mark.parametrize("name", ["panda", "go2", "ur5_robot", "talos_full_v2", "so100", "romeo"])
def test_an_imported_robot_is_written_as_it_was_read(scene, tmp_path, name):
    model = load_urdf(urdf_of(name))
    obj, _ = import_robot(bpy.context, model)
    found = export(obj, tmp_path / "robot.urdf")
    assert compare_models(found, model) == []
    assert not (tmp_path / "meshes").exists()
    assert missing_meshes(found) == []
    names = [[g.shape.filename for g in link.visuals if isinstance(g.shape, Mesh)] for link in model.links]
    assert [[g.shape.filename for g in link.visuals if isinstance(g.shape, Mesh)] for link in found.links] == names
    oracle = Oracle.from_urdf(found, tmp_path / "robot.urdf")
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = random_configuration(model, rng)
        frames, shown = forward_kinematics(model, q), oracle.frames(q)
        assert all(np.allclose(frames[link], shown[link], rtol=0, atol=1e-9) for link in model.link_names)


@pytest.fixture
def rig(scene):
    """A hand-made robot in a scene of centimetres, with meshes on its bones, moved and scaled as a whole."""
    scene.unit_settings.scale_length = 0.01
    obj = add_rig(ARM)
    bpy.ops.robokin.make_robot()
    obj.location, obj.rotation_euler, obj.scale = (3, -2, 1), (0.2, 0.4, -0.3), (1.5,) * 3
    bpy.context.view_layer.update()
    return obj


def add_cube(obj, bone, name="part", matrix=None):
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    child = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(child)
    child.parent, child.parent_type, child.parent_bone = obj, "BONE", bone
    child.matrix_basis = matrix or Matrix.Translation((0.3, 0.5, -0.2)) @ Matrix.Rotation(0.7, 4, (1, 2, 3))
    return child


def material(name, color, alpha=1.0):
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Alpha"].default_value = alpha
    return made


def seen(child):
    """(n, 3) sorted points of the object as Blender shows it, in its robot's space, metres."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = child.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    place = child.find_armature() or next(o for o in bpy.data.objects if o.type == "ARMATURE")
    T = place.evaluated_get(depsgraph).matrix_world.inverted() @ evaluated.matrix_world
    points = np.array([T @ v.co for v in mesh.vertices]) * bpy.context.scene.unit_settings.scale_length
    evaluated.to_mesh_clear()
    return points


def written(model, q, folder):
    """(n, 3) points of all meshes of the URDF, where the robot stands at q."""
    frames = forward_kinematics(model, q)
    parts = []
    for link in model.links:
        for geometry in link.visuals:
            points = read_mesh(str(folder / geometry.shape.filename)).vertices * geometry.shape.scale
            T = frames[link.name] @ geometry.placement
            parts.append(points @ T[:3, :3].T + T[:3, 3])
    return np.concatenate(parts)


def same_points(a, b, exact):
    """Whether every point of one set has one of the other nearby, both ways."""
    distances = np.linalg.norm(a[:, None] - b[None], axis=2)
    return distances.min(axis=1).max() < exact and distances.min(axis=0).max() < exact


@pytest.mark.parametrize(
    "matrix",
    [
        Matrix.Identity(4),
        Matrix.Translation((0.3, 0.5, -0.2)) @ Matrix.Rotation(0.7, 4, (1, 2, 3)),
        Matrix.Diagonal((0.2, 1.5, 0.7, 1.0)),
        Matrix.Translation((1, 0, 0)) @ Matrix.Diagonal((-0.5, 0.5, 0.5, 1.0)),
        Matrix.Diagonal((-0.5, -0.25, -1.0, 1.0)),
    ],
)
def test_what_was_modelled_is_where_blender_shows_it(rig, tmp_path, matrix):
    bone = rig.data.bones[-1].name
    child = add_cube(rig, bone, matrix=matrix)
    below = add_cube(rig, bone, "below")
    below.parent, below.parent_type = child, "OBJECT"
    model = robot_model(rig)
    q = clamp(model, random_configuration(model, np.random.default_rng(2)))
    write_configuration(rig, q)
    bpy.context.view_layer.update()
    found = export(rig, tmp_path / "arm.urdf")
    assert sorted(os.listdir(tmp_path)) == ["arm.urdf", "meshes"]
    assert sorted(os.listdir(tmp_path / "meshes")) == ["arm_below.stl", "arm_part.stl"]
    assert missing_meshes(found) == []
    q = read_configuration(rig)
    points = written(found, found.configuration(dict(model.joint_values(q).items())), tmp_path)
    T = binding(rig).root
    points = points @ T[:3, :3].T + T[:3, 3]
    shown = np.concatenate([seen(child), seen(below)])
    size = abs(shown).max()
    assert same_points(points, shown, 3e-6 * max(size, 1.0))
    # Outside is outside: the volume enclosed is positive.
    for name in ("arm_below.stl", "arm_part.stl"):
        data = read_mesh(str(tmp_path / "meshes" / name))
        a, b, c = np.moveaxis(data.vertices[data.corners].reshape(-1, 3, 3).astype(float), 1, 0)
        assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() > 0


def test_hand_made_robots_have_the_same_kinematics_in_pinocchio(rig, tmp_path):
    """The joints' places come from single precision rest matrices, but are doubles from there on: nothing is lost."""
    model = robot_model(rig)
    found = export(rig, tmp_path / "arm.urdf")
    oracle = Oracle.from_urdf(found, tmp_path / "arm.urdf")
    rng = np.random.default_rng(3)
    same = [joint.name for joint in model.moving_joints if joint.name in {j.name for j in found.joints}]
    for _ in range(5):
        q = random_configuration(model, rng)
        values = {name: model.joint_values(q)[name] for name in same}
        frames = forward_kinematics(model, model.configuration(values))
        shown = oracle.frames(found.configuration(values))
        assert all(np.allclose(frames[link], shown[link], rtol=0, atol=1e-9) for link in model.link_names)


def test_materials_modifiers_curves_and_shared_meshes(rig, tmp_path):
    bone = rig.data.bones[-1].name
    cube = add_cube(rig, bone, "cube")
    for made in (material("red", (1, 0, 0)), material("glass", (0.2158605, 0.5, 1), 0.25)):
        cube.data.materials.append(made)
    for polygon in list(cube.data.polygons)[:2]:
        polygon.material_index = 1
    twin = add_cube(rig, bone, "twin", Matrix.Translation((5, 0, 0)))
    triplet = add_cube(rig, bone, "triplet", Matrix.Translation((7, 0, 0)))
    triplet.data = twin.data
    array = add_cube(rig, bone, "array", Matrix.Translation((0, 5, 0)))
    array.modifiers.new("Array", "ARRAY").count = 3
    curve = bpy.data.curves.new("wire", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.1
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0, 0, 1, 1)
    wire = bpy.data.objects.new("wire", curve)
    bpy.context.scene.collection.objects.link(wire)
    wire.parent, wire.parent_type, wire.parent_bone = rig, "BONE", bone
    bpy.context.view_layer.update()
    found = export(rig, tmp_path / "arm.urdf")
    assert sorted(os.listdir(tmp_path / "meshes")) == [
        "arm_array.stl",
        "arm_cube_glass.stl",
        "arm_cube_red.stl",
        "arm_triplet.stl",
        "arm_wire.stl",
    ]
    visuals = {g.name: g for link in found.links for g in link.visuals}
    assert visuals["twin"].shape.filename == visuals["triplet"].shape.filename
    assert len(read_mesh(str(tmp_path / "meshes/arm_array.stl")).sizes) == 36
    colors = {g.material.name: g.material.rgba for link in found.links for g in link.visuals if g.material}
    assert colors["red"] == (1, 0, 0, 1)
    assert colors["glass"] == pytest.approx((0.502, 0.735, 1, 0.25), abs=1e-3)


def test_what_cannot_be_written_is_said(rig, tmp_path):
    bone = rig.data.bones[-1].name
    skinned = add_cube(rig, bone, "skin")
    skinned.parent_type = "OBJECT"
    skinned.modifiers.new("Armature", "ARMATURE").object = rig
    held = add_cube(rig, bone, "held")
    held.constraints.new("COPY_LOCATION").target = skinned
    empty = bpy.data.objects.new("nothing", bpy.data.meshes.new("nothing"))
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", bone
    told = warnings(rig, tmp_path / "arm.urdf")
    for words in (("'skin'", "deformed"), ("'held'", "constraints"), ("'nothing'", "no faces")):
        assert any(all(word in line for word in words) for line in told), told
    assert not (tmp_path / "meshes").exists()


def test_visuals_of_the_description_that_were_changed(scene, tmp_path):
    urdf = tmp_path / "in" / "box.urdf"
    urdf.parent.mkdir()
    urdf.write_text(
        "<robot name='r'><link name='base'><visual name='v'><origin xyz='1 0 0'/><geometry>"
        "<box size='1 2 3'/></geometry></visual></link></robot>"
    )
    obj, _ = import_robot(bpy.context, load_urdf(urdf))
    child = obj.children[0]
    (link,) = export(obj, tmp_path / "a.urdf").links
    assert link.visuals[0].shape == Box((1, 2, 3)) and np.array_equal(link.visuals[0].placement[:3, 3], (1, 0, 0))
    child.location.y += 0.5
    (link,) = export(obj, tmp_path / "a.urdf").links
    assert link.visuals[0].shape == Box((1, 2, 3)) and np.allclose(link.visuals[0].placement[:3, 3], (1, 0.5, 0))
    child.scale.x = 2.0
    bpy.context.view_layer.update()
    (link,) = export(obj, tmp_path / "a.urdf").links
    assert link.visuals[0].shape.filename == "meshes/a_base.stl"
    assert np.allclose(np.ptp(read_mesh(str(tmp_path / "meshes/a_base.stl")).vertices, axis=0), (2, 2, 3))
    child.scale.x = 1.0
    child.data.vertices[0].co.z -= 1.0
    bpy.context.view_layer.update()
    (link,) = export(obj, tmp_path / "a.urdf").links
    assert np.allclose(np.ptp(read_mesh(str(tmp_path / "meshes/a_base.stl")).vertices, axis=0), (1, 2, 4))
    bpy.data.objects.remove(child)
    (link,) = export(obj, tmp_path / "a.urdf").links
    assert link.visuals[0].shape == Box((1, 2, 3))


def test_joints_that_urdf_lacks_are_said_and_keep_their_pose(scene, tmp_path):
    joints = [
        Joint("ball", "spherical", "base", "l0", upper=(0.5, 0.6, 0.3), lower=(-0.5, -0.6, -0.3)),
        Joint("cross", "universal", "l0", "l1"),
        Joint("free", "gimbal", "l1", "l2", order="ZXZ"),
        Joint("bolt", "screw", "l2", "l3", pitch=0.01, lower=-3, upper=3),
        Joint("rod", "cylindrical", "l3", "l4"),
        Joint("slide", "prismatic", "l4", "l5"),
        Joint("turn", "revolute", "l5", "l6", stiffness=2.0, rest_position=0.1),
        Joint("half", "revolute", "l6", "l7", lower=-1.0),
        Joint("floor", "planar", "l7", "l8", upper=(1, 1, 1)),
    ]
    model = RobotModel("all", [Link(name) for name in ("base", *(f"l{i}" for i in range(9)))], joints, "floating")
    obj = build_armature(bpy.context, scene.collection, model)
    told = warnings(obj, tmp_path / "all.urdf")
    for name, word in [
        ("ball", "spherical"), ("ball", "cones"), ("cross", "universal"), ("free", "gimbal"), ("bolt", "screw"),
        ("rod", "cylindrical"), ("rod_2", "limits"), ("slide", "limits"), ("turn", "continuous"), ("turn", "stiffness"),
        ("turn", "rest_position"), ("half", "1000"), ("floor", "upper"),
    ]:  # fmt: skip
        assert any(line.startswith(f"joint {name!r}: ") and word in line for line in told), (name, word, told)
    assert any(line.startswith("base: ") and "floating" in line for line in told)
    found = load_urdf(tmp_path / "all.urdf")
    rng = np.random.default_rng(4)
    ball, cross, free = rng.uniform(-0.3, 0.3, 3), rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 3)
    same = {"bolt": 2.0, "turn": 0.5, "half": 0.7, "floor": [0.1, 0.2, 0.3], "slide": 0.4}
    x, y, z = (pin.Quaternion(pin.AngleAxis(angle, axis)) for angle, axis in zip(ball, np.eye(3), strict=True))
    turned = x * y * z
    q = model.configuration(same | {"ball": [turned.w, turned.x, turned.y, turned.z], "cross": cross, "free": free})
    parts = {
        f"{n}_{i + 1}": a for n, own in (("ball", ball), ("cross", cross), ("free", free)) for i, a in enumerate(own)
    }
    oracle = Oracle.from_urdf(found, tmp_path / "all.urdf")
    frames, shown = forward_kinematics(model, q), oracle.frames(found.configuration(same | parts))
    for link in model.link_names:
        assert np.allclose(frames[link], shown[link], atol=1e-12), link


def test_files_of_the_description_are_not_overwritten(scene, tmp_path):
    folder = tmp_path / "meshes"
    folder.mkdir()
    add = add_cube
    source = folder / "a_base.stl"
    from robokin_addon.properties.bridge.visuals.meshes import stl_bytes

    source.write_bytes(stl_bytes(np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]])))
    (tmp_path / "a.urdf").write_text(
        "<robot name='r'><link name='base'><visual><geometry><mesh filename='meshes/a_base.stl'/></geometry></visual>"
        "</link></robot>"
    )
    obj, _ = import_robot(bpy.context, load_urdf(tmp_path / "a.urdf"))
    for child in obj.children:
        child.name = "old"
    add(obj, "base", "base")
    obj.children[-1].name = "base"
    before = source.read_bytes()
    export(obj, tmp_path / "a.urdf")
    assert source.read_bytes() == before
    assert sorted(os.listdir(folder)) == ["a_base.stl", "a_base_1.stl"]


@pytest.mark.parametrize("path", ["nowhere/a.urdf", "folder.urdf"])
def test_a_failed_export_leaves_nothing(rig, tmp_path, path):
    (tmp_path / "folder.urdf").mkdir()
    add_cube(rig, rig.data.bones[-1].name)
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.robokin.export_urdf(filepath=str(tmp_path / path))
    assert [p.name for p in Path(tmp_path).rglob("*")] == ["folder.urdf"]


def test_a_failed_export_leaves_the_robot_that_was_there_with_its_meshes(rig, tmp_path, monkeypatch):
    for name in ("one", "two"):
        add_cube(rig, "upper", name, Matrix.Scale(len(name) + ord(name[0]), 4))
    export(rig, tmp_path / "arm.urdf")
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for child in rig.children:
        child.scale *= 2.0
    fsync, calls = os.fsync, []

    def fails_late(number):
        calls.append(number)
        if len(calls) == len(files):
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(number)

    monkeypatch.setattr(os, "fsync", fails_late)
    with pytest.raises(RuntimeError, match="No space left"):
        export(rig, tmp_path / "arm.urdf")
    assert len(files) == 3 and {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files


def test_long_names_of_objects_and_files(rig, tmp_path):
    add_cube(rig, "upper", "n" * 63)
    add_cube(rig, "lower", "n" * 62 + "m", Matrix.Scale(3.0, 4))
    found = export(rig, tmp_path / ("r" * 245 + ".urdf"))
    meshes = {f"{'r' * 100}_{name}.stl" for name in ("n" * 63, "n" * 62 + "m")}
    assert missing_meshes(found) == [] and set(os.listdir(tmp_path / "meshes")) == meshes


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_only_meshes_that_can_be_read_again_are_written(rig, tmp_path):
    """With normals, however large or small they are. The rig is in centimetres."""
    for name, size in (("large", 9e10), ("small", 1e-12), ("beyond", 1e12), ("far beyond", 3e38)):
        cube = add_cube(rig, "upper", name)
        for vertex in cube.data.vertices:
            vertex.co = vertex.co.normalized() * size
    found = export(rig, tmp_path / "arm.urdf")
    assert sorted(os.listdir(tmp_path / "meshes")) == ["arm_large.stl", "arm_small.stl"] and not missing_meshes(found)
    for path in (tmp_path / "meshes").iterdir():
        facets = np.frombuffer(path.read_bytes()[84:], np.dtype([("normal", "<f4", 3), ("rest", "V38")]))
        assert np.allclose(np.linalg.norm(facets["normal"], axis=1), 1.0) and len(read_mesh(str(path)).sizes) == 12


@pytest.mark.parametrize("parent", ["OBJECT", "RELATIVE"])
def test_other_ways_to_be_parented(rig, tmp_path, parent):
    bone = rig.data.bones[-1]
    child = add_cube(rig, bone.name, matrix=Matrix.Translation((0.3, 0.5, -0.2)) @ Matrix.Rotation(0.7, 4, (1, 2, 3)))
    if parent == "OBJECT":
        child.parent_type = parent
    bone.use_relative_parent = parent == "RELATIVE"
    model = robot_model(rig)
    assert model.root == "fixed"
    write_configuration(rig, clamp(model, random_configuration(model, np.random.default_rng(2))))
    bpy.context.view_layer.update()
    found = export(rig, tmp_path / "arm.urdf")
    values = model.joint_values(read_configuration(rig))
    points, T = written(found, found.configuration(values), tmp_path), binding(rig).root
    assert same_points(points @ T[:3, :3].T + T[:3, 3], seen(child), 3e-6)
    is_on_root = bool(found.root_link.visuals)
    assert is_on_root == (parent == "OBJECT")


def test_what_moves_with_something_else_or_has_a_texture_is_said(rig, tmp_path):
    bone = rig.data.bones[-1].name
    carried = add_cube(rig, bone, "carried")
    other = bpy.data.objects.new("other", bpy.data.armatures.new("other"))
    other.parent, other.parent_type, other.parent_bone = rig, "BONE", bone
    carried.parent, carried.parent_type = other, "OBJECT"
    away = add_cube(rig, bone, "away")
    bpy.context.scene.collection.objects.unlink(away)
    painted = add_cube(rig, bone, "painted")
    made = material("paint", (1, 0, 0))
    image = made.node_tree.nodes.new("ShaderNodeTexImage")
    image.image = bpy.data.images.new("paint", 4, 4)
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    made.node_tree.links.new(image.outputs["Color"], shader.inputs["Base Color"])
    painted.data.materials.append(made)
    bpy.context.scene.collection.objects.link(other)
    bpy.context.view_layer.update()
    told = warnings(rig, tmp_path / "arm.urdf")
    for words in (("'carried'", "'other'"), ("'away'", "view layer"), ("'painted'", "textures", "'paint'")):
        assert any(all(word in line for word in words) for line in told), told
    assert os.listdir(tmp_path / "meshes") == ["arm_painted.stl"]
