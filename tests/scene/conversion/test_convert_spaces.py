"""Constraints in any space, of paths and of locked axes: tasks follow what Blender made of the bone, at every frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector
from support.blender.rigs import ARM, add_rig
from support.blender.scene_bakes import bake
from support.blender.scene_robots import add_empty

FRAMES = (1, 4, 9)


@pytest.fixture
def arm(scene):
    """Turned, and not at the origin; its hand is not connected: Blender moves no bone that is."""
    obj = add_rig([*ARM[:2], ("hand", "lower", (0.0, -0.1, 2.001), (0.0, -0.1, 2.4))])
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0.1, 0.2, 0.3)
    obj.pose.bones["hand"].rotation_mode = "XYZ"
    return obj


@pytest.fixture
def goal(arm):
    """Moves and turns, as a child of something that does too."""
    carrier, goal = add_empty("carrier"), add_empty("goal")
    carrier.location, carrier.rotation_euler = (0.2, -0.3, 0.4), (0.3, -0.2, 0.5)
    goal.parent = carrier
    return animated(goal, (0.5, -0.4, 1.1), (0.9, 0.3, -0.4))


@pytest.fixture
def frame_of(arm):
    """The custom space."""
    return animated(add_empty("space"), (-0.3, 0.4, 0.2), (0.4, -0.5, 0.8))


def animated(obj, location, rotation):
    for frame in FRAMES:
        obj.location = Vector(location) + Vector((0.01, 0.02, -0.015)) * frame
        obj.rotation_euler = Vector(rotation) + Vector((0.03, -0.02, 0.04)) * frame
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    return obj


def constrain(obj, bone, kind, target, **settings):
    constraint = obj.pose.bones[bone].constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def shown(owner, bone=""):
    """Its world matrix at each frame, by Blender."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        world = owner.matrix_world @ owner.pose.bones[bone].matrix if bone else owner.matrix_world
        found.append(np.array(world))
    bpy.context.scene.frame_set(1)
    return np.array(found)


def convert(obj):
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.robokin.convert_rig() == {"FINISHED"}
    bpy.context.view_layer.update()
    return obj.robokin.tasks


OWNERS = ("WORLD", "POSE", "LOCAL_WITH_PARENT", "CUSTOM")
TARGETS = ("WORLD", "LOCAL", "CUSTOM")


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("target_space", TARGETS)
@pytest.mark.parametrize("owner_space", OWNERS)
@pytest.mark.parametrize("kind", ["COPY_LOCATION", "COPY_ROTATION", "COPY_TRANSFORMS"])
def test_copies_in_any_spaces(arm, goal, frame_of, kind, owner_space, target_space, inverted):
    """Animated frames; the hand's rotation, or its place, is the bone's own where the constraint leaves it."""
    if inverted and kind == "COPY_TRANSFORMS":
        return
    settings = {"invert_x": True, "invert_z": True} if inverted else {}
    spaces = {"owner_space": owner_space, "target_space": target_space, "space_object": frame_of}
    constrain(arm, "hand", kind, goal, **spaces, **settings)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert task.kind == {"COPY_LOCATION": "POSITION", "COPY_ROTATION": "ORIENTATION", "COPY_TRANSFORMS": "POSE"}[kind]
    followed = shown(task.target)
    part = {"COPY_LOCATION": np.s_[:, :3, 3], "COPY_ROTATION": np.s_[:, :3, :3], "COPY_TRANSFORMS": np.s_[:]}[kind]
    np.testing.assert_allclose(followed[part], by_blender[part], atol=2e-6)
    assert (task.target == goal) == ((owner_space, target_space, inverted) == ("WORLD", "WORLD", False))


@pytest.mark.parametrize("kind", ["COPY_ROTATION", "COPY_TRANSFORMS"])
def test_local_space_of_a_bone_that_hangs_on_nothing_that_moves(arm, goal, kind):
    constrain(arm, "upper", kind, goal, owner_space="LOCAL", target_space="LOCAL")
    by_blender = shown(arm, "upper")
    convert(arm)
    part = np.s_[:, :3, :3] if kind == "COPY_ROTATION" else np.s_[:]
    bake(arm, frame_start=1, frame_end=9)
    assert arm.robokin.solver.bake_status == "CONVERGED"
    np.testing.assert_allclose(shown(arm, "upper")[part], by_blender[part], atol=2e-3)


@pytest.mark.parametrize("owner_space", OWNERS)
def test_aims_in_any_spaces(arm, goal, frame_of, owner_space):
    """The hand points where Blender let it point, from where it stands."""
    spaces = {"owner_space": owner_space, "target_space": "LOCAL", "space_object": frame_of}
    constrain(arm, "hand", "DAMPED_TRACK", goal, track_axis="TRACK_X", **spaces)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert (task.kind, task.axis) == ("AIM", "X")
    away = shown(task.target)[:, :3, 3] - by_blender[:, :3, 3]
    np.testing.assert_allclose(away / np.linalg.norm(away, axis=1)[:, None], by_blender[:, :3, 0], atol=5e-6)


