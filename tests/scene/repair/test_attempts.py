"""Stretches solved again of a robot on wheels."""

from __future__ import annotations

import bpy
import numpy as np
from robokin_addon.properties.bridge import binding, to_blender, write_configuration
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_target, build
from support.blender.windows import called

FRAMES = range(1, 41)


def test_frames_of_an_arm_on_wheels_are_solved_again_alone(scene):
    """The base is again where it was after the stretch, whose frames alone change: all 40 did."""
    robot = build(library_robot("mobile_arm"))
    robot.robokin.live = False
    found = binding(robot)
    model, start = found.model, found.model.limits.middle(found.model.neutral())
    write_configuration(robot, start)
    target = add_target(robot, found.bone_of_link["tool"])
    target.matrix_world = to_blender(robot, forward_kinematics(model, start)["tool"], None, found)
    for frame, x in ((1, 0.0), (20, 0.1), (40, 0.3)):
        target.location.x += x
        target.keyframe_insert("location", frame=frame)
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    assert called(bpy.ops.robokin.bake, robot) == {"FINISHED"} and robot.robokin.solver.bake_status == "CONVERGED"
    curves = [fcurves(robot)[key] for key in sorted(own_keys(found))]

    def values():
        return np.array([[curve.evaluate(frame) for frame in FRAMES] for curve in curves])

    before = values()
    dragged = next(curve for curve in curves if "wrist_3" in curve.data_path)
    dragged.keyframe_points[15].co.y += 0.15
    dragged.update()
    assert called(bpy.ops.robokin.solve_again, robot) == {"FINISHED"}
    changed = np.flatnonzero(abs(values() - before).max(axis=0) > 1e-6)
    assert len(changed) and abs(changed - 15).max() <= 4
