"""A bake of a whole motion: in the window and on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.cli import main
from robokin_addon.operators.solve.bake import ROBOKIN_OT_bake
from robokin_addon.operators.solve.smooth import ROBOKIN_OT_smooth
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import set_frame
from robokin_addon.scene.bake.resampling import broken_limits
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, add_target, circle
from support.blender.windows import called, window

FRAMES = 24


def motion(scene, robot):
    return finish(sample_motion(scene, robot, range(1, FRAMES + 1), binding(robot)))


def accelerations(found) -> float:
    return float((found.a[1:] ** 2).sum())


def follower(scene):
    scene.frame_start, scene.frame_end = 1, FRAMES
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), FRAMES, 0.05)
    return robot


def test_the_whole_motion_is_gentler_and_meets_the_same_tasks(scene, tmp_path):
    robot = follower(scene)
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake() == {"FINISHED"}
        first = motion(scene, robot)
        robot.robokin.solver.bake_mode = "WHOLE"
        assert bpy.ops.robokin.bake() == {"FINISHED"}
    settings = robot.robokin.solver
    assert settings.bake_status == "CONVERGED" and "optimal" in settings.bake_reason, settings.bake_reason
    whole = motion(scene, robot)
    assert accelerations(whole) < accelerations(first)
    assert not check_motion(whole, float32=True).violations
    set_frame(scene, 1)
    path = tmp_path / "whole.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    report = tmp_path / "report.json"
    assert (
        main(["bake", str(path), "--mode", "whole", "--cost", "acceleration=2,jerk=1e-6", "--json", str(report)]) == 0
    )
    assert len(json.loads(report.read_text("utf-8"))["frames"]) == FRAMES
    assert main(["bake", str(path), "--mode", "frames", "--cost", "jerk"]) == 2
    assert main(["bake", str(path), "--cost", "speed"]) == 2


def test_enter_ends_a_whole_motion_with_the_best_so_far(scene, monkeypatch):
    robot = follower(scene)
    called(bpy.ops.robokin.bake, robot)
    first, settings = motion(scene, robot), robot.robokin.solver
    settings.bake_mode = "WHOLE"
    with window(monkeypatch, ROBOKIN_OT_bake) as seen:
        assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"}
    late = max(i for i, share in enumerate(seen.shares) if 60.0 <= share < 90.0)
    assert "Enter: keep the best so far" in seen.texts[late]
    with window(monkeypatch, ROBOKIN_OT_bake, *[""] * (late - 2), "RET") as ended:
        assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"}
    assert ended.slices < seen.slices and "stopped: the best motion so far" in settings.bake_reason
    found = motion(scene, robot)
    assert accelerations(found) < accelerations(first) and not check_motion(found, float32=True).violations
    with window(monkeypatch, ROBOKIN_OT_smooth, "", "", "RET") as ended:
        assert called(bpy.ops.robokin.smooth, robot) == {"FINISHED"}
    assert "Enter" in ended.texts[0]
    settings.bake_mode = "FRAMES"
    with window(monkeypatch, ROBOKIN_OT_bake, "RET") as frames:
        assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"}
    assert "Enter" not in frames.texts[0] and settings.bake_status == "CONVERGED"


def test_joints_with_limits_on_acceleration_keep_them_when_keys_are_rounded(scene):
    robot = follower(scene)
    model = robot_model(robot)
    robot.robokin.solver.bake_mode, robot.robokin.solver.motion_cost = "WHOLE", "JERK"
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.bake()
    found = motion(scene, robot)
    assert (found.q >= model.lower).all() and (found.q <= model.upper).all()
    assert np.isfinite(found.a).all() and not check_motion(found, float32=True).violations


def test_smooth_repairs_keys_that_break_limits(scene, tmp_path, capfd):
    robot = follower(scene)
    rng = np.random.default_rng(0)
    q = read_configuration(robot)
    for frame in range(1, FRAMES + 1):
        write_configuration(robot, q + 0.2 * rng.normal(size=len(q)))
        keyed = [bone for bone in robot.pose.bones if not all(bone.lock_rotation)]
        for bone in keyed:
            bone.keyframe_insert("rotation_euler", frame=frame)
    assert check_motion(motion(scene, robot), float32=True).violations
    path = tmp_path / "wild.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.smooth() == {"FINISHED"}
    assert re.search(r"the farthest from the animation is panda_joint\d by [\d.]+°; ", capfd.readouterr().out)
    assert not check_motion(motion(scene, robot), float32=True).violations
    report = tmp_path / "smooth.json"
    assert main(["smooth", str(path), "--time", "0.1", "--json", str(report)]) == 0
    told = json.loads(report.read_text("utf-8"))
    assert told["broken_before"] > 0 == told["broken_after"] and told["is_optimal"]
    assert told["broken"] == [] and main(["smooth", str(path), "--frames", "3:3"]) == 2


def test_smooth_of_a_robot_that_stands_still_says_so(scene, capfd):
    robot = follower(scene)
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.smooth() == {"FINISHED"}
    said = capfd.readouterr().out
    assert "no sample broke a limit; no joint is off the animation; " in said and "now 0" not in said


def test_smooth_names_what_it_cannot_mend_at_its_ends(scene, capfd):
    """A part of a motion that is too fast: no step from the frames beside it to a motion within limits is legal."""
    robot = follower(scene)
    model, speed = robot_model(robot), 3.0 * robot_model(robot).velocity[0]
    turns = np.tile(read_configuration(robot), (FRAMES, 1))
    middle = 0.5 * (model.lower[0] + model.upper[0])
    turns[:, 0] = middle + np.sin(np.arange(FRAMES) * speed / scene.render.fps)
    write_curves(robot, range(1, FRAMES + 1), turns, False, binding(robot))
    broken = {each.frame + 1 for each in check_motion(motion(scene, robot), float32=True).violations}
    first, last = 5, FRAMES - 4
    assert {first - 1, last + 1} <= broken
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.smooth(frame_start=first, frame_end=last) == {"FINISHED"}
    left = {each.frame + 1 for each in check_motion(motion(scene, robot), float32=True).violations}
    beside = sorted(left & set(range(first, last + 3)))
    assert beside
    said = capfd.readouterr().out
    assert "now 0" not in said and f"broken at frame {beside[0]}" in said
    assert "of panda_joint1 is " in said and "choose a longer range, or Retime" in said
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.smooth() == {"FINISHED"}
    assert "now 0" in capfd.readouterr().out


def test_an_exported_motion_names_the_limits_that_it_breaks(scene, tmp_path, capfd):
    robot = follower(scene)
    model = robot_model(robot)
    turns = np.tile(read_configuration(robot), (FRAMES, 1))
    turns[8:, 0] += 0.3
    write_curves(robot, range(1, FRAMES + 1), turns, False, binding(robot))
    path = tmp_path / "fast.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    saying = r"limits are broken at frame 9, first the velocity of panda_joint1 is .*, allowed .*: Smooth or Retime"
    assert model.velocity[0] < 0.3 * scene.render.fps
    csv = str(tmp_path / "a.csv")
    with bpy.context.temp_override(object=robot):
        for smooth in (False, True):
            bpy.ops.robokin.export_motion(filepath=csv, smooth=smooth)
            where = "frame [789]( to 9)?" if smooth else "frame 9"
            assert re.search(saying.replace("frame 9", where), capfd.readouterr().out)
        bpy.ops.robokin.smooth()
        capfd.readouterr()
        bpy.ops.robokin.export_motion(filepath=csv, smooth=True, rate=500.0)
    assert "broken" not in capfd.readouterr().out
    for options in ([], ["--smooth", "--rate", "500"]):
        assert main(["export", str(path), "-o", csv, *options]) == 0
        assert "limits are broken at frame" in capfd.readouterr().err


def test_soft_tasks_cost_and_hold_nothing(scene, tmp_path):
    """Two tasks that no pose meets at once: the soft one gives way, at the frames at which it counts."""
    robot = follower(scene)
    far = add_target(robot, kind="POSITION")
    far.location.x += 0.3
    task, settings = robot.robokin.tasks[1], robot.robokin.solver
    task.name, task.soft_weight, settings.bake_mode = "Beside", 10.0, "WHOLE"
    for frame, influence in ((1, 0.0), (9, 0.0), (10, 1.0), (FRAMES, 1.0)):
        task.influence = influence
        task.keyframe_insert("influence", frame=frame)
    report = tmp_path / "report.json"
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(report_path=str(report)) == {"FINISHED"}
        assert settings.bake_status == "CONVERGED" and "optimal" in settings.bake_reason, settings.bake_reason
        assert bpy.ops.robokin.check() == {"FINISHED"}
    assert settings.check_passed, settings.check_summary
    told = json.loads(report.read_text("utf-8"))
    (soft,) = told["soft"]
    misses = [row["residuals"][1] for row in told["frames"]]
    assert soft["task"] == "Beside" and soft["weight"] == 10.0 and misses[8] is None
    assert soft["largest"]["position"] == max(own["position"] for own in misses[9:]) > 0.1
    set_frame(scene, 1)
    path = tmp_path / "soft.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bake = ["bake", str(path), "--mode", "whole", "--json", str(report)]
    assert main([*bake, "--soft", "Beside=1000"]) == 0
    nearer = json.loads(report.read_text("utf-8"))["soft"][0]
    assert nearer["weight"] == 1000.0 and nearer["rms"]["position"] < soft["rms"]["position"]
    assert main([*bake, "--soft", "Beside=0"]) == 1  # hard: they cannot both be met
    assert main([*bake, "--soft", "Nobody=1"]) == main([*bake, "--soft", "Beside"]) == 2
    assert main(["bake", str(path), "--mode", "frames", "--soft", "Beside=1"]) == 2


@pytest.mark.parametrize(
    ("frames", "broken", "where"),
    [
        ([1, 2, 3, 4, 5], [0, 1, 2, 4], "1 to 3, 5"),
        ([1, 3, 5, 7, 9], [0, 1, 2, 3, 4], "1 to 9"),
        ([1, 3, 5, 7, 9], [0, 2, 3], "1, 5 to 7"),
        ([1, 1.2, 1.4, 1.6, 1.8, 2, 3, 4], [1, 2, 3, 7], "1 to 2, 4"),
        ([*range(1, 20, 2)], [0, 2, 4, 6, 8], "1, 5, 9 and 2 more"),
    ],
)
def test_samples_one_after_the_other_are_one_span(frames: Sequence[float], broken: Sequence[int], where: str) -> None:
    found = [SimpleNamespace(frame=i, sentence=lambda: "speed") for i in broken]
    assert broken_limits(found, frames, "mend it") == [f"limits are broken at frame {where}, first the speed: mend it"]
