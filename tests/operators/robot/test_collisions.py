"""Collisions in the scene: obstacles, shapes made from meshes, what Check and Bake say."""

from __future__ import annotations

import json
import re

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.properties.selected.selection import select
from robokin_addon.robokin import read_urdf_text
from robokin_addon.robokin.collision.convex_hull import hull_triangles
from robokin_addon.scene.surroundings import Watch
from support.blender.scene_robots import add_target, build
from support.problems.obstructed import planar_arm, planar_urdf


@pytest.fixture
def arm(scene):
    scene.frame_start, scene.frame_end = 1, 5
    obj = build(planar_arm(2))
    obj.robokin.live = False
    bone = obj.pose.bones["j0"]
    for frame, angle in ((1, 0.0), (5, 1.5)):
        bone.rotation_euler = [angle if not locked else 0.0 for locked in bone.lock_rotation]
        bone.keyframe_insert("rotation_euler", frame=frame)
    return obj


def block(location, size=0.2, name="post"):
    bpy.ops.mesh.primitive_cube_add(size=size, location=location)
    obj = bpy.context.object
    obj.name = name
    return obj


def lay_down(robot):
    """Along x, at rest."""
    robot.animation_data_clear()
    robot.pose.bones["j0"].rotation_euler = (0.0, 0.0, 0.0)


def check(robot, path):
    with bpy.context.temp_override(object=robot, active_object=robot):
        assert bpy.ops.robokin.check(report_path=str(path)) == {"FINISHED"}
    return json.loads(path.read_text())["violations"]


def test_an_obstacle_in_the_way_is_reported(arm, tmp_path):
    post = block((0.0, 1.5, 0.0))
    path = tmp_path / "check.json"
    assert check(arm, path) == []
    assert bpy.ops.robokin.obstacle() == {"FINISHED"} and post.robokin.is_obstacle
    found = check(arm, path)
    assert found and {v["kind"] for v in found} == {"collision"}
    assert {tuple(v["links"]) for v in found} == {("l1", "post")}
    assert max(v["depth"] for v in found) <= 0.15 + 1e-6
    summary = arm.robokin.solver.check_summary
    assert "post" in summary and not arm.robokin.solver.check_passed
    assert any("post" in item.reason for item in arm.robokin.solver.check_failures)
    post.location.z = 0.3
    bpy.context.view_layer.update()
    assert check(arm, path) == []
    assert arm.robokin.solver.check_summary.endswith("limits kept, no task, no collisions")


def test_an_obstacle_that_moves_is_met_where_it_is(arm, tmp_path):
    lay_down(arm)
    ball = block((0.5, 2.0, 0.0), name="ball")
    ball.keyframe_insert("location", frame=1)
    ball.location.y = -2.0
    ball.keyframe_insert("location", frame=5)
    for curve in ball.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    found = check(arm, tmp_path / "check.json")
    assert [(v["frame"], v["half_frame"]) for v in found] == [(3, False)]
    assert found[0]["depth"] == pytest.approx(0.15, abs=1e-6)


def test_shapes_are_made_from_meshes(arm):
    mesh = block((0.5, 0.0, 0.0), 1.0, "hull")
    mesh.scale = (1.0, 0.1, 0.1)
    bpy.context.view_layer.update()
    mesh.parent, mesh.parent_type, mesh.parent_bone = arm, "BONE", "j0"
    bpy.context.view_layer.update()
    mesh.matrix_world = np.diag([1.0, 0.1, 0.1, 1.0]).T
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.fit_collisions(shape="BOX") == {"FINISHED"}
    (shape,) = robot_model(arm).links[1].collisions
    assert sorted(shape.shape.size) == pytest.approx([0.1, 0.1, 1.0], abs=1e-5)
    kept = robot_model(arm).links[2].collisions
    assert len(kept) == 1 and kept[0].shape.radius == 0.05


