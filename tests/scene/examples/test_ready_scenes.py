"""The ready scenes: the two examples of the main paper (section 4) and the task of Sukesh's arm (2.4.2). Baked, and
measured from the matrices that Blender shows, at every frame and half frame."""

from __future__ import annotations

import re

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from robokin_addon.properties.bridge import binding, read_configuration, robot_model
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.collision import Box, distance
from robokin_addon.scene.examples import EXAMPLES
from support.blender.scene_tasks import shown
from support.few import rest_slow

NEAR = 1e-4  # [m] asked for, at frames and half frames
SLIP = 1e-5  # [m/s] of the wheels sideways, from the written curves


def baked(scene, name):
    """The robot of a scene that stands at the cursor."""
    scene.cursor.location = (1.0, -2.0, 0.5)
    assert bpy.ops.robokin.add_example(example=name) == {"FINISHED"}
    robot = bpy.context.object
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    assert bpy.ops.robokin.check() == {"FINISHED"}
    assert robot.robokin.solver.check_passed, robot.robokin.solver.check_summary
    return robot


@pytest.mark.parametrize("name", rest_slow(name for name in EXAMPLES if name != "nut"))
def test_what_the_paper_asks_holds_between_frames_too(scene, name):
    robot = baked(scene, name)
    platform_rolls(name, robot)
    keeps_clear(name, robot)
    is_done(name, robot)


