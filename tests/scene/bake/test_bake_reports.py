"""From where a bake starts, and what it says of the frames."""

from __future__ import annotations

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from robokin_addon.properties.bridge import read_configuration, robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.bake import report as bake_report
from robokin_addon.scene.bake.report import tried_out
from robokin_addon.solvers import Diagnosis, Status
from robokin_addon.solvers.tracking.result import TrackResult
from support.blender.scene_bakes import bake, keys
from support.blender.scene_robots import add_robot, add_target


def test_the_start_decides_the_posture(robot, target):
    bake(robot)
    first = keys(robot)
    bake(robot, q0=json.dumps({"panda_joint1": 1.5, "panda_joint4": -1.0}))
    other = keys(robot)
    assert max(abs(first[key] - other[key]).max() for key in first) > 0.3
    with pytest.raises(RuntimeError, match="q0 must name joints as JSON"):
        bake(robot, q0="1, 2")


@pytest.fixture
def wound_up(scene):
    """A UR5 without a stored posture, and a target that turns its wrist by one and a half turns."""
    scene.frame_start, scene.frame_end = 1, 120
    robot = add_robot("ur5_robot")
    model = robot_model(robot)
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.5, 0.0])
    target = add_target(robot, "wrist_3_joint")
    target.rotation_mode = "QUATERNION"
    for frame in range(1, 121):
        q[5] = -4.0 + 9.4 * (frame - 1) / 119
        target.matrix_world = Matrix(forward_kinematics(model, q)["wrist_3_link"])
        for path in ("location", "rotation_quaternion"):
            target.keyframe_insert(path, frame=frame)
    return robot


def test_without_a_stored_posture_a_start_is_looked_for(scene, wound_up, tmp_path):
    wound_up.robokin.solver.start = "AUTOMATIC"
    settings = bake(wound_up, report_path=str(tmp_path / "told.json"))
    assert settings.bake_status == "CONVERGED" and ", from " in settings.bake_reason
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["start"] and told["start"] in settings.bake_reason
    assert {row["status"] for row in told["frames"]} == {"CONVERGED"}
    first = keys(wound_up)
    scene.frame_set(77)
    bake(wound_up)
    assert first.keys() == keys(wound_up).keys()
    for channel, points in keys(wound_up).items():
        assert (points == first[channel]).all()


def test_rest_a_stored_posture_and_given_values_are_honoured(wound_up, tmp_path):
    unlucky = {"wrist_3_joint": 3.0}
    for options in ({"start": "REST"}, {"q0": json.dumps(unlucky)}, {}):
        if not options:
            wound_up.robokin.solver.posture, wound_up.robokin.solver.start = json.dumps(unlucky), "POSTURE"
        settings = bake(wound_up, report_path=str(tmp_path / "told.json"), **options)
        assert settings.bake_status != "CONVERGED"
        assert json.loads((tmp_path / "told.json").read_text())["start"] is None


def test_of_frames_of_levels_that_fail_alike_the_first_and_last_are_tried_out(scene, robot, target, monkeypatch):
    """The frames of levels are followed one by one; trying out why one fails takes longer than to follow it."""
    add_target(robot, kind="POSITION")
    robot.robokin.tasks[1].priority = 2
    robot.robokin.tasks[1].target.location.z += 0.2
    tried = []
    try_out = TrackResult.diagnosis
    monkeypatch.setattr(TrackResult, "diagnosis", lambda self, frame: tried.append(frame) or try_out(self, frame))
    settings = bake(robot, frame_end=8, q0=json.dumps(dict(robot_model(robot).joint_values(read_configuration(robot)))))
    (failed,) = settings.bake_failures
    assert failed.status == "TASK_CONFLICT" and failed.last == 8 and tried == [0, 7]


def test_frames_that_miss_the_same_tasks_for_other_reasons_are_reported_apart(monkeypatch):
    tried = []

    def why(frame):
        tried.append(frame)
        if frame < 11:
            return Diagnosis(Status.MAX_ITERATIONS, f"another posture, {frame} mm away")
        return Diagnosis(Status.LIMIT, f"the limit of a, at {frame}", joints=("a",))

    def parts():
        steps = tried_out(SimpleNamespace(status=[Status.MAX_ITERATIONS] * 30, diagnosis=why), 0, 29, 0.5)
        while True:
            try:
                assert next(steps) == 0.5
            except StopIteration as done:
                return [(first, last, found and found.status) for first, last, found in done.value]

    assert parts() == [(0, 10, "MAX_ITERATIONS"), (11, 29, "LIMIT")] and len(tried) < 15
    monkeypatch.setattr(bake_report, "TRIES", 2)
    assert parts() == [(0, 14, None), (15, 29, None)]