def test_a_link_that_is_a_ring_keeps_its_hole(arm, tmp_path, capfd):
    """By parts, which a file has as meshes; those can be cut anew, and then have no more volume."""
    lay_down(arm)
    ring = tube((2.5, 0.0, 0.0), segments=(8, 6))
    bpy.context.view_layer.update()
    world = ring.matrix_world.copy()
    ring.parent, ring.parent_type, ring.parent_bone = arm, "BONE", "j1"
    bpy.context.view_layer.update()
    ring.matrix_world = world
    post = block((2.5, 0.0, 0.0))
    assert bpy.ops.robokin.obstacle() == {"FINISHED"} and post.robokin.is_obstacle
    path = tmp_path / "check.json"
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.fit_collisions(shape="HULL") == {"FINISHED"}
        assert {tuple(v["links"]) for v in check(arm, path)} == {("l1", "post")}
        capfd.readouterr()
        assert bpy.ops.robokin.fit_collisions(shape="PARTS") == {"FINISHED"}
        said = capfd.readouterr().out
        assert "beyond the meshes (j1)" in said and float(said.split("at most ")[1].split(" mm")[0]) < 30.0
        shapes = robot_model(arm).links[2].collisions
        assert len(shapes) > 7 and check(arm, path) == []
        file = tmp_path / "arm.urdf"
        assert bpy.ops.robokin.export_urdf(filepath=str(file)) == {"FINISHED"}
    assert "rounded hulls" in capfd.readouterr().out
    bpy.ops.robokin.import_urdf(filepath=str(file), root="fixed")
    again = robot_model(bpy.context.object).links[2].collisions
    assert [each.shape.radius for each in again] == [each.shape.radius for each in shapes]
    for one, other in zip(again, shapes, strict=True):
        np.testing.assert_allclose(one.shape.points, other.shape.points, rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(one.placement, other.placement, atol=1e-9)
    file.write_text(re.sub(r"<robokin [^>]*/>", "", file.read_text()))  # as other programs read it
    bpy.ops.robokin.import_urdf(filepath=str(file), root="fixed")
    other = bpy.context.object
    assert len(robot_model(other).links[2].collisions) == len(shapes) and check(other, path) == []
    with bpy.context.temp_override(object=other, active_object=other):
        assert bpy.ops.robokin.fit_collisions(shape="HULL", around="COLLISIONS") == {"FINISHED"}
    assert {type(each.shape).__name__ for each in robot_model(other).links[2].collisions} == {"Hull"}
    assert check(other, path) == []
    bpy.ops.robokin.import_urdf(filepath=str(file), root="fixed", convex_parts=True)
    assert {type(each.shape).__name__ for each in robot_model(bpy.context.object).links[2].collisions} == {"Hull"}


def test_parts_of_a_collision_mesh_are_where_it_was(scene, tmp_path, capfd):
    """Beside the link's other shapes, which stay; what is told is how far they reach beyond."""
    ball = np.random.default_rng(0).normal(size=(400, 3))
    ball *= 0.1 / np.linalg.norm(ball, axis=1)[:, None]
    lines = [f"v {x} {y} {z}" for x, y, z in ball] + [f"f {a} {b} {c}" for a, b, c in hull_triangles(ball) + 1]
    (tmp_path / "ball.obj").write_text("\n".join(lines), "utf-8")
    shapes = [
        '<origin xyz="0 0 1"/><geometry><mesh filename="ball.obj"/></geometry>',
        '<geometry><sphere radius="0.3"/></geometry>',
    ]
    link = "".join(f"<collision>{each}</collision>" for each in shapes)
    (tmp_path / "ball.urdf").write_text(f'<robot name="ball"><link name="base">{link}</link></robot>', "utf-8")
    bpy.ops.robokin.import_urdf(filepath=str(tmp_path / "ball.urdf"), convex_parts=True)
    told = float(capfd.readouterr().out.split("at most ")[1].split(" mm")[0])
    sphere, hull = robot_model(bpy.context.object).links[0].collisions
    assert (sphere.shape.radius, type(hull.shape).__name__) == (pytest.approx(0.3), "Hull")
    places = hull.shape.points @ hull.placement[:3, :3].T + hull.placement[:3, 3]
    np.testing.assert_allclose(0.5 * (places.min(axis=0) + places.max(axis=0)), [0.0, 0.0, 1.0], atol=0.02)
    assert 0.0 < 1e3 * hull.shape.radius <= 1.01 * told


def told(found):
    return {tuple(sorted(v["links"])) for v in found}


def test_the_list_says_which_links_may_touch(scene, tmp_path):
    scene.frame_start, scene.frame_end = 1, 2
    arm = build(planar_arm(4))
    arm.robokin.live = False
    for name in ("j1", "j2", "j3"):
        bone = arm.pose.bones[name]
        bone.rotation_euler = [2.2 if not locked else 0.0 for locked in bone.lock_rotation]
    bpy.context.view_layer.update()
    path = tmp_path / "check.json"
    crossing = told(check(arm, path))
    assert crossing == {("l0", "l3")} or crossing
    pair = min(crossing)
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.find_touching() == {"FINISHED"}
    assert not arm.robokin.link_pairs
    for name in arm.pose.bones.keys():
        select(arm.pose.bones[name], binding(arm).link_of_bone.get(name) in pair)
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.link_pair_add() == {"FINISHED"}
    (item,) = arm.robokin.link_pairs
    assert {item.link_a, item.link_b} == set(pair) and item.reason == "User"
    assert told(check(arm, path)) == crossing - {pair}
    item.may_touch = False
    assert told(check(arm, path)) == crossing
    other = arm.robokin.link_pairs.add()
    other.name, other.link_a, other.link_b = "l0, l1", "l0", "l1"
    arm.robokin.active_link_pair = 1
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.link_pair_add() == {"FINISHED"}  # one that is listed becomes the active one
    assert arm.robokin.active_link_pair == 0 and len(arm.robokin.link_pairs) == 2 and not item.may_touch
    arm.robokin.link_pairs.remove(1)
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.link_pair_remove() == {"FINISHED"}
    assert not arm.robokin.link_pairs


def test_the_list_says_which_links_may_touch_an_obstacle(arm, tmp_path):
    """What a hand takes it touches before and after."""
    lay_down(arm)
    for place, name in (((1.5, 0.0, 0.0), "parcel"), ((1.5, 0.1, 0.0), "post")):
        block(place, name=name).robokin.is_obstacle = True
    parcel, path = bpy.data.objects["parcel"], tmp_path / "check.json"
    assert told(check(arm, path)) == {("l1", "parcel"), ("l1", "post")}
    for name in arm.pose.bones.keys():
        select(arm.pose.bones[name], binding(arm).link_of_bone.get(name) == "l1")
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in (arm, parcel))
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.link_pair_add() == {"FINISHED"}
    (item,) = arm.robokin.link_pairs
    assert (item.link_a, item.link_b, item.reason) == ("l1", "parcel", "User")
    assert told(check(arm, path)) == {("l1", "post")}
    seen = Watch().look(bpy.context.scene, arm, binding(arm), lambda owner: None).collisions
    names = [seen.near(pair, 0.0).names for pair in range(len(seen.pairs))]
    assert [own for own in names if own[1] == "parcel"] == [("l0", "parcel")]
    parcel.location = (0.5, 0.0, 0.0)  # other links may not
    assert told(check(arm, path)) == {("l0", "parcel"), ("l1", "post")}
    parcel.robokin.is_obstacle = False  # a pair of what is none any more is passed over
    assert told(check(arm, path)) == {("l1", "post")}
    for name in arm.pose.bones.keys():
        select(arm.pose.bones[name], False)
    with bpy.context.temp_override(object=arm, active_object=arm), pytest.raises(RuntimeError, match="0 bones"):
        bpy.ops.robokin.link_pair_add()