def test_a_distance_in_the_space_of_the_armature(arm, goal, capfd):
    spaces = {"owner_space": "POSE", "target_space": "LOCAL", "limit_mode": "LIMITDIST_ONSURFACE", "distance": 0.7}
    constrain(arm, "hand", "LIMIT_DISTANCE", goal, **spaces)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    away = shown(task.target)[:, :3, 3] - by_blender[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.7, atol=5e-6)
    arm.scale = (2, 2, 2)
    task.id_data.pose.bones["hand"].constraints[0].mute = False
    bpy.context.view_layer.update()
    assert len(convert(arm)) == 1
    assert "a scale of the owner in Pose Space" in capfd.readouterr().out


@pytest.fixture
def rail(arm):
    """A bent path, turned, that moves."""
    curve = bpy.data.curves.new("rail", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 12
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for point, co in zip(spline.bezier_points, ((0, 0, 0), (0.5, 0.2, 0.3), (0.6, 0.9, 0.4)), strict=True):
        point.co = co
        point.handle_left_type = point.handle_right_type = "AUTO"
    rail = bpy.data.objects.new("rail", curve)
    bpy.context.scene.collection.objects.link(rail)
    return animated(rail, (0.6, -1.9, 1.1), (0.3, 0.1, -0.2))


@pytest.mark.parametrize("follow", [False, True])
def test_follow_path(arm, rail, follow):
    """A bone that hangs on nothing, from where it has been moved to; how far it is along is keyed."""
    bone = arm.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    bone.location, bone.rotation_euler = (0.1, 0.2, -0.1), (0.2, 0.3, -0.1)
    constraint = constrain(arm, "upper", "FOLLOW_PATH", rail, use_curve_follow=follow, use_fixed_location=True)
    for frame, share in ((1, 0.1), (9, 0.8)):
        constraint.offset_factor = share
        constraint.keyframe_insert("offset_factor", frame=frame)
    by_blender = shown(arm, "upper")
    (task,) = convert(arm)
    assert task.kind == "POSE"
    bake(arm, frame_start=1, frame_end=9)
    assert arm.robokin.solver.bake_status == "CONVERGED"
    np.testing.assert_allclose(shown(arm, "upper"), by_blender, atol=2e-3)


@pytest.mark.parametrize(("track", "lock"), [("TRACK_X", "LOCK_Y"), ("TRACK_NEGATIVE_Z", "LOCK_X")])
def test_locked_track(arm, goal, track, lock):
    arm.pose.bones["upper"].rotation_mode = "XYZ"
    arm.pose.bones["upper"].rotation_euler = (0.2, -0.3, 0.4)
    constrain(arm, "upper", "LOCKED_TRACK", goal, track_axis=track, lock_axis=lock)
    by_blender = shown(arm, "upper")
    (task,) = convert(arm)
    assert task.kind == "ORIENTATION"
    np.testing.assert_allclose(shown(task.target)[:, :3, :3], by_blender[:, :3, :3], atol=5e-6)
    bake(arm, frame_start=1, frame_end=9)
    np.testing.assert_allclose(shown(arm, "upper")[:, :3, :3], by_blender[:, :3, :3], atol=2e-3)


def test_clamp_to(arm, rail, capfd):
    constrain(arm, "hand", "CLAMP_TO", rail)
    (task,) = convert(arm)
    assert (task.kind, task.target) == ("CURVE", rail)
    assert "which place of the curve (any is taken)" in capfd.readouterr().out


def test_targets_that_are_vertex_groups_and_bent_bones(arm):
    mesh = bpy.data.meshes.new("mesh")
    mesh.from_pydata([(0, 0, 0), (0.3, 0.2, 0.5), (0.1, 0.6, 0.2)], [], [(0, 1, 2)])
    thing = bpy.data.objects.new("thing", mesh)
    bpy.context.scene.collection.objects.link(thing)
    thing.vertex_groups.new(name="two").add([1, 2], 1.0, "REPLACE")
    animated(thing, (0.4, -2.3, 1.2), (0.1, 0.6, 0.3))
    constrain(arm, "hand", "COPY_LOCATION", thing, subtarget="two")
    constrain(arm, "lower", "DAMPED_TRACK", thing, subtarget="two")
    by_blender = shown(arm, "hand")
    position, aim = convert(arm)
    for task in (position, aim):
        np.testing.assert_allclose(shown(task.target)[:, :3, 3], by_blender[:, :3, 3], atol=5e-6)


def test_a_custom_space_on_the_robot_itself_is_that_of_its_copy(arm, goal):
    spaces = {"owner_space": "CUSTOM", "space_object": arm, "space_subtarget": "lower"}
    constrain(arm, "hand", "COPY_LOCATION", goal, **spaces)
    constrain(arm, "upper", "COPY_ROTATION", goal)
    by_blender = shown(arm, "hand")
    _, task = convert(arm)
    np.testing.assert_allclose(shown(task.target, "hand")[:, :3, 3], by_blender[:, :3, 3], atol=2e-6)


def test_a_custom_space_that_hangs_on_the_robot_is_a_cycle(arm, goal, capfd):
    hung = add_empty("hung", arm)
    hung.parent_type, hung.parent_bone = "BONE", "lower"
    constrain(arm, "hand", "COPY_LOCATION", goal, owner_space="CUSTOM", space_object=hung)
    constrain(arm, "upper", "COPY_ROTATION", goal)
    assert [task.kind for task in convert(arm)] == ["ORIENTATION"]
    assert "hangs on the robot" in capfd.readouterr().out
