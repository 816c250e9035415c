"""Obstacles as they are read: their sizes, of whichever form they have now, and what is read again."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.robokin import RobokinError
from robokin_addon.robokin.collision.convex_parts import convex_parts
from robokin_addon.scene import obstacle_shapes
from robokin_addon.scene.collisions import collisions_now, collisions_over
from robokin_addon.scene.surroundings import Watch
from robokin_addon.scene.tasks.shapes import triangles_of
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import build
from support.problems.obstructed import planar_arm


@pytest.fixture
def arm(scene):
    obj = build(planar_arm(2))
    obj.robokin.live = False
    return obj


def cube(size=1.0):
    bpy.ops.mesh.primitive_cube_add(size=size)
    bpy.context.object.robokin.is_obstacle = True
    bpy.context.view_layer.update()
    return bpy.context.object


def scaled(obj, scale):
    obj.scale = (scale, scale, scale)
    bpy.context.view_layer.update()


def grow(obj):
    for vertex in obj.data.vertices:
        vertex.co *= 2.0
    obj.data.update()
    bpy.context.view_layer.update()


def extents(collisions):
    return pytest.approx([float(np.ptp(each.shape.points, axis=0).max()) for each in collisions.obstacles], rel=1e-5)


def now(arm):
    return extents(finish(collisions_now(bpy.context.scene, arm, binding(arm))))


def look(watch, arm):
    return extents(watch.look(bpy.context.scene, arm, binding(arm), lambda owner: None).collisions)


def test_all_that_look_see_an_edited_mesh_at_every_size(arm):
    """Two that look, a size that comes back, and two instances."""
    post, first, second = cube(), Watch(), Watch()
    assert [1.0] == look(first, arm) and [1.0] == look(second, arm)
    grow(post)
    assert [2.0] == look(first, arm) and [2.0] == look(second, arm)
    scaled(post, 3.0)
    assert [6.0] == look(first, arm)
    grow(post)
    assert [12.0] == look(first, arm)
    scaled(post, 1.0)
    assert [4.0] == look(first, arm) and [4.0] == look(second, arm)


def test_sizes_are_reported_apart_at_every_scale(arm):
    """Meshes in millimetres."""
    post = cube(1000.0)
    for size in (1.0, 1.001, 1.2, 0.5):
        scaled(post, 1e-3 * size)
        assert [size] == now(arm)


@pytest.mark.parametrize("turned", ["arm", "post"])
def test_turning_makes_no_parts_anew(arm, monkeypatch, turned):
    post, watch, made = cube(), Watch(), []
    assert [1.0] == look(watch, arm)
    original = obstacle_shapes.convex_parts
    monkeypatch.setattr(obstacle_shapes, "convex_parts", lambda *args: made.append(args) or original(*args))
    for k in range(30):
        (arm if turned == "arm" else post).rotation_euler = (0.1 * k, 0.23 * k, 0.31 * k)
        bpy.context.view_layer.update()
        look(watch, arm)
    assert not made


def test_an_empty_mesh_is_nothing(arm):
    cube().data.clear_geometry()
    bpy.context.view_layer.update()
    assert [] == now(arm)


def test_what_has_no_parts_is_named_each_time(arm):
    post = cube()
    for vertex in post.data.vertices:
        vertex.co *= 1e37
    bpy.context.view_layer.update()
    for _ in range(2):
        with pytest.raises(RobokinError, match="obstacle 'Cube': the points of a hull must be at most"):
            now(arm)


def test_the_collection_of_the_scene_can_be_marked(arm):
    cube().robokin.is_obstacle = False
    assert [] == now(arm)
    bpy.context.scene.collection.robokin.is_obstacle = True
    assert [1.0] == now(arm)


def test_what_is_instanced_alone_may_be_moved_by_anything(arm):
    """It is in no view layer, and Blender evaluates it."""
    post, library, copy = cube(), bpy.data.collections.new("library"), bpy.data.objects.new("copy", None)
    library.objects.link(post)
    bpy.context.scene.collection.objects.unlink(post)
    post.constraints.new("LIMIT_LOCATION").use_min_z = True
    post.constraints[0].min_z = 1.0
    copy.instance_type, copy.instance_collection = "COLLECTION", library
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    found = finish(collisions_over(bpy.context.scene, bpy.context.view_layer, arm, [1, 2], binding(arm)))
    np.testing.assert_allclose(found.obstacles[0].placement[:, 2, 3], 1.0)


def test_what_is_marked_meanwhile_does_not_count(arm):
    cube(2.0).constraints.new("LIMIT_LOCATION")
    late = cube()
    late.robokin.is_obstacle = False
    steps = collisions_over(bpy.context.scene, bpy.context.view_layer, arm, range(1, 100), binding(arm))
    next(steps)
    late.robokin.is_obstacle = True
    assert [2.0] == extents(finish(steps))


def test_what_is_moved_in_this_update_is_where_it_is_going(arm):
    post, there = cube(), np.eye(4)
    there[:3, 3] = 1.0, 2.0, 3.0
    found = Watch().look(bpy.context.scene, arm, binding(arm), {post: there}.get)
    np.testing.assert_allclose(found.placements, [there])


def test_a_mirrored_mesh_is_as_solid_as_it_was(arm):
    post = cube()
    post.scale.z = -1.0
    bpy.context.view_layer.update()
    assert [1.0] == now(arm)  # one part: a skin would be six


def test_a_size_is_another_where_it_is_mirrored_or_units_are_others(arm):
    """Parts are in metres, and of the side that they are on."""
    bpy.ops.mesh.primitive_cone_add(radius1=1.0, radius2=0.0, depth=1.0)
    cone = bpy.context.object
    cone.robokin.is_obstacle = True
    for sign in (1.0, -1.0):
        cone.scale.z = sign
        bpy.context.view_layer.update()
        (found,) = finish(collisions_now(bpy.context.scene, arm, binding(arm))).obstacles
        z = found.shape.points[:, 2]
        assert np.median(z) == pytest.approx(-0.5 * sign)
    cone.scale.z = 1.0
    arm.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    (found,) = finish(collisions_now(bpy.context.scene, arm, binding(arm))).obstacles
    assert np.ptp(found.shape.points[:, 2]) == pytest.approx(0.5)


def test_what_is_skinned_to_the_robot_is_no_obstacle_of_it(arm):
    post = cube()
    post.modifiers.new("skin", "ARMATURE").object = arm
    assert [] == now(arm) and [1.0] == now(build(planar_arm(1)))


def marked(capfd, **options):
    assert bpy.ops.robokin.obstacle(**options) == {"FINISHED"}
    return capfd.readouterr().out


def test_what_the_hand_holds_is_a_part_of_its_link(arm, capfd):
    """It is compared with obstacles once it has a shape, and a mark says so."""
    held = cube(0.4)
    held.parent, held.parent_type, held.parent_bone = arm, "BONE", binding(arm).bones[-1]
    held.location = 3.0, 3.0, 3.0
    bpy.context.view_layer.update()
    said = marked(capfd)
    assert "no obstacle of the robot that carries it on a bone: Cube, run Fit Collision Shapes" in said and [] == now(
        arm
    )
    bpy.context.view_layer.objects.active = arm
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.fit_collisions(shape="BOX") == {"FINISHED"}
    cube(0.3).location = held.matrix_world.translation
    bpy.context.view_layer.update()
    found = finish(collisions_now(bpy.context.scene, arm, binding(arm)))
    (contact,) = found.contacts(found.model.neutral()[None])
    assert contact.names == (found.model.link_names[-1], "Cube.001")


def carried(arm, kind):
    """A cube in the hand, which a constraint holds at frame 2 and not at 1 and 3; and the constraint."""
    post, bone = cube(0.4), arm.pose.bones[binding(arm).bones[-1]]
    post.location = bone.head + 0.5 * (bone.tail - bone.head)
    bpy.context.view_layer.update()
    constraint = post.constraints.new(kind)
    owner = constraint.targets.new() if kind == "ARMATURE" else constraint
    owner.target, owner.subtarget = arm, bone.name
    if kind == "CHILD_OF":
        constraint.inverse_matrix = (arm.matrix_world @ bone.matrix).inverted()
    for frame, share in ((1, 0.0), (2, 1.0), (3, 0.0)):
        constraint.influence = share
        constraint.keyframe_insert("influence", frame=frame)
    return post, constraint


@pytest.mark.parametrize("kind", ["CHILD_OF", "COPY_TRANSFORMS", "ARMATURE"])
def test_what_a_constraint_lets_the_hand_hold_is_an_obstacle_only_before_and_after(arm, kind):
    carried(arm, kind)
    scene, robot = bpy.context.scene, binding(arm)
    found = finish(collisions_over(scene, bpy.context.view_layer, arm, [1, 2, 3], robot))
    touching = found.contacts(np.tile(found.model.neutral(), (3, 1)))
    assert {contact.sample for contact in touching} == {0, 2}
    assert not found.halfway().contacts(np.tile(found.model.neutral(), (2, 1)))
    counts = []
    for frame in (1, 2, 3):
        scene.frame_set(frame)
        counts.append(len(now(arm).expected))
        assert len(look(Watch(), arm).expected) == counts[-1]
    assert counts == [1, 0, 1]


def test_what_another_robot_or_no_bone_holds_stays_an_obstacle(arm):
    _, constraint = carried(arm, "CHILD_OF")
    bpy.context.scene.frame_set(2)
    constraint.target = build(planar_arm(1))
    assert len(now(arm).expected) == 1
    constraint.target, constraint.subtarget = arm, ""
    assert len(now(arm).expected) == 1


def test_instances_of_a_marked_collection_are_obstacles(arm):
    post, library, copy = cube(), bpy.data.collections.new("library"), bpy.data.objects.new("copy", None)
    post.robokin.is_obstacle = False
    library.objects.link(post)
    copy.instance_type, copy.instance_collection = "COLLECTION", library
    bpy.context.scene.collection.objects.link(copy)
    assert [] == now(arm)
    library.robokin.is_obstacle = True
    bpy.context.view_layer.update()
    found = finish(collisions_now(bpy.context.scene, arm, binding(arm)))
    assert "copy/Cube" in {each.name for each in found.obstacles}


def test_a_mark_tells_how_far_parts_reach_beyond_the_mesh(arm, capfd):
    """And a cleared one what remains an obstacle; nothing reaches beyond a box."""
    post = cube()
    assert "obstacles: Cube; their convex parts reach at most 0 m beyond" in marked(capfd)
    bpy.ops.mesh.primitive_torus_add(major_radius=1.0, minor_radius=0.25)
    torus, said = bpy.context.object, marked(capfd)
    points, triangles = triangles_of(torus)
    beyond = finish(convex_parts(np.asarray(points, float), triangles)).excess
    assert f"at most {1e3 * beyond:.3g} mm beyond the meshes (Torus)" in said and 1e-3 < beyond <= 0.025
    torus.scale = (2.0, 2.0, 2.0)
    torus.select_set(False)
    post.select_set(True)
    assert "at most 0 m beyond" in marked(capfd)  # of what was marked now
    torus.select_set(True)
    assert f"at most {2e3 * beyond:.3g} mm beyond the meshes (Torus)" in marked(capfd)
    post.select_set(False)
    bpy.context.object.scale = (0.0, 1.0, 1.0)
    assert "'Torus' has no size" in marked(capfd)
    bpy.data.objects.remove(bpy.context.object)
    post.select_set(True)
    assert "still" not in marked(capfd, clear=True) and not post.robokin.is_obstacle
    bpy.context.scene.collection.robokin.is_obstacle = True
    assert "still obstacles by their collection: Cube" in marked(capfd, clear=True)
