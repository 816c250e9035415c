"""A bake past the singular wrist of an arm: slower, beside the path, in another posture."""

from __future__ import annotations

import json
from dataclasses import replace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers.scene_marks import is_present, motion_mark
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.scene.animation import frames as animation
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import PoseTask, all_postures
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_target, build, root_from_world
from support.command import run
from support.problems.family_robots import family_robot

FRAMES = 30


@pytest.fixture
def robot(scene):
    """Its target passes the singular wrist at 1 mm, in 30 frames."""
    scene.frame_start, scene.frame_end = 1, FRAMES
    found = family_robot("kr6")
    joints = [replace(joint, velocity=2.5) if joint.nq else joint for joint in found.joints[1:]]
    model = RobotModel(found.name, found.links, joints, found.root)
    robot = build(model)
    robot.robokin.live = False
    q = np.array([0.2, -1.2, 0.9, 0.3, 0.0, 0.2])
    T = forward_kinematics(model, q)["tool"]
    write_configuration(robot, q)
    bpy.context.view_layer.update()
    target = add_target(robot, "tool_joint")
    place = np.array(target.location)
    for frame in range(1, FRAMES + 1):
        share = -0.1 * np.cos(np.pi * (frame - 1) / (FRAMES - 1))
        target.location = place + share * np.array([0.0, 0.98, 0.196]) + 1e-3 * np.array([0.0, 0.2, -1.0])
        target.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    first = T.copy()
    first[:3, 3] = root_from_world(robot, target.matrix_world)[:3, 3]
    write_configuration(robot, all_postures(model, [PoseTask("tool", first)], q).q[0])
    bpy.context.view_layer.update()
    return robot


def keys(robot) -> int:
    model = binding(robot).model
    assert model.nq == 6
    return max(len(c.keyframe_points) for (path, _), c in animation.fcurves(robot).items() if "pose.bones" in path)


def test_slow_down_needs_more_frames_and_says_where_on_its_path_it_is(scene, robot) -> None:
    settings = robot.robokin.solver
    settings.at_singularities = "SLOW_DOWN"
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
        assert settings.bake_status == "CONVERGED" and "slowed down by" in settings.bake_reason
        assert settings.bake_mark == motion_mark(robot, binding(robot))
        added = keys(robot) - FRAMES
        assert 5 < added < 60 and tuple(robot.robokin.baked_frames) == (1, FRAMES + added)
        curve = animation.fcurves(robot)['["robokin_path"]["frame"]', 0]
        places = [curve.evaluate(frame) for frame in range(1, FRAMES + added + 1)]
        assert places[0] == 1.0 and places[-1] == pytest.approx(FRAMES, abs=1e-4) and (np.diff(places) >= 0.0).all()
        bpy.ops.robokin.check(frame_start=1, frame_end=FRAMES + added, singularity=0.0)
        assert "a limit, the worst" not in settings.check_summary


def test_deviate_keeps_the_time_and_the_bound(scene, robot, tmp_path) -> None:
    settings, path = robot.robokin.solver, tmp_path / "bake.json"
    settings.at_singularities, settings.deviation_position = "DEVIATE", 0.004
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(report_path=str(path)) == {"FINISHED"}
        assert keys(robot) == FRAMES and "beside the path by up to" in settings.bake_reason
        off = [row["residuals"][0]["position"] for row in json.loads(path.read_text())["frames"]]
        assert 1e-4 < max(off) <= 0.004
        bpy.ops.robokin.check(singularity=0.0)
        assert "a limit, the worst" not in settings.check_summary
        settings.deviation_position = 1e-5
        with pytest.raises(RuntimeError, match="no such path past the singularity"):
            bpy.ops.robokin.bake()
        assert not is_present(robot, "bake")  # what the panel still shows is of the bake before
        bpy.ops.robokin.bake(at_singularities="FOLLOW")
        assert settings.bake_status == "LIMIT"


