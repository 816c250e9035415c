"""Constraints that copy, track and keep a distance become tasks; Blender's own evaluation of them is the oracle."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.conversion.constraint_goals import link_axis
from support.blender.rigs import ARM, add_rig
from support.blender.scene_robots import TOOL, add_empty, add_robot


def constrain(obj, bone, kind, target, **settings):
    constraint = obj.pose.bones[bone].constraints.new(kind)
    constraint.target = target
    for name, value in settings.items():
        setattr(constraint, name, value)
    bpy.context.view_layer.update()
    return constraint


def convert(obj):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.robokin.convert_rig() == {"FINISHED"}
    bpy.context.view_layer.update()


def solved_anew(obj):
    """From rest, not from where the constraints had put it."""
    assert bpy.ops.robokin.reset_pose() == {"FINISHED"}
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED", obj.robokin.solver.reason
    bpy.context.view_layer.update()


def shown(obj, bone):
    return np.array(obj.matrix_world @ obj.pose.bones[bone].matrix)


@pytest.fixture
def arm(scene):
    obj = add_rig(ARM)
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    return obj


@pytest.fixture
def goal(arm):
    goal = add_empty("goal")
    goal.matrix_world = arm.matrix_world
    goal.location, goal.rotation_euler = arm.matrix_world @ Vector((0.3, -0.6, 1.2)), (0.9, 0.3, -0.4)
    bpy.context.view_layer.update()
    return goal


def test_copy_rotation(arm, goal):
    constraint = constrain(arm, "hand", "COPY_ROTATION", goal)
    by_blender = shown(arm, "hand")[:3, :3]
    convert(arm)
    (task,) = arm.robokin.tasks
    assert (task.kind, task.tip, constraint.mute) == ("ORIENTATION", "hand", True)
    np.testing.assert_allclose(shown(arm, "hand")[:3, :3], by_blender, atol=1e-5)  # the pose is kept
    solved_anew(arm)
    np.testing.assert_allclose(shown(arm, "hand")[:3, :3], by_blender, atol=2e-3)


@pytest.mark.parametrize("axis", ["TRACK_Y", "TRACK_NEGATIVE_Z", "TRACK_X"])
def test_damped_track(arm, goal, axis):
    constrain(arm, "hand", "DAMPED_TRACK", goal, track_axis=axis)
    convert(arm)
    assert arm.robokin.tasks[0].kind == "AIM"
    solved_anew(arm)
    T = shown(arm, "hand")
    a = T[:3, "XYZ".index(axis[-1])] * (-1 if "NEGATIVE" in axis else 1)
    away = np.array(goal.matrix_world.translation) - T[:3, 3]
    assert np.linalg.norm(np.cross(a, away / np.linalg.norm(away))) < 2e-3 and a @ away > 0


def test_track_to_tells_that_it_does_not_keep_up(arm, goal, capfd):
    constrain(arm, "hand", "TRACK_TO", goal, track_axis="TRACK_Y", up_axis="UP_Z")
    constrain(arm, "lower", "STRETCH_TO", goal)
    convert(arm)
    assert [task.kind for task in arm.robokin.tasks] == ["ORIENTATION", "AIM"]
    out = capfd.readouterr().out
    assert "bone 'hand', constraint 'Track To': up axis Z (turning about the aim is free)" in out
    assert "bone 'lower', constraint 'Stretch To': stretching (Stretch To)" in out


@pytest.mark.parametrize("mode", ["LIMITDIST_INSIDE", "LIMITDIST_OUTSIDE", "LIMITDIST_ONSURFACE"])
def test_limit_distance(arm, goal, mode):
    distance = 1.6 if mode == "LIMITDIST_OUTSIDE" else 0.4
    constrain(arm, "hand", "LIMIT_DISTANCE", goal, limit_mode=mode, distance=distance)
    convert(arm)
    solved_anew(arm)
    found = np.linalg.norm(shown(arm, "hand")[:3, 3] - np.array(goal.matrix_world.translation))
    assert found < distance + 2e-4 or mode == "LIMITDIST_OUTSIDE"
    assert found > distance - 2e-4 or mode == "LIMITDIST_INSIDE"


def test_copy_location_and_transforms_with_a_bone_as_target(arm, scene):
    """At a place along a bone of another armature, as Blender puts it."""
    other = add_rig([("stick", None, (0, 0, 0), (0.4, 0, 0.4))], "other")
    # The lower arm hangs on the upper one, which stands still.
    elbow, length = Vector(ARM[1][2]), (Vector(ARM[1][3]) - Vector(ARM[1][2])).length
    other.location = arm.matrix_world @ (elbow + length * Vector((0.6, -0.64, 0.48)))
    other.rotation_euler = (0.4, 0.5, 0.6)
    bpy.context.view_layer.update()
    shift = other.matrix_world.to_3x3() @ Vector((0.2, 0, 0.2))
    other.location -= shift
    constrain(arm, "hand", "COPY_LOCATION", other, subtarget="stick", head_tail=0.5)
    wanted = other.matrix_world @ Vector((0.2, 0, 0.2))
    convert(arm)
    assert arm.robokin.tasks[0].kind == "POSITION"
    solved_anew(arm)
    assert (Vector(shown(arm, "hand")[:3, 3]) - wanted).length < 2e-4

    bpy.ops.robokin.task_remove()
    other.location += shift
    constrain(arm, "hand", "COPY_TRANSFORMS", other, subtarget="stick")
    by_blender = shown(arm, "hand")
    convert(arm)
    assert arm.robokin.tasks[0].kind == "POSE"
    solved_anew(arm)
    np.testing.assert_allclose(shown(arm, "hand"), by_blender, atol=2e-3)


@pytest.fixture
def carrier(arm):
    """A bone of another armature, bent and turned, near the robot's hand."""
    other = add_rig([("stick", None, (0, 0, 0), (0.4, 0, 0.4))], "other")
    other.location, other.rotation_euler = arm.matrix_world @ Vector((0.2, -0.5, 1.0)), (0.4, 0.5, 0.6)
    other.pose.bones["stick"].rotation_mode = "XYZ"
    bpy.context.view_layer.update()
    return other