def test_two_that_touch_at_rest_are_listed_and_can_be_looked_at(scene, tmp_path):
    scene.frame_start, scene.frame_end = 1, 2
    arm = build(read_urdf_text(planar_urdf(4).replace('radius="0.05"', 'radius="1.2"')))
    arm.robokin.live = False
    path = tmp_path / "check.json"
    assert check(arm, path) == []
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.find_touching() == {"FINISHED"}
    listed = {tuple(sorted((item.link_a, item.link_b))) for item in arm.robokin.link_pairs}
    assert len(listed) > 1 and {item.reason for item in arm.robokin.link_pairs} <= {"Always", "Rest"}
    for item in arm.robokin.link_pairs:
        item.may_touch = False
    assert told(check(arm, path)) == listed
    srdf = tmp_path / "fat.srdf"
    arm.robokin.link_pairs[0].may_touch = True
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.export_srdf(filepath=str(srdf)) == {"FINISHED"}
        while arm.robokin.link_pairs:
            bpy.ops.robokin.link_pair_remove()
        assert bpy.ops.robokin.import_srdf(filepath=str(srdf)) == {"FINISHED"}
    assert len(arm.robokin.link_pairs) == 1 and arm.robokin.link_pairs[0].may_touch


def test_loose_parts_of_an_obstacle_count_for_themselves(arm, tmp_path):
    """Two posts in one object, and the arm goes between them."""
    block((1.5, 0.6, 0.4), 0.2)
    other = block((1.5, 0.6, -0.4), 0.2)
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.select_all(action="SELECT")
    arm.select_set(False)
    bpy.ops.object.join()
    frame = bpy.context.object
    assert bpy.ops.robokin.obstacle() == {"FINISHED"} and frame.robokin.is_obstacle
    assert check(arm, tmp_path / "check.json") == []


