"""Influence means the same in Live, Solve and Bake: each takes the pose that the others show, and goes no further."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.properties.bridge import read_configuration, write_configuration
from support.blender.scene_robots import add_robot, add_target, placed

NEAR = 1e-4  # [m] the tolerance of a task
TIPS = {"panda": "panda_hand_tcp_joint", "ur5_robot": "wrist_3_joint", "kinova": "j2s6s200_joint_6"}


def same(obj, shown: np.ndarray, tip: np.ndarray) -> bool:
    """Whether it stands so: each solve is done within the tolerance of its tasks."""
    moved = tip - np.array(obj.pose.bones[obj.robokin.tasks[0].tip].matrix.translation)
    return np.linalg.norm(moved) < 2.0 * NEAR and abs(read_configuration(obj) - shown).max() < 2e-3


def stand(obj) -> tuple[np.ndarray, np.ndarray]:
    bpy.context.view_layer.update()
    return read_configuration(obj), np.array(obj.pose.bones[obj.robokin.tasks[0].tip].matrix.translation)


def fading(robot: str, influence: float):
    """A live robot, away from its zero, whose tip has gone a part of the way to a target."""
    obj = add_robot(robot, live=True)
    if robot != "panda":
        write_configuration(obj, read_configuration(obj) + 0.4)
        bpy.context.view_layer.update()
    placed(obj, (0.2, -0.1, 0.3), (0.1, 0.2, 0.3))
    target = add_target(obj, TIPS[robot])
    bpy.context.view_layer.update()
    obj.robokin.tasks[0].influence = influence
    drag(target)
    return obj, target


def drag(target) -> None:
    for _ in range(3):
        target.location.x -= 0.02
        target.location.z -= 0.015
        bpy.context.view_layer.update()


def beside_criteria(obj):
    assert bpy.ops.robokin.criterion_add(kind="MANIPULABILITY") == {"FINISHED"}


def below_a_whole_task(obj):
    """The elbow keeps its height, which comes first."""
    elbow = obj.pose.bones[obj.robokin.tasks[0].tip].parent.parent.parent
    add_target(obj, elbow.name, "POSITION")
    first = obj.robokin.tasks[-1]
    first.use_location = (False, False, True)
    obj.robokin.tasks[0].priority = 2


def below_another_that_fades(obj):
    below_a_whole_task(obj)
    obj.robokin.tasks[1].influence = 0.4


ALSO = (None, beside_criteria, below_a_whole_task, below_another_that_fades)


# Each robot with each of what is beside, and each influence with each.
@pytest.mark.parametrize(
    ("robot", "influence", "also"),
    [
        (robot, (0.2, 0.5, 0.8)[(i + k) % 3], also)
        for i, robot in enumerate(sorted(TIPS))
        for k, also in enumerate(ALSO)
    ],
)
def test_a_bake_of_the_present_pose_stays_where_live_is(scene, robot, influence, also):
    obj, target = fading(robot, influence)
    if also is not None:
        also(obj)
        drag(target)
    there = stand(obj)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert same(obj, *there)
    for _ in range(2):  # anew from the start that it has kept
        assert bpy.ops.robokin.bake(start="PRESENT", frame_start=1, frame_end=4) == {"FINISHED"}
        for frame in range(1, 5):
            scene.frame_set(frame)
            assert same(obj, *there), frame


@pytest.mark.parametrize("influence", [0.2, 0.8])
def test_solved_again_it_goes_no_further_until_it_is_posed_by_hand(scene, influence):
    obj, target = fading("panda", 1.0)
    obj.robokin.live = False
    began, way = stand(obj)[1], np.array((0.05, -0.03, 0.04))
    tip = obj.matrix_world.to_3x3() @ Vector(way)
    target.location += tip
    obj.robokin.tasks[0].influence = influence
    for _ in range(3):
        assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
        assert np.linalg.norm(stand(obj)[1] - began - influence * way) < 2.0 * NEAR
    obj.pose.bones["panda_joint1"].rotation_euler.y += 0.1
    began = stand(obj)[1]
    left = np.array(obj.matrix_world.inverted() @ target.matrix_world.translation) - began
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert np.linalg.norm(stand(obj)[1] - began - influence * left) < 2.0 * NEAR


def test_another_fade_begins_where_the_robot_stands(scene):
    obj, _ = fading("panda", 0.5)
    began = stand(obj)[1]
    obj.robokin.live = False
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    obj.robokin.tasks[0].enabled = False
    add_target(obj, TIPS["panda"], "POSITION")
    obj.robokin.tasks[-1].influence = 0.01
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert np.linalg.norm(stand(obj)[1] - began) < 2.0 * NEAR
    assert bpy.ops.robokin.task_remove() == {"FINISHED"} and obj.robokin.live_memory == ""


def test_a_task_that_is_removed_leaves_the_others_where_they_began(scene):
    obj, _ = fading("panda", 0.5)
    assert bpy.ops.robokin.task_add(kind="PIN") == {"FINISHED"}
    stand(obj)
    began = json.loads(obj.robokin.live_memory)["origins"]
    assert bpy.ops.robokin.task_remove(index=0) == {"FINISHED"}
    assert began and json.loads(obj.robokin.live_memory) == {"origins": began}


def test_live_goes_on_from_a_pose_that_was_given_while_it_was_off(scene):
    obj, target = fading("panda", 0.2)
    obj.robokin.live = False
    obj.pose.bones["panda_joint1"].rotation_euler.y += 0.8
    began = stand(obj)[1]
    left = np.array(obj.matrix_world.inverted() @ target.matrix_world.translation) - began
    obj.robokin.live = True
    assert np.linalg.norm(stand(obj)[1] - began - 0.2 * left) < 2.0 * NEAR


def test_beside_obstacles_live_and_solve_fade_alike(scene):
    poses = []
    for live in (False, True):
        obj = add_robot("panda")
        height, side = (add_target(obj, TIPS["panda"], "POSITION") for _ in range(2))
        bpy.context.view_layer.update()
        place = np.array(height.matrix_world.translation)
        bpy.ops.mesh.primitive_uv_sphere_add(radius=0.06, location=place + np.array((0.0, 0.04, -0.2)))
        ball = bpy.context.object
        ball.robokin.is_obstacle = True
        bpy.context.view_layer.objects.active = obj
        obj.robokin.solver.avoid_collisions = True
        first, second = obj.robokin.tasks
        first.use_location, second.use_location = (False, False, True), (False, True, False)
        second.priority, second.influence = 2, 0.5
        side.location.y += 0.4
        height.location.z -= 0.2
        bpy.context.view_layer.update()
        if live:
            obj.robokin.live = True
            for _ in range(3):
                side.location.x += 1e-4
                bpy.context.view_layer.update()
        else:
            assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
        poses.append(stand(obj)[1] - place)
        for one in (obj, ball, height, side):
            bpy.data.objects.remove(one)
    assert abs(poses[0][1:] - poses[1][1:]).max() < 1e-3


@pytest.mark.parametrize(
    "text", ['{"shown": {"without": 3}}', '{"shown": {"q": [0], "without": 3}}', '{"baked": [[0], [0]]}']
)
def test_what_another_version_remembered_is_forgotten(scene, text):
    obj, target = fading("panda", 0.5)
    obj.robokin.live_memory = text
    before = stand(obj)[1]
    target.location.x -= 0.02
    assert np.linalg.norm(stand(obj)[1] - before) > 1e-3
    assert bpy.ops.robokin.bake(start="PRESENT", frame_start=1, frame_end=2) == {"FINISHED"}
