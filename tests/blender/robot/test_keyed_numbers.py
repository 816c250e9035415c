"""The numbers of a robot may be functions of time: keys and drivers on the properties of its bones."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import robot_model, to_blender
from robokin_addon.robokin import forward_kinematics
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_target, build
from support.problems.obstructed import planar_arm


@pytest.fixture
def arm(scene):
    obj = build(planar_arm(2))
    obj.robokin.live = False
    return obj


def test_keys_on_a_limit_and_a_driver_on_a_mass_make_the_model_of_the_frame(arm):
    scene = bpy.context.scene
    first, last = (f'bones["{bone.name}"].robokin' for bone in list(arm.data.bones)[1:3])
    for frame, upper in ((1, 0.5), (21, 1.5)):
        arm.data.path_resolve(first).upper = upper
        assert arm.data.keyframe_insert(f"{first}.upper", frame=frame)
    driver = arm.data.driver_add(f"{last}.mass").driver
    driver.expression = "1 + frame / 10"
    for frame, upper, mass in ((1, 0.5, 1.1), (21, 1.5, 3.1)):
        scene.frame_set(frame)
        model = robot_model(arm)
        assert model.upper[0] == pytest.approx(upper, abs=1e-6)
        assert model.links[-1].mass == pytest.approx(mass, abs=1e-6)


def test_a_check_takes_the_numbers_of_each_frame(arm):
    scene = bpy.context.scene
    path = f'bones["{arm.data.bones[1].name}"].robokin.upper'
    for frame, upper in ((1, 0.5), (21, 1.5)):
        arm.data.path_resolve(path.rsplit(".", 1)[0]).upper = upper
        arm.data.keyframe_insert(path, frame=frame)
    scene.frame_set(21)
    write_curves(arm, [1, 21], np.array([[1.0, 0.0], [1.0, 0.0]]), new_action=False)
    for present in (1, 21):
        scene.frame_set(present)
        for first, is_outside in ((1, True), (15, False)):
            with bpy.context.temp_override(object=arm, active_object=arm):
                bpy.ops.robokin.check(frame_start=first, frame_end=21)
            assert any(row.status for row in arm.robokin.solver.check_failures) == is_outside


@pytest.mark.parametrize("frame", [1, 21])
def test_a_bake_keeps_the_narrowest_numbers_of_its_frames(arm, frame):
    """With the elbow to either side the first joint needs more than 0.5 rad."""
    scene, bone = bpy.context.scene, arm.data.bones[1]
    for at, value in ((1, 0.5), (21, 1.5)):
        bone.robokin.upper = value
        arm.data.keyframe_insert(f'bones["{bone.name}"].robokin.upper', frame=at)
    target = add_target(arm, arm.pose.bones[-1].name)
    scene.frame_set(21)
    target.matrix_world = to_blender(arm, forward_kinematics(robot_model(arm), [1.0, 0.3])["l1"])
    scene.frame_set(frame)
    for first, upper in ((1, 0.5), (21, 1.5)):
        scene.frame_start, scene.frame_end = first, 30
        with bpy.context.temp_override(object=arm, active_object=arm):
            assert bpy.ops.robokin.bake() == {"FINISHED"}
        curve = fcurves(arm)[next(key for key in fcurves(arm) if bone.name in key[0])]
        shown = max(abs(point.co.y) for point in curve.keyframe_points if point.co.x >= first)
        assert shown <= upper + 1e-6 and scene.frame_current == frame
        assert (arm.robokin.solver.bake_status == "CONVERGED") == (upper > 1.0)