def tube(location, name="ring", segments=(48, 12)):
    """A ring about z, whose middle is free."""
    sizes = {"major_radius": 0.4, "minor_radius": 0.1, "major_segments": segments[0], "minor_segments": segments[1]}
    bpy.ops.mesh.primitive_torus_add(location=location, rotation=(0.0, np.pi / 2, 0.0), **sizes)
    obj = bpy.context.object
    obj.name = name
    return obj


def test_the_hole_of_an_obstacle_is_free(arm, tmp_path):
    """The arm turns its bones through a ring; it touches it where the ring is."""
    lay_down(arm)
    ring = tube((1.5, 0.0, 0.0))
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    path = tmp_path / "check.json"
    assert check(arm, path) == []
    ring.location.y = 0.4
    bpy.context.view_layer.update()
    found = check(arm, path)
    assert {tuple(v["links"]) for v in found} == {("l1", "ring")} and 0.04 < found[0]["depth"] < 0.16
    ring.scale = (2.0, 2.0, -2.0)  # mirrored, its tube is at 0.4 and 1.2
    ring.location.y = 0.0
    bpy.context.view_layer.update()
    assert check(arm, path) == []


def test_a_collection_is_an_obstacle_with_all_in_it(arm, tmp_path):
    """Nested, and instanced; the robot's own meshes in it do not count."""
    scene, path = bpy.context.scene, tmp_path / "check.json"
    lay_down(arm)
    outer, inner = bpy.data.collections.new("outer"), bpy.data.collections.new("inner")
    outer.children.link(inner)
    scene.collection.children.link(outer)
    post, own = block((1.5, 0.0, 0.0)), block((0.5, 0.0, 0.0), name="own")
    for obj in (post, own):
        scene.collection.objects.unlink(obj)
        inner.objects.link(obj)
    own.parent, own.parent_type, own.parent_bone = arm, "BONE", "j0"
    own.matrix_world = Matrix.Translation((1.5, 0.05, 0.0))  # in the other link: no obstacle all the same
    bpy.context.view_layer.update()
    assert check(arm, path) == []
    outer.robokin.is_obstacle = True
    assert {tuple(v["links"]) for v in check(arm, path)} == {("l1", "post")}
    post.location.y = 5.0
    bpy.context.view_layer.update()
    assert check(arm, path) == []
    library = bpy.data.collections.new("library")  # in no scene
    library.objects.link(post)
    inner.objects.unlink(post)
    library.instance_offset = (0.0, 4.0, 0.0)
    copy = bpy.data.objects.new("copy", None)
    copy.instance_type, copy.instance_collection = "COLLECTION", library
    copy.location, copy.scale = (1.5 - 0.75, -0.5, 0.0), (0.5, 0.5, 0.5)
    outer.objects.link(copy)
    bpy.context.view_layer.update()
    assert {tuple(v["links"]) for v in check(arm, path)} == {("l1", "copy/post")}
    copy.keyframe_insert("location", frame=1)
    copy.location.z = 1.0
    copy.keyframe_insert("location", frame=5)
    scene.frame_set(1)
    frames = {v["frame"] for v in check(arm, path)}
    assert 1 in frames and 5 not in frames


def test_collisions_are_reported_as_such(arm, tmp_path):
    """A target that is met inside an obstacle: by Bake, by Check, and with Avoid Collisions by every frame."""
    scene = bpy.context.scene
    arm.animation_data_clear()
    target = add_target(arm, "j1", "POSITION")
    bpy.context.view_layer.update()
    block(target.matrix_world.translation, 0.3)
    assert bpy.ops.robokin.obstacle() == {"FINISHED"}
    solver = arm.robokin.solver
    with bpy.context.temp_override(object=arm, active_object=arm):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
        assert solver.bake_status == "COLLISION"
        assert {item.status for item in solver.bake_failures} == {"COLLISION"}
        assert bpy.ops.robokin.check() == {"FINISHED"}
        assert {item.status for item in solver.check_failures} == {"COLLISION"}
        scene.frame_set(1)
        solver.avoid_collisions = True
        solver.start = "REST"
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    missed = [item for item in solver.bake_failures if item.status]
    assert missed and {item.status for item in missed} == {"COLLISION"}
    assert all("post" in item.reason for item in missed)
