"""The same scene baked twice gives the same curves: from any frame, after saving, on both backends, in every mode."""

from __future__ import annotations

import threading

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.scene.animation.frames import channelbag, set_frame
from robokin_addon.scene.bake.bake import bake_steps
from robokin_addon.scene.bake.choices import BakeChoices
from support.blender.scene_robots import READY, add_robot, add_target, circle

ELBOW, FRAMES = "panda_joint4", 20


def keys(robot):
    """{(path, index): (n, 2)} of the joints and the costs."""
    found = {}
    for curve in channelbag(robot).fcurves:
        if "influence" not in curve.data_path and "weight" not in curve.data_path:
            co = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", co)
            found[curve.data_path, curve.array_index] = co.reshape(-1, 2)
    return found


def bake(robot):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    return keys(robot)


def assert_same(one, other):
    assert one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


@pytest.fixture(params=["PRIORITIES", "WEIGHTED", "EXTENDED"])
def robot(request, scene):
    """Two levels (in the other modes one), criteria whose weight is keyed, a task that fades."""
    scene.frame_start, scene.frame_end = 1, FRAMES
    obj = add_robot()
    circle(add_target(obj), FRAMES, 0.05)
    elbow = add_target(obj, ELBOW, "POSITION")
    circle(elbow, FRAMES, 0.02)
    task = obj.robokin.tasks[1]
    task.priority, task.position_tolerance = 2, 10.0
    task.use_location = (False, True, False)
    if request.param != "EXTENDED":
        for frame, influence in ((4, 0.0), (12, 0.6), (18, 1.0)):
            task.influence = influence
            task.keyframe_insert("influence", frame=frame)
    else:
        task.enabled = False
    bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS")
    if request.param != "EXTENDED":
        bpy.ops.robokin.criterion_add(kind="KINETIC_ENERGY")
        criterion = obj.robokin.criteria[0]
        for frame, weight in ((1, 1.0), (8, 0.5)):
            criterion.weight = weight
            criterion.keyframe_insert("weight", frame=frame)
    obj.robokin.solver.mode = request.param
    return obj


def test_the_present_frame_and_pose_and_a_saved_file_make_no_difference(scene, robot, tmp_path, monkeypatch):
    first = bake(robot)
    for frame in (7.3, 400.0):
        set_frame(scene, frame)
        q = read_configuration(robot)
        q[: len(READY)] += 0.2
        write_configuration(robot, q)
        assert_same(first, bake(robot))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "robot.blend"))
    again = bpy.data.objects["panda"]
    assert_same(first, bake(again))
    monkeypatch.setenv("ROBOKIN_BACKEND", "numpy")
    other = bake(again)
    assert first.keys() == other.keys()
    for (path, index), values in first.items():
        own = values if "pose.bones" in path else values / max(1.0, abs(values).max())
        theirs = other[path, index] if "pose.bones" in path else other[path, index] / max(1.0, abs(values).max())
        np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-6)


def test_a_rate_that_is_reported_otherwise_makes_no_difference(scene, robot):
    first = bake(robot)
    scene.render.fps *= 2
    scene.render.fps_base = 2.0
    assert_same(first, bake(robot))


def test_no_thread_lives_on_while_blender_has_its_turn(scene, robot):
    before = threading.enumerate()
    choices = BakeChoices(frames=range(1, FRAMES + 1), q0=None)
    steps = bake_steps(scene, bpy.context.view_layer, robot, binding(robot), choices)
    seen = [threading.enumerate() for _ in steps]
    assert len(seen) > FRAMES and all(alive == before for alive in [*seen, threading.enumerate()])
