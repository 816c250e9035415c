"""The numbers of a robot may be functions of time: keys and drivers on the properties of its bones."""

from __future__ import annotations

import json
from dataclasses import replace

import bpy
import numpy as np
import pytest
from robokin_addon.cli import main
from robokin_addon.properties.bridge import binding, robot_model, to_blender
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.scene.animation.curves import write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.check import check
from robokin_addon.solvers import check_motion
from robokin_addon.solvers.progress import finish
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
    write_curves(arm, [1, 21], np.array([[1.0, 0.0], [1.0, 0.0]]), False, binding(arm))
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


def test_each_frame_is_judged_with_few_around_it_as_with_all(arm, monkeypatch):
    """A limit that is another in each frame: all frames for each would take the square of their number."""
    scene, frames = bpy.context.scene, range(1, 31)
    joint = arm.data.bones[1].robokin
    for frame, velocity in ((1, 0.4), (30, 4.0)):
        joint.velocity = velocity
        arm.data.keyframe_insert(f'bones["{arm.data.bones[1].name}"].robokin.velocity', frame=frame)
    q = np.column_stack((0.3 * np.sin(np.array(frames) / 3.0), np.zeros(30)))
    write_curves(arm, [*frames], q, False, binding(arm))
    judged = []

    def counted(motion, **options):
        judged.append(len(motion))
        return check_motion(motion, **options)

    monkeypatch.setattr(check, "check_motion", counted)
    limits = {"jerk": 200.0, "tools": {"l1": {"speed": 0.5, "acceleration": 8.0}}}
    found = finish(check.check_steps(scene, bpy.context.view_layer, arm, binding(arm), frames, limits=limits))
    assert sum(judged) <= 6 * len(frames)
    expected = []
    for at, frame in enumerate(frames):
        scene.frame_set(frame)
        motion = replace(found.motion, model=robot_model(arm))
        whole = check_motion(motion, float32=True, limits=limits)
        expected += [each for each in whole.violations if each.frame == at]
    assert set(found.limits.violations) == set(expected)
    assert {each.kind for each in expected} >= {"velocity", "jerk", "tool speed", "tool acceleration"}


@pytest.mark.parametrize("way", ["driver", "strip"])
def test_a_check_knows_what_drivers_and_strips_make_of_limits(arm, way):
    """The bound grows from 0.05 by as much at each frame; the joint stands at 0.48."""
    path = f'bones["{arm.data.bones[1].name}"].robokin.upper'
    if way == "driver":
        arm.data.driver_add(path).driver.expression = "frame / 20"
    else:
        joint = arm.data.bones[1].robokin
        for frame, upper in ((1, 0.05), (21, 1.05)):
            joint.upper = upper
            arm.data.keyframe_insert(path, frame=frame)
        animation = arm.data.animation_data
        for point in fcurves(arm.data)[path, 0].keyframe_points:
            point.interpolation = "LINEAR"
        strip = animation.nla_tracks.new().strips.new("strip", 1, animation.action)
        strip.action_slot, animation.action = animation.action_slot, None
    write_curves(arm, [1, 21], np.array([[0.48, 0.0], [0.48, 0.0]]), False, binding(arm))
    for present in (3, 18):
        bpy.context.scene.frame_set(present)
        found = finish(check.check_steps(bpy.context.scene, bpy.context.view_layer, arm, binding(arm), range(1, 22)))
        assert {each.frame for each in found.limits.violations if each.kind == "upper"} == set(range(9))


def test_collisions_are_reported_where_limits_have_keys(arm):
    bpy.ops.mesh.primitive_cube_add(size=0.4, location=(1.5, 0.0, 0.0))
    bpy.context.object.robokin.is_obstacle = True
    bpy.context.view_layer.update()
    write_curves(arm, [1, 5], np.array([[0.0, 0.0], [1.0, 0.0]]), False, binding(arm))

    def hit():
        found = finish(check.check_steps(bpy.context.scene, bpy.context.view_layer, arm, binding(arm), range(1, 6)))
        return [(each.frame, each.links) for each in found.limits.violations if each.kind == "collision"]

    before, joint = hit(), arm.data.bones[1].robokin
    for frame, velocity in ((1, 4.0), (5, 5.0)):
        joint.velocity = velocity
        arm.data.keyframe_insert(f'bones["{arm.data.bones[1].name}"].robokin.velocity', frame=frame)
    assert before and hit() == before