def platform_rolls(name, robot):
    scene, worst, configurations = bpy.context.scene, 0.0, []
    for half in range(2, 2 * scene.frame_end + 1):
        scene.frame_set(half // 2, subframe=half % 2 / 2.0)
        worst = max(worst, *(missed(robot, task) for task in robot.robokin.tasks))
        if half % 2 == 0:
            configurations.append(read_configuration(robot))
    assert worst < NEAR
    q = np.array(configurations)
    heading, step = (q[1:, 2] + q[:-1, 2]) / 2.0, np.diff(q[:, :2], axis=0)
    sideways = np.cos(heading) * step[:, 1] - np.sin(heading) * step[:, 0]
    assert abs(sideways).max() * scene.render.fps < SLIP
    # The platform takes part in one, and goes all its way in the other.
    assert np.ptp(q[:, 0]) > (0.1 if name == "laser" else 1.5)


def missed(robot, task) -> float:
    """[m] between what Blender shows of a task's tip, or of its beam on the wall, and the target."""
    T = shown(robot, task.tip) @ np.array(
        Matrix.LocRotScale(Vector(task.offset_location), Euler(task.offset_rotation), None)
    )
    target = np.array(task.target.matrix_world)
    if task.kind == "AXIS":
        return float(np.linalg.norm(T[:3, "XYZ".index(task.axis)] - target[:3, 2]))
    if task.kind == "LASER":
        n, way = target[:3, 2], T[:3, 2]
        T[:3, 3] += n @ (target[:3, 3] - T[:3, 3]) / (n @ way) * way
    return float(np.linalg.norm(T[:3, 3] - target[:3, 3]))


def keeps_clear(name, robot):
    """By Check at every frame and half frame, and with room to spare at some."""
    scene, model = bpy.context.scene, robot_model(robot)
    assert ", no collisions" in robot.robokin.solver.check_summary
    assert all(link.collisions for link in model.links if link.visuals)
    shapes = [(link.name, visual) for link in model.links for visual in link.visuals if visual.material.name != "Laser"]
    around = [obj for obj in scene.objects if obj.robokin.is_obstacle]
    stand = np.array(robot.matrix_world)
    assert len(around) == (1 if name == "laser" else 7)
    leaf = next((obj for obj in around if obj.name == "Leaf"), None)
    for frame in range(1, scene.frame_end + 1, 12):
        scene.frame_set(frame)
        T = forward_kinematics(model, read_configuration(robot))
        for obj in around:
            box, T_box = Box(tuple(obj.dimensions)), np.array(obj.matrix_world)
            if obj.name.startswith(("Post", "Lintel")):
                found = distance(Box(tuple(leaf.dimensions)), np.array(leaf.matrix_world), box, T_box)
                assert found.value > 0.005, f"frame {frame}: the leaf at {obj.name}"
            for link, visual in shapes:
                found = distance(visual.shape, stand @ T[link] @ visual.placement, box, T_box)
                assert found.value > 0.005, f"frame {frame}: {link} at {obj.name}"


def test_check_sees_a_door_that_stays_shut(scene):
    robot = baked(scene, "door")
    bpy.data.objects["Hinge"].animation_data_clear()
    assert bpy.ops.robokin.check() == {"FINISHED"}
    assert re.search(r" is .* deep in (Leaf|Handle)", robot.robokin.solver.check_summary)


def is_done(name, robot):
    scene = bpy.context.scene
    if name == "laser":
        for task in robot.robokin.tasks:
            turn = [angle(scene, task.target.parent, frame) for frame in (1, scene.frame_end)]
            turns = (turn[1] - turn[0]) / (2.0 * np.pi)
            assert abs(turns) >= 1.0 - 1e-6 and abs(turns - round(turns)) < 1e-6
    else:
        links = binding(robot).link_of_bone
        hinge = next(task.target.parent for task in robot.robokin.tasks if links[task.tip] == "tool")
        assert np.degrees(angle(scene, hinge, scene.frame_end)) == pytest.approx(88.0)


def angle(scene, obj, frame) -> float:
    scene.frame_set(frame)
    return obj.rotation_euler.z


def test_the_nut_goes_from_bolt_to_bolt_in_the_hand(scene, tmp_path):
    robot = baked(scene, "nut")
    hand, nut = (bpy.data.objects[name] for name in ("Hand", "Nut"))
    upper, lower = (bpy.data.objects[name] for name in ("Upper Bolt", "Lower Bolt"))
    worst, seen = 0.0, []
    for half in range(2, 2 * scene.frame_end + 1):
        scene.frame_set(half // 2, subframe=half % 2 / 2.0)
        worst = max(worst, missed(robot, robot.robokin.tasks[0]))
        seen.append([np.array(each.matrix_world) for each in (hand, nut)])
    assert worst < NEAR
    T = np.linalg.inv(np.array([each[0] for each in seen])) @ np.array([each[1] for each in seen])
    world = np.array([each[1] for each in seen])
    moving = abs(np.diff(world, axis=0)).max(axis=(1, 2)) > 1e-7
    # While it moves the nut stays where it is in the hand.
    assert moving.sum() > 300 and abs(np.diff(T, axis=0)[moving]).max() < 1e-5
    axis = nut.matrix_world.col[2].to_3d()
    for bolt, place in ((upper, world[0]), (lower, world[-1])):
        off = Vector(place[:3, 3]) - bolt.matrix_world.translation
        assert (off - off.dot(axis) * axis).length < 1e-6 and abs(off.dot(axis)) < 0.0125
    # Along the thread: a pitch a turn.
    scene.frame_set(1)
    keys = [(frame, nut.matrix_world.copy()) for frame in range(1, 65) if not scene.frame_set(frame)]
    turned = keys[0][1].to_quaternion().rotation_difference(keys[-1][1].to_quaternion()).angle
    drawn = (keys[-1][1].translation - keys[0][1].translation).length
    assert np.degrees(turned) == pytest.approx(160.0, abs=0.1)
    assert drawn == pytest.approx(25.4e-3 / 20.0 * 160.0 / 360.0, abs=1e-6)
    path = tmp_path / "nut.servo"
    assert bpy.ops.robokin.export_motion(filepath=str(path)) == {"FINISHED"}
    angles = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:]
    assert path.read_text().startswith("time,S0,S1,S2,S3,S5\n")
    assert angles.min() >= 0.0 and angles.max() <= 180.0 and np.ptp(angles[:, 4]) == pytest.approx(160.0, abs=0.1)