def test_child_of_goes_with_its_parent(arm, carrier):
    """As an empty does that Blender's own constraint carries."""
    constrain(arm, "hand", "CHILD_OF", carrier, subtarget="stick").set_inverse_pending = True
    bpy.context.view_layer.update()
    probe = add_empty("probe")
    probe.matrix_world = arm.matrix_world @ arm.pose.bones["hand"].matrix
    inverse = (carrier.matrix_world @ carrier.pose.bones["stick"].matrix).inverted()
    carried = probe.constraints.new("CHILD_OF")
    carried.target, carried.subtarget, carried.inverse_matrix = carrier, "stick", inverse
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(arm, "hand"), np.array(probe.matrix_world), atol=1e-5)
    convert(arm)
    (task,) = arm.robokin.tasks
    assert task.kind == "POSE"
    solved_anew(arm)
    np.testing.assert_allclose(shown(arm, "hand"), np.array(probe.matrix_world), atol=2e-3)
    carrier.pose.bones["stick"].rotation_euler = (0.5, 0.2, 0.1)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(np.array(task.target.matrix_world), np.array(probe.matrix_world), atol=1e-5)


@pytest.mark.parametrize("location", ["FLOOR_X", "FLOOR_NEGATIVE_X", "FLOOR_Z", "FLOOR_NEGATIVE_Z", "FLOOR_Y"])
@pytest.mark.parametrize("turned", [False, True])
def test_floor(arm, goal, location, turned):
    """The plane to which Blender pushes what is in the way is that of the task, also when it has moved."""
    sign = -1.0 if "NEGATIVE" in location else 1.0
    settings = {"floor_location": location, "offset": 0.1 * sign, "use_rotation": turned}
    constrain(arm, "hand", "FLOOR", goal, **settings)
    goal.scale = (1.5, 1.5, 1.5)
    convert(arm)
    (task,) = arm.robokin.tasks
    assert (task.kind, task.side) == ("PLANE", "ABOVE")
    probe = add_empty("probe")
    floor = probe.constraints.new("FLOOR")
    floor.target = goal
    for name, value in settings.items():
        setattr(floor, name, value)
    for shift in (0.0, 0.3):
        goal.location.x += shift
        goal.rotation_euler.y += shift
        bpy.context.view_layer.update()
        T = np.array(task.target.matrix_world)
        normal = T[:3, 2] / np.linalg.norm(T[:3, 2])
        for beside in (-0.2, 0.4):
            probe.location = T[:3, 3] + (0.3, -0.5, 0.7) - normal * (normal @ (0.3, -0.5, 0.7)) + beside * normal
            bpy.context.view_layer.update()
            height = normal @ (np.array(probe.matrix_world.translation) - T[:3, 3])
            assert height == pytest.approx(max(beside, 0.0), abs=1e-5)