def test_the_posture_is_kept_by_choice(robot, capsys, tmp_path) -> None:
    settings, keep = robot.robokin.solver, ("--singularities", "keep-posture", "-o", tmp_path / "out.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "moves.blend"))
    settings.at_singularities = "KEEP_POSTURE"
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="no such path past"):
        bpy.ops.robokin.bake()
    robot.robokin.tasks[0].target.animation_data_clear()
    start = read_configuration(robot)
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert "in one posture from the first frame to the last" in settings.bake_reason
    np.testing.assert_allclose(read_configuration(robot), start, atol=1e-4)
    settings.at_singularities = "FOLLOW"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rests.blend"))
    done = run(capsys, "bake", tmp_path / "rests.blend", *keep)
    assert done.code == 0 and "in one posture from the first frame to the last" in done.out, done.err
    done = run(capsys, "bake", tmp_path / "moves.blend", *keep)
    assert done.code == 2 and "no such path past" in done.err


def test_what_it_needs_is_reported(robot) -> None:
    settings = robot.robokin.solver
    settings.at_singularities = "CHANGE_POSTURE"
    robot.robokin.tasks[0].influence = 0.5
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="only a robot with one task"):
        bpy.ops.robokin.bake()


def test_the_command_line(robot, capsys, tmp_path) -> None:
    settings = robot.robokin.solver
    settings.at_singularities = "DEVIATE"
    settings.deviation_position = settings.deviation_orientation = 1e-5  # in place of which the command's own count
    path = tmp_path / "robot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    deviate = "--singularities", "deviate", "--deviation", "4", "0.3"
    done = run(capsys, "bake", path, *deviate, "--json", tmp_path / "told.json")
    assert done.code == 0 and "beside the path by up to" in done.out, done.err
    bounds = ("--deviation", "4", "2")
    assert run(capsys, "bake", path, *bounds, "--singularities", "slow-down").refused("--singularities deviate")
    rows = json.loads((tmp_path / "told.json").read_text())["frames"]
    off = [row["residuals"][0] for row in rows]
    assert len(rows) == FRAMES and 1e-4 < max(part["position"] for part in off) <= 0.004
    assert 1e-4 < max(part["orientation"] for part in off) <= np.radians(0.3)
    assert run(capsys, "bake", path, "-o", tmp_path / "out.blend").code == 2  # those of the file
    assert run(capsys, "bake", path, "--singularities", "follow", "-o", tmp_path / "out.blend").code == 1
    for position, angle in ("4", "0.005"), ("0.1", "2"):
        refused = run(capsys, "bake", path, *deviate[:3], position, angle, "-o", tmp_path / "out.blend")
        assert refused.code == 2 and "no such path past the singularity" in refused.err


@pytest.mark.parametrize("narrow", [2, FRAMES + 2], ids=["at once", "after the frames that were asked for"])
def test_limits_that_are_animated_are_kept_in_every_frame(scene, robot, narrow: int) -> None:
    settings = robot.robokin.solver
    for bone in robot.data.bones:
        if bone.robokin.velocity > 0.0:
            for frame, limit in ((1, 2.5), (narrow - 1, 2.5), (narrow, 1.25)):
                bone.robokin.velocity = limit
                robot.data.keyframe_insert(f'bones["{bone.name}"].robokin.velocity', frame=frame)
    scene.frame_set(1)
    settings.at_singularities = "SLOW_DOWN"
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    motion = finish(sample_motion(scene, robot, range(1, robot.robokin.baked_frames[1] + 1), binding(robot)))
    assert 1.2 < abs(motion.v).max() <= 1.25 * (1.0 + 1e-5)
    assert "narrowest" in settings.bake_reason


@pytest.mark.parametrize("has_criterion", [False, True])
def test_a_bake_says_that_criteria_do_not_count(robot, has_criterion) -> None:
    if has_criterion:
        robot.robokin.criteria.add().kind = "KINETIC_ENERGY"
    robot.robokin.solver.at_singularities = "SLOW_DOWN"
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    assert ("criteria do not count" in robot.robokin.solver.bake_reason) == has_criterion