def test_dynamics_take_the_numbers_of_each_frame(scene, tmp_path):
    """Damping has keys and the inertia of a rotor a driver: curves, files and readouts know both at each frame."""
    plain = planar_arm(2)
    links = [replace(link, mass=1.0, inertia=0.1 * np.eye(3)) for link in plain.links]
    arm = build(RobotModel("arm", links, plain.joints[1:]))
    arm.robokin.live = False
    first, last = (f'bones["{bone.name}"].robokin' for bone in list(arm.data.bones)[1:3])
    scene.frame_start, scene.frame_end = 1, 21
    model, t = robot_model(arm), np.arange(21.0)
    Q = np.column_stack((0.3 * np.sin(0.3 * t), 0.2 * np.cos(0.4 * t)))
    write_curves(arm, range(1, 22), Q, False, binding(arm))

    def efforts():
        with bpy.context.temp_override(object=arm):
            assert bpy.ops.robokin.key_dynamics() == {"FINISHED"}
        curves = fcurves(arm)
        found = [
            [curves[f'["robokin_dynamics"]["{joint.name} {kind}"]', 0].evaluate(frame) for frame in range(1, 22)]
            for kind in ("effort", "velocity", "acceleration")
            for joint in model.moving_joints
        ]
        return np.array(found).reshape(3, 2, 21)

    before, v, a = efforts()
    for frame, damping in ((1, 0.0), (21, 2.0)):
        arm.data.path_resolve(first).damping = damping
        assert arm.data.keyframe_insert(f"{first}.damping", frame=frame)
    arm.data.driver_add(f"{last}.rotor_inertia").driver.expression = "frame / 10"
    damping = [fcurves(arm.data)[f"{first}.damping", 0].evaluate(frame) for frame in range(1, 22)]
    for present in (1, 21):
        scene.frame_set(present)
        expected = before + np.stack((damping * v[0], 0.1 * (1 + t) * a[1]))
        np.testing.assert_allclose(efforts()[0], expected, atol=1e-4 * abs(expected).max())
    blend, told = tmp_path / "a.blend", tmp_path / "told.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    assert main(["export", str(blend), "--dynamics", "-o", str(told)]) == 0
    quantities = json.loads(told.read_text())["quantities"]
    assert main(["dynamics", str(blend), "--json", str(told), "--plot", str(tmp_path / "m.svg")]) in (0, 1)
    values = json.loads(told.read_text())["values"]
    for own, joint in zip(expected, model.moving_joints, strict=True):
        for found in (quantities[f"{joint.name} effort"]["values"], values[f"{joint.name} effort"]):
            np.testing.assert_allclose(found, own, atol=1e-4 * abs(expected).max())


@pytest.mark.parametrize("present", [1, 21])
def test_the_command_judges_the_efforts_that_it_reports(arm, tmp_path, present):
    """Damping grows to what breaks the limit; at the first frame alone there is none."""
    scene, bone = bpy.context.scene, arm.data.bones[1]
    bone.robokin.has_effort, bone.robokin.effort = True, 30.0
    for frame, damping in ((1, 0.0), (21, 60.0)):
        bone.robokin.damping = damping
        arm.data.keyframe_insert(f'bones["{bone.name}"].robokin.damping', frame=frame)
    for link in arm.data.bones:
        link.robokin.mass = 0.01
    t = np.arange(21.0)
    Q = np.column_stack((0.3 * np.sin(0.3 * t), 0.2 * np.cos(0.4 * t)))
    write_curves(arm, range(1, 22), Q, False, binding(arm))
    scene.frame_start, scene.frame_end = 1, 21
    scene.frame_set(present)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    code = main(["dynamics", str(tmp_path / "a.blend"), "--json", str(tmp_path / "a.json")])
    told = json.loads((tmp_path / "a.json").read_text("utf-8"))
    broken = told["violations"]
    assert code == 1 and broken and {each["kind"] for each in broken} == {"effort"}
    for each in broken:
        assert abs(told["values"][f"{each['joint']} effort"][each["frame"]]) > each["limit"]


@pytest.mark.parametrize("present", [1, 21])
def test_the_command_tells_the_limit_of_the_frame(arm, tmp_path, capsys, present):
    """An effort that the limit of its own frame allows, while that of another frame does not."""
    scene, bone, joint = bpy.context.scene, arm.data.bones[1], robot_model(arm).moving_joints[0].name
    for link in arm.data.bones:
        link.robokin.mass = 0.01
    bone.robokin.damping = 20.0
    bone.robokin.has_effort = True
    for frame, limit in ((1, 100.0), (21, 4.0)):
        bone.robokin.effort = limit
        arm.data.keyframe_insert(f'bones["{bone.name}"].robokin.effort', frame=frame)
    for point in fcurves(arm.data)[f'bones["{bone.name}"].robokin.effort', 0].keyframe_points:
        point.interpolation = "LINEAR"
    angles = np.concatenate((np.linspace(0.0, 0.8, 11), np.full(10, 0.8)))
    write_curves(arm, range(1, 22), np.column_stack((angles, np.zeros(21))), False, binding(arm))
    scene.frame_start, scene.frame_end = 1, 21
    scene.frame_set(present)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    assert main(["dynamics", str(tmp_path / "a.blend"), "--json", str(tmp_path / "a.json")]) == 0
    said = capsys.readouterr().out
    told = json.loads((tmp_path / "a.json").read_text("utf-8"))
    effort = abs(np.array(told["values"][f"{joint} effort"]))
    limits = np.linspace(100.0, 4.0, 21)
    at = int(np.argmax(effort / limits))
    assert 4.0 < effort[at] < limits[at] and f"{joint}: {effort[at]:.4g} N m of {limits[at]:.6g} N m" in said
    assert "effort limits kept" in said