def test_animated_influence_and_distance_go_on(arm, goal):
    constraint = constrain(arm, "hand", "LIMIT_DISTANCE", goal, limit_mode="LIMITDIST_ONSURFACE", distance=0.3)
    for frame, distance in ((1, 0.3), (11, 0.5)):
        constraint.distance = distance
        constraint.keyframe_insert("distance", frame=frame)
        constraint.influence = distance
        constraint.keyframe_insert("influence", frame=frame)
    convert(arm)
    assert {path for path, _ in fcurves(arm)} == {"robokin.tasks[0].distance", "robokin.tasks[0].influence"}


def test_a_distance_between_two_bones_of_the_robot(arm):
    constrain(arm, "hand", "LIMIT_DISTANCE", arm, subtarget="upper", limit_mode="LIMITDIST_ONSURFACE", distance=1.3)
    convert(arm)
    (task,) = arm.robokin.tasks
    assert (task.kind, task.other, task.target) == ("DISTANCE", "upper", None)
    solved_anew(arm)
    assert np.linalg.norm(shown(arm, "hand")[:3, 3] - shown(arm, "upper")[:3, 3]) == pytest.approx(1.3, abs=2e-4)


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        ("COPY_LOCATION", {"use_x": False, "use_y": False, "use_z": False}, "no axis"),
        ("SPLINE_IK", {}, "Spline IK constraints"),
        ("DAMPED_TRACK", {"target": None}, "no target"),
    ],
)
def test_what_a_task_cannot_say_is_reported(arm, goal, capfd, kind, settings, problem):
    constraint = constrain(arm, "hand", kind, goal)
    for name, value in settings.items():
        setattr(constraint, name, value)
    convert(arm)
    told = f"could not be converted: bone 'hand', constraint {constraint.name!r}: {problem}"
    assert told in capfd.readouterr().out
    assert constraint.mute and not arm.robokin.tasks


def test_constraints_on_an_imported_robot(scene):
    """Whose links have other axes than their bones."""
    obj = add_robot()
    goal = add_empty("goal")
    goal.location = (0.5, 0.3, 0.2)
    bone = obj.pose.bones[TOOL]
    constrain(obj, TOOL, "DAMPED_TRACK", goal, track_axis="TRACK_X")
    convert(obj)
    solved_anew(obj)
    T = shown(obj, bone.name)
    away = np.array(goal.location) - T[:3, 3]
    assert math.acos(min(1.0, T[:3, 0] @ away / np.linalg.norm(away))) < 2e-3


def test_axes_of_links():
    turn = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert [link_axis(turn, axis) for axis in ("X", "-Y", "Z")] == ["Y", "-Z", "X"]
    tilted = np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    assert [link_axis(tilted, axis) for axis in ("-X", "Y")] == ["-X", None]