def test_the_report_has_every_frame_as_written(scene, robot, target, tmp_path):
    bake(robot, frame_end=5, report_path=str(tmp_path / "bake.json"))
    rows = json.loads((tmp_path / "bake.json").read_text())["frames"]
    assert [row["frame"] for row in rows] == [1, 2, 3, 4, 5]
    for row in rows:
        scene.frame_set(row["frame"])
        shown = robot_model(robot).joint_values(read_configuration(robot))
        assert row["q"] == pytest.approx(shown, abs=1e-9) and row["status"] == "CONVERGED"


def test_frames_that_fail_alike_are_listed_as_one_with_their_tasks(scene, robot, target, tmp_path):
    """Two goals that part and meet again; then one that is out of reach."""
    robot.robokin.tasks[0].name = "gripper"
    rival = add_target(robot, kind="POSITION")
    robot.robokin.tasks[1].name = "rival"
    place = target.location.copy()
    target.animation_data_clear()
    target.location = place
    for frame, away in ((9, 0.0), (10, 0.02), (15, 0.02), (16, 0.0), (29, 0.0), (30, 2.0), (40, 2.0)):
        rival.location = place
        rival.location.x += away
        rival.keyframe_insert("location", frame=frame)
    for curve in animation.fcurves(rival).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    report = tmp_path / "bake.json"
    settings = bake(robot, report_path=str(report))
    told = json.loads(report.read_text())
    first, *_, last = told["failures"]
    assert first["frames"] == [10, 15] and first["status"] == "TASK_CONFLICT"
    assert sorted(first["tasks"]) == ["task 'gripper'", "task 'rival'"] and first["missed"]
    assert last["frames"] == [30, 40] and last["status"] == "OUT_OF_REACH" and last["tasks"] == ["task 'rival'"]
    failed = [row["frame"] for row in told["frames"] if row["status"] != "CONVERGED"]
    assert failed == [frame for each in told["failures"] for frame in range(each["frames"][0], each["frames"][1] + 1)]
    shown = [(item.first, item.last, item.status) for item in settings.bake_failures]
    assert shown == [(*each["frames"], each["status"]) for each in told["failures"]]
    assert settings.bake_reason.startswith("frames 10-15: each alone can be met, no pose was found for all: ")
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.failure_show(index=len(shown) - 1) == {"FINISHED"}
        assert scene.frame_current == 30
        with pytest.raises(RuntimeError, match=f"no number {len(shown)}"):
            bpy.ops.robokin.failure_show(index=len(shown))


def test_a_posture_stands_aside_for_a_place_that_jumps(scene, robot, tmp_path):
    """As the posture leads the arm away from there, the place would be reached five frames later."""
    start, posture = ((0.42, 0.1, 1.53, -0.64, 0.06, 2.92, 1.72), (1.8, 1.29, 0.75, -2.93, -2.58, 0.43, 1.17))
    scene.frame_end = 36
    write_configuration(robot, np.append(posture, 0.01))
    bpy.ops.robokin.store_posture(name="below")
    write_configuration(robot, np.append(start, 0.01))
    target = add_target(robot, kind="POSITION")
    target.keyframe_insert("location", frame=12)
    target.location = (0.67, 0.0, 0.91)
    target.keyframe_insert("location", frame=13)
    missed, told = [], {}
    for is_below in (False, True):
        if is_below:
            below = robot.robokin.tasks.add()
            below.name, below.kind, below.posture, below.priority = "below", "POSTURE", "below", 2
        write_configuration(robot, np.append(start, 0.01))
        bake(robot, report_path=str(tmp_path / "told.json"), start="PRESENT")
        told = json.loads((tmp_path / "told.json").read_text())
        missed.append(sum(row["residuals"][0]["position"] > 1e-5 for row in told["frames"]))
    assert missed[1] <= 1.15 * missed[0] + 2
    assert "stand aside" in " ".join(failure["reason"] for failure in told["failures"])


def test_a_reason_names_a_missed_task_once(scene):
    """An arm of five joints, whose tool cannot keep its rotation on the way."""
    robot = add_robot("hextilt_flying_arm_5")
    bpy.ops.robokin.target_add(kind="POSE")
    task = robot.robokin.tasks[0]
    task.target.location.xyz += Vector((-0.05, 0.15, 0.15))
    scene.frame_end = 2
    bpy.context.view_layer.objects.active = robot
    bpy.ops.robokin.bake()
    failure = robot.robokin.solver.bake_failures[0]
    assert failure.status == "MAX_ITERATIONS" and failure.reason.count(f"task {task.name!r}") == 1
