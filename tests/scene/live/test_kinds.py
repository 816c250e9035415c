"""Live with every kind of task, robots of other joints, and targets that are shapes."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.operators.live import events
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.properties.results import readouts
from robokin_addon.properties.task_kinds import KINDS
from support.blender.every_joint import make_every_joint
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target

BOUND = 1e-3


def update() -> None:
    bpy.context.view_layer.update()


def curve_object(points) -> bpy.types.Object:
    data = bpy.data.curves.new("path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, co in zip(spline.points, points, strict=True):
        point.co = (*co, 1.0)
    obj = bpy.data.objects.new("path", data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def plate() -> bpy.types.Object:
    mesh = bpy.data.meshes.new("plate")
    mesh.from_pydata([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [], [(0, 1, 2, 3)])
    obj = bpy.data.objects.new("plate", mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not KINDS[kind].is_velocity])
def test_every_kind_is_followed_inside_the_limits(scene, kind):
    robot = add_robot(live=True)
    bpy.ops.robokin.posture_add(name="mine")
    task = robot.robokin.tasks.add()
    task.name, task.kind, task.tip = kind, kind, "panda_joint3" if kind == "JOINT" else TOOL
    if KINDS[kind].needs_other or kind == "DISTANCE":
        task.other = "panda_joint1"
    if kind == "POSTURE":
        task.posture = "mine"
    target = add_empty("target")
    target.location = (0.45, 0.1, 0.5)
    target.rotation_euler.x = np.pi
    if KINDS[kind].target == "CURVE":
        target = curve_object([(0.4, y, 0.5) for y in np.linspace(-0.3, 0.3, 7)])
    elif KINDS[kind].target == "MESH":
        target = plate()
    if KINDS[kind].target:
        task.target, task.use_target = target, True
    robot.update_tag()
    update()
    limits = binding(robot).model.limits
    for i in range(6):
        target.location.y += 0.02
        target.location.z += 0.01 * (-1) ** i
        robot.update_tag()
        update()
        q = read_configuration(robot)
        assert (q >= limits.lower).all() and (q <= limits.upper).all()
        shown = readouts.live(robot)
        assert shown is not None and not shown.text.startswith("Waits"), shown.text
    if kind not in ("DISTANCE", "RELATIVE", "LOOP", "CENTER_OF_MASS"):  # which cannot be met there
        assert robot.robokin.solver.status == "CONVERGED", robot.robokin.solver.reason


def test_a_curve_that_is_bent_is_followed(scene):
    robot = add_robot(live=True)
    path = curve_object([(0.4, y, 0.5) for y in np.linspace(-0.3, 0.3, 7)])
    task = robot.robokin.tasks.add()
    task.name, task.kind, task.tip, task.target = "path", "CURVE", TOOL, path
    robot.update_tag()
    update()
    tip = robot.pose.bones[TOOL]
    assert abs(tip.matrix.translation.z - 0.5) < BOUND and abs(tip.matrix.translation.x - 0.4) < BOUND
    for point in path.data.splines[0].points:
        point.co.z += 0.1
    path.data.update_tag()
    update()
    assert abs(tip.matrix.translation.z - 0.6) < BOUND
    path.scale = (1.1, 1.1, 1.1)
    update()
    assert abs(tip.matrix.translation.z - 0.66) < BOUND and abs(tip.matrix.translation.x - 0.44) < BOUND


def test_a_humanoid_with_four_levels(scene):
    robot = add_robot("talos_full_v2", "floating", live=True)
    bones = binding(robot).bone_of_link
    for link, kind, level in (
        ("left_sole_link", "POSE", 1),
        ("right_sole_link", "POSE", 1),
        ("gripper_left_base_link", "POSITION", 2),
        ("gripper_right_base_link", "POSITION", 3),
        ("head_2_link", "ORIENTATION", 4),
    ):
        target = add_target(robot, bones[link], kind)
        robot.robokin.tasks[-1].priority = level
    update()
    tasks = {task.tip: task for task in robot.robokin.tasks}
    hand = tasks[bones["gripper_left_base_link"]]
    feet = [robot.pose.bones[bones[f"{side}_sole_link"]].matrix.translation.copy() for side in ("left", "right")]
    for _ in range(10):
        hand.target.location.x += 0.02
        hand.target.location.z += 0.01
        update()
        assert (robot.pose.bones[hand.tip].matrix.translation - hand.target.location).length < BOUND
    for side, before in zip(("left", "right"), feet, strict=True):
        assert (robot.pose.bones[bones[f"{side}_sole_link"]].matrix.translation - before).length < BOUND
    hand.target.location.x += 3.0
    update()
    assert not hand.reached and robot.robokin.solver.status == "MAX_ITERATIONS"
    for side, before in zip(("left", "right"), feet, strict=True):
        assert (robot.pose.bones[bones[f"{side}_sole_link"]].matrix.translation - before).length < BOUND
    assert target.name and events.live_robots(scene) == [robot]


@pytest.mark.parametrize("scale", [0.05, 1.0, 2.5])
def test_scaled_robots_and_other_units(scene, scale):
    robot = add_robot(live=True)
    robot.scale = (scale,) * 3
    update()
    target = add_target(robot)
    update()
    for _ in range(3):
        target.location.x -= 0.02 * scale
        update()
        tip = (robot.matrix_world @ robot.pose.bones[TOOL].matrix).translation
        assert (tip - target.location).length < 1.5e-4
    scene.unit_settings.scale_length = 0.5
    update()
    target.location.x -= 0.02 * scale
    update()
    tip = (robot.matrix_world @ robot.pose.bones[TOOL].matrix).translation
    assert (tip - target.location).length < 1.5e-4


OTHERS = [pytest.param(bone, marks=pytest.mark.slow) for bone in ("thread", "euler", "table")]


@pytest.mark.parametrize("bone", ["ball", "kite", "skew", *OTHERS])
def test_joints_of_every_type_are_followed(scene, bone):
    robot = make_every_joint()
    update()
    target = add_target(robot, f"{bone} tip", "POSITION")
    update()
    limits, before = binding(robot).model.limits, read_configuration(robot)
    for _ in range(5):
        target.location.x += 0.01
        target.location.y -= 0.01
        update()
        q = read_configuration(robot)
        plain = [i for i in range(len(q)) if np.isfinite(limits.lower[i]) or np.isfinite(limits.upper[i])]
        assert (q[plain] >= limits.lower[plain]).all() and (q[plain] <= limits.upper[plain]).all()
        assert not readouts.live(robot).text.startswith("Waits")
    assert abs(q - before).max() > 1e-3
    if bone in ("ball", "kite", "table"):  # on a base that is fixed or free the others may not get there
        tip = robot.matrix_world @ robot.pose.bones[f"{bone} tip"].head
        assert (tip - target.location).length < 0.1
