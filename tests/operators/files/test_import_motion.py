"""What Export Motion writes is read back as the same animation."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, robot_model
from robokin_addon.robokin import clamp, library_robot, random_configuration, save_urdf
from robokin_addon.scene.animation.curves import sample_configurations
from robokin_addon.solvers import Motion, write_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, build
from support.command import run
from support.robots import robot as robot_file


def imported(obj, path, **options):
    with bpy.context.temp_override(object=obj, active_object=obj):
        return bpy.ops.robokin.import_motion(filepath=str(path), **options)


def seen(obj, frames):
    return finish(sample_configurations(bpy.context.scene, obj, list(frames), binding(obj)))


def wandering(model, samples=12, rate=24.0, seed=5):
    rng = np.random.default_rng(seed)
    ends = [clamp(model, random_configuration(model, rng)) for _ in range(2)]
    whole = Motion.of(model, [0.0, (samples - 1) / rate], ends)
    return whole.resample(rate)


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("name", ["mobile_arm", "puppet", "panda"])
def test_exported_and_read_back(scene, tmp_path, name, ending):
    obj = build(library_robot(name))
    motion = wandering(robot_model(obj))
    path = write_motion(motion, tmp_path / f"motion.{ending}")
    assert imported(obj, path, frame_start=11) == {"FINISHED"}
    found = seen(obj, range(11, 23))
    signs = np.ones_like(found)
    for first in motion.model.tree.quaternions:
        own = slice(first, first + 4)
        signs[:, own] = np.sign(np.sum(found[:, own] * motion.q[:, own], axis=1))[:, None]
    np.testing.assert_allclose(found * signs, motion.q, atol=1e-5)


def test_another_rate_and_an_end_between_frames(scene, tmp_path):
    obj = add_robot()
    model, q = robot_model(obj), robot_model(obj).limits.middle(robot_model(obj).neutral())
    end = q.copy()
    end[0] += 0.5
    path = write_motion(Motion.of(model, [2.0, 2.1], [q, end]).resample(1000.0), tmp_path / "motion.csv")
    imported(obj, path, frame_start=1)
    found = seen(obj, range(1, 5))  # 0.1 s are 2.4 frames of 1/24 s
    share = np.minimum(np.arange(4) / 24.0 / 0.1, 1.0)
    np.testing.assert_allclose(found[:, 0], q[0] + 0.5 * share, atol=1e-5)


def test_values_outside_the_limits_are_moved_inside_and_reported(scene, tmp_path, capfd):
    obj = add_robot()
    (tmp_path / "far.csv").write_text("time,panda_joint4\n0,-1\n1,3\n")
    imported(obj, tmp_path / "far.csv", frame_start=1)
    assert "moved inside the limits in" in capfd.readouterr().out
    model = robot_model(obj)
    assert seen(obj, [25])[0][3] == pytest.approx(model.upper[3], abs=1e-6)


def test_joints_without_values_are_named(scene, tmp_path, capfd):
    obj = build(library_robot("puppet"))
    balls = [joint.name for joint in robot_model(obj).moving_joints if joint.nq != joint.nv]
    path = write_motion(wandering(robot_model(obj)), tmp_path / "m.yaml")
    assert imported(obj, path) == {"FINISHED"}
    said = capfd.readouterr().out
    assert f"m.yaml has no values for {', '.join(map(repr, balls))}: kept neutral" in said
    save_urdf(robot_model(add_robot()), tmp_path / "arm.urdf")
    (tmp_path / "part.csv").write_text("time,panda_joint4\n0,-1\n1,-2\n")
    done = run(capfd, "import", tmp_path / "arm.urdf", "--motion", tmp_path / "part.csv", "-o", tmp_path / "a.blend")
    assert done.code == 0 and "part.csv has no values for 'panda_joint1'" in done.err


def test_a_bad_file_changes_nothing(scene, tmp_path):
    obj = add_robot()
    (tmp_path / "bad.csv").write_text("time,nobody\n0,1\n")
    with pytest.raises(RuntimeError, match=r"bad\.csv.*nobody.*valid: .*panda_joint1"):
        imported(obj, tmp_path / "bad.csv")
    with pytest.raises(RuntimeError, match="no such file"):
        imported(obj, tmp_path / "none.csv")
    (tmp_path / "ms.csv").write_text("time,panda_joint1\n0,0\n1e9,1\n")  # milliseconds, or less
    with pytest.raises(RuntimeError, match="1e\\+09 s ends after frame 1048574"):
        imported(obj, tmp_path / "ms.csv")
    assert obj.animation_data is None or obj.animation_data.action is None


def test_on_the_command_line(scene, tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    save_urdf(library_robot("puma560"), path)
    model = library_robot("puma560")
    motion = write_motion(wandering(model), tmp_path / "motion.csv")
    blend = tmp_path / "robot.blend"
    assert run(capsys, "import", path, "--motion", motion, "-o", blend).code == 0
    back = tmp_path / "back.csv"
    assert run(capsys, "export", blend, "-o", back).code == 0
    first, second = (np.loadtxt(each, delimiter=",", skiprows=1) for each in (motion, back))
    np.testing.assert_allclose(second, first, atol=1e-5)
    assert run(capsys, "import", robot_file("panda"), "--motion", motion, "-o", blend).refused("motion.csv")
