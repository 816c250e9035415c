"""The tutorial "From six poses to a file for the controller", followed."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.properties.bridge import read_configuration, robot_model, write_configuration
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits
from scipy.interpolate import CubicHermiteSpline
from support.blender.windows import called

POSES = np.random.default_rng(4).uniform(-0.4, 0.4, (6, 7))


def test_six_poses_become_a_file_inside_the_limits(scene, tmp_path):
    assert bpy.ops.robokin.add_robot(robot="panda") == {"FINISHED"}
    robot = bpy.context.object
    robot.robokin.live = False
    start = read_configuration(robot)
    for pose in POSES:
        write_configuration(robot, start + np.append(pose, np.zeros(len(start) - 7)))
        bpy.context.view_layer.update()
        assert called(bpy.ops.robokin.move_add, robot, kind="JOINT") == {"FINISHED"}
    robot.robokin.moves[1].blend, robot.robokin.moves[3].speed = 0.03, 50.0
    write_configuration(robot, start)
    scene.frame_set(1)
    assert called(bpy.ops.robokin.bake_moves, robot) == {"FINISHED"}
    scene.frame_start, scene.frame_end = 1, robot.robokin.moves[-1].last
    assert called(bpy.ops.robokin.check, robot) == {"FINISHED"} and robot.robokin.solver.check_passed
    path = tmp_path / "program.pvt"
    assert called(bpy.ops.robokin.export_motion, robot, filepath=str(path)) == {"FINISHED"}
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    driven = CubicHermiteSpline(rows[:, 0], rows[:, 1::2], rows[:, 2::2])
    times, model = np.linspace(0.0, rows[-1, 0], 20001), robot_model(robot)
    bound = MotionLimits.of(model)
    for order, most in ((1, bound.velocity), (2, bound.acceleration)):
        assert (abs(driven(times, nu=order)) <= most * (1.0 + 1e-3)).all()
    for move in (0, 2, 3, 4, 5):  # the other one blends
        away = abs(driven(times)[:, :7] - start[:7] - POSES[move]).max(axis=1)
        assert away.min() < 2e-3
