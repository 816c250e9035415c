"""Spherical joints in Blender: one quaternion on one bone, inside its cone whatever moves it, at every time."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from robokin_addon.panels.prepared.robot_panel import joint_summary
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.properties.bridge.pose.spherical import keys_in_cone, surely_inside, unit
from robokin_addon.properties.handlers import reported_faults
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.robokin.spatial.swing_twist import contains, from_swing_and_twist, swing_and_twist
from robokin_addon.scene.animation.frames import fcurves
from support.blender.panels import draw
from support.blender.scene_robots import add_target, build, shown

AXES = [(0, 0, 1), (0, 1, 0), (0, 0, -1), (1, 0, 0), (0.6, 0, 0.8), (0.36, 0.48, 0.8)]
CONES = [
    ([0.8, 0.4, 0.6], -0.6),
    ([0.3, 0.3, 3.0], -3.0),
    ([2.5, 1.0, 0.2], 0.1),
    ([np.inf, 0.5, np.inf], -np.inf),
    ([0.0, 0.7, 0.5], -0.5),
    ([0.9, 0.5, 0.0], 0.0),
]


def ball(axis=(0, 0, 1), upper=(0.8, 0.4, 0.6), lowest=-0.6, **fields) -> RobotModel:
    upper = np.array(upper, float)
    lower = np.array([-upper[0], -upper[1], lowest])
    step = np.eye(4)
    step[2, 3] = 0.5
    shoulder = Joint("ball", "spherical", "a", "b", placement=step, axis=axis, lower=lower, upper=upper, **fields)
    elbow = Joint("elbow", "revolute", "b", "c", placement=step, axis=(1, 0, 0), lower=-2.0, upper=2.0)
    tool = Joint("tool", "fixed", "c", "d", placement=step)
    return RobotModel("puppet", [Link(name) for name in "abcd"], [shoulder, elbow, tool])


def swing_twist_shown(obj: bpy.types.Object, model: RobotModel) -> tuple[np.ndarray, float]:
    """Of the ball, from the matrices that Blender draws; by the definition, not by the quaternion on the bone."""
    R = shown(obj, "b")[:3, :3]
    axis = model.joint("ball").axis
    turned = R @ axis
    swing = np.cross(axis, turned)
    angle = math.atan2(np.linalg.norm(swing), axis @ turned)
    swing = swing / max(np.linalg.norm(swing), 1e-30) * angle
    twist = quaternion.to_matrix(quaternion.exp(swing)).T @ R
    sine = np.array([twist[2, 1] - twist[1, 2], twist[0, 2] - twist[2, 0], twist[1, 0] - twist[0, 1]]) @ axis / 2.0
    return swing, math.atan2(sine, (np.trace(twist) - 1.0) / 2.0)


def excess(model: RobotModel, swing: np.ndarray, twist: float) -> float:
    """[rad] beyond the limits of the ball, 0 inside."""
    joint = model.joint("ball")
    cone = model.limits.cones[0]
    parts = [float(swing @ cone.basis[:, i]) for i in (0, 1)]
    if joint.upper[:2].min() == 0.0:
        over = max(abs(part) - end for part, end in zip(parts, joint.upper[:2], strict=True))
    else:
        measure = math.hypot(*(part / end for part, end in zip(parts, joint.upper[:2], strict=True)))
        over = float(np.linalg.norm(swing)) * (1.0 - 1.0 / max(measure, 1.0))
    if cone.has_twist:
        over = max(over, joint.lower[2] - twist, twist - joint.upper[2])
    return over


@pytest.mark.parametrize("axis", AXES)
def test_a_ball_is_the_quaternion_of_its_bone(scene, axis):
    model = ball(axis)
    obj = build(model)
    bone = obj.pose.bones["ball"]
    assert bone.rotation_mode == "QUATERNION" and len(obj.data.bones) == 4
    assert all(bone.lock_location) and all(bone.lock_scale) and not any(bone.lock_rotation)
    back = robot_model(obj).joint("ball")
    assert back.type == "spherical" and (back.lower == model.joint("ball").lower).all()
    np.testing.assert_array_equal(back.axis, model.joint("ball").axis)
    if sorted(map(abs, axis)) == [0, 0, 1]:
        np.testing.assert_allclose(binding(obj).frames[1][:, 1], axis, atol=1e-12)  # Y is the axis of twist
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        np.testing.assert_allclose(shown(obj, "d"), forward_kinematics(model, q)["d"], atol=2e-6)
        again = read_configuration(obj)
        assert in_limits(model, again)
        np.testing.assert_allclose(again * np.sign(again[0] * q[0]), q * np.sign(q[0] * again[0]) ** 2, atol=2e-6)


@pytest.mark.parametrize("axis", AXES[:4])
@pytest.mark.parametrize("limits", CONES, ids=str)
def test_a_hand_stays_in_the_cone(scene, axis, limits):
    model = ball(axis, *limits)
    obj = build(model)
    assert in_limits(model, read_configuration(obj))
    rng = np.random.default_rng(1)
    for _ in range(30):
        obj.pose.bones["ball"].rotation_quaternion = rng.normal(size=4)
        bpy.context.view_layer.update()
        q = read_configuration(obj)
        # Of a swing about one axis only and a twist, single precision holds no quaternion but by chance.
        assert in_limits(model, q, 1e-6 if limits[0][0] == 0.0 else 0.0)
        assert excess(model, *swing_twist_shown(obj, model)) < 2e-6
        values = tuple(obj.pose.bones["ball"].rotation_quaternion)
        obj.update_tag()
        bpy.context.view_layer.update()  # what is inside stays as it is
        assert tuple(obj.pose.bones["ball"].rotation_quaternion) == values


def test_what_is_inside_is_not_touched(scene):
    model = ball()
    obj = build(model)
    q = from_swing_and_twist(np.array([0.3, -0.1]), np.array(0.2), model.limits.cones[0].basis)
    found = binding(obj)
    for channel, value in zip(found.own_channels[:4], -3.0 * q, strict=True):  # neither unit nor positive
        obj.pose.bones["ball"].rotation_quaternion[channel.index] = value / channel.factor
    before = tuple(obj.pose.bones["ball"].rotation_quaternion)
    bpy.context.view_layer.update()
    assert tuple(obj.pose.bones["ball"].rotation_quaternion) == before


def test_limits_hold_in_another_rotation_mode(scene):
    model = ball()
    obj = build(model)
    bone = obj.pose.bones["ball"]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = (0.1, 0.1, 0.1)
    bpy.context.view_layer.update()
    assert bone.rotation_mode == "XYZ"  # inside: nothing is changed
    bone.rotation_euler = (2.0, 0.3, 0.0)
    bpy.context.view_layer.update()
    assert in_limits(model, read_configuration(obj))
    assert excess(model, *swing_twist_shown(obj, model)) < 2e-6


def test_a_drag_past_a_twist_limit_stays_there(scene, monkeypatch):
    """Past half a turn the limit at the other end is nearer."""
    from robokin_addon.operators.handlers import hand_limits

    model = ball((0, 1, 0))
    obj = build(model)
    bone = obj.pose.bones["ball"]
    monkeypatch.setattr(hand_limits, "transform_running", lambda: True)
    for angle in [*np.arange(0.0, 9.0, 0.4), *np.arange(9.0, -9.0, -0.4)]:
        bone.rotation_quaternion = Quaternion((0, 1, 0), angle)
        bpy.context.view_layer.update()
        assert swing_twist_shown(obj, model)[1] == pytest.approx(min(max(angle, -0.6), 0.6), abs=1e-5)
    monkeypatch.undo()
    bone.rotation_quaternion = Quaternion((0, 1, 0), -3.0)
    bpy.context.view_layer.update()
    bone.rotation_quaternion = Quaternion((0, 1, 0), 3.0)
    bpy.context.view_layer.update()
    assert swing_twist_shown(obj, model)[1] == pytest.approx(0.6, abs=1e-5)
    assert not hand_limits._last


def test_identity_outside_the_limits(scene):
    model = ball(upper=(0.5, 0.5, 1.2), lowest=0.4)
    obj = build(model)
    swing, twist = swing_twist_shown(obj, model)
    assert twist == pytest.approx(0.4, abs=1e-5) and np.linalg.norm(swing) < 1e-6
    assert in_limits(model, read_configuration(obj))
    np.testing.assert_allclose(obj.data.bones["ball"].head_local, (0, 0, 0.5), atol=1e-6)
    write_configuration(obj, model.neutral())
    assert in_limits(model, read_configuration(obj))


@pytest.mark.parametrize("value", [(0, 0, 0, 0), (math.nan, 0, 0, 1), (math.inf, 0, 0, 1)])
@pytest.mark.parametrize("is_dragged", [False, True])
def test_quaternions_that_say_nothing(scene, monkeypatch, value, is_dragged):
    from robokin_addon.operators.handlers import hand_limits

    obj = build(ball())
    bpy.context.view_layer.objects.active = obj
    monkeypatch.setattr(hand_limits, "transform_running", lambda: is_dragged)
    bpy.context.view_layer.update()
    obj.pose.bones["ball"].rotation_quaternion = value
    bpy.context.view_layer.update()
    assert "\u00b0" in " ".join(draw(object=obj, active_object=obj)["ROBOKIN_PT_joint_values"]["labels"])
    if math.isfinite(sum(value)):
        np.testing.assert_allclose(read_configuration(obj)[:4], (1, 0, 0, 0))
    obj.pose.bones["ball"].rotation_quaternion = (1, 0, 0, 0)
    bpy.context.view_layer.update()
    assert in_limits(robot_model(obj), read_configuration(obj)) and reported_faults() == []


def fast_motion(model: RobotModel, frames: int, seed: int = 3) -> np.ndarray:
    """Along the border of cone and twist: turning round it while the twist goes from end to end."""
    cone = model.limits.cones[0]
    rng = np.random.default_rng(seed)
    angle = np.cumsum(rng.uniform(0.05, 0.5, frames))
    reach = np.minimum([cone.a, cone.b], 2.0)
    swing = reach * np.column_stack((np.cos(angle), np.sin(angle)))
    low, high = max(cone.lower, -3.0), min(cone.upper, 3.0)
    twist = low + (high - low) * (0.5 + 0.5 * np.sin(0.7 * angle))
    Q = np.tile(model.neutral(), (frames, 1))
    Q[:, :4] = from_swing_and_twist(swing, twist, cone.basis) * rng.choice((-1.0, 1.0), frames)[:, None]
    return Q


@pytest.mark.parametrize("limits", [limits for limits in CONES if limits[0][0] > 0.0], ids=str)
def test_keys_stay_in_the_cone_between_frames_too(scene, limits):
    """Blender itself evaluates the curves, and its matrices are measured."""
    from robokin_addon.scene.animation.curves import write_curves

    model = ball((0, 1, 0), *limits)
    obj = build(model)
    Q = fast_motion(model, 40)
    written = write_curves(obj, list(range(1, 41)), Q, False, binding(obj))
    assert model.limits.contain(np.concatenate((unit(written[:, :4]), written[:, 4:]), axis=1)).all()
    signs = np.einsum("ij,ij->i", written[1:, :4], written[:-1, :4])
    assert (signs > 0.0).all()
    worst = 0.0
    for frame in np.arange(1.0, 40.0, 0.25):
        scene.frame_set(int(frame), subframe=frame % 1.0)
        worst = max(worst, excess(model, *swing_twist_shown(obj, model)))
    assert worst < 5e-6
    turned = abs(np.einsum("ij,ij->i", unit(written[:, :4]), Q[:, :4]))
    assert 2.0 * np.arccos(np.minimum(turned, 1.0)).max() < 0.12  # they move inside a little, and no more


def test_a_locked_swing_is_left_between_far_keys_only(scene):
    """It has no inside to move to: what two keys that are d apart leave it by falls as d squared."""
    model = ball((0, 1, 0), *next(limits for limits in CONES if limits[0][0] == 0.0))
    cone = model.limits.cones[0]
    left = []
    for step in (0.2, 0.1, 0.05):
        at = np.arange(0.0, 6.0, step)
        swing = np.column_stack((0.0 * at, 0.7 * np.sin(2.0 * at)))
        keys = unit(keys_in_cone(cone, from_swing_and_twist(swing, 0.5 * np.cos(3.0 * at), cone.basis)))
        assert contains(cone, keys, 1e-6).all()
        middle = swing_and_twist(unit(0.5 * (keys[1:] + keys[:-1])), cone.basis)[0]
        left.append(abs(middle[:, 0]).max())
    assert left[0] < 0.02 and left[1] < 0.3 * left[0] and left[2] < 0.3 * left[1]


def test_slow_keys_are_those_that_were_solved(scene):
    model = ball()
    cone = model.limits.cones[0]
    Q = np.array([from_swing_and_twist(np.array([0.5, 0.1]) * t, 0.3 * t, cone.basis) for t in np.linspace(0, 1, 30)])
    np.testing.assert_array_equal(keys_in_cone(cone, Q), Q.astype(np.float32))


def test_the_quick_check_is_never_wrong(scene):
    rng = np.random.default_rng(21)
    agreed = 0
    for _ in range(40):
        a, b = rng.uniform(0.05, 3.1, 2)
        low, high = np.sort(rng.uniform(-math.pi, math.pi, 2))
        cone = ball(rng.normal(size=3), (a, b, high), low).limits.cones[0]
        Q = np.concatenate((rng.normal(size=(50, 4)), from_swing_and_twist(
            rng.uniform(-1.1, 1.1, (50, 2)) * (a, b), rng.uniform(low, high, 50), cone.basis
        )))  # fmt: skip
        inside = contains(cone, unit(Q))
        quick = np.array([surely_inside(cone, *q) for q in Q])
        assert not (quick & ~inside).any()
        agreed += int((quick == inside).sum())
    assert agreed > 3990  # of 4000


def test_random_cones_hold(scene):
    rng = np.random.default_rng(11)
    for seed in range(60):
        a, b = rng.uniform(0.05, 3.1, 2)
        low, high = np.sort(rng.uniform(-math.pi, math.pi, 2))
        model = ball(rng.normal(size=3), (a, b, high), low)
        cone = model.limits.cones[0]
        keys = keys_in_cone(cone, _continuous(fast_motion(model, 12, seed)[:, :4]))
        assert contains(cone, unit(keys)).all(), seed


def _continuous(Q: np.ndarray) -> np.ndarray:
    for before, after in pairwise(Q):
        after *= np.sign(before @ after) or 1.0
    return Q


def test_the_sign_goes_on_from_the_frame_before(scene):
    from robokin_addon.scene.animation.curves import key_channels, write_curves

    model = ball()
    obj = build(model)
    q = model.neutral()
    q[:4] = unit(np.array([-0.9, 0.1, 0.0, 0.1]))
    bone = obj.pose.bones["ball"]
    bone.rotation_quaternion = -Quaternion((1.0, 0.0, 0.0, 0.0))
    for i in range(4):
        bone.keyframe_insert("rotation_quaternion", index=i, frame=0)
    write_curves(obj, [5, 6], np.array([-q, q]) * np.array([1, 1, 1, 1, 0]), False, binding(obj))
    scene.frame_set(5)
    assert bone.rotation_quaternion.w < 0.0
    bone.rotation_quaternion.negate()
    key_channels(obj, 8, binding(obj))
    assert fcurves(obj)['pose.bones["ball"].rotation_quaternion', 0].evaluate(8) < 0.0


def test_posed_by_ik_baked_and_read_back(scene):
    model = ball()
    obj = build(model)
    rng = np.random.default_rng(5)
    start, end = random_configuration(model, rng), random_configuration(model, rng)
    for q in (start, end):
        q[4] = abs(q[4]) + 0.3 if abs(q[4]) < 1.5 else q[4]
    write_configuration(obj, start)
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.store_posture() == {"FINISHED"}
    target = add_target(obj, "tool", "POSITION")
    for frame, q in ((1, start), (24, end)):
        target.location = forward_kinematics(model, q)["d"][:3, 3]
        target.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.objects.active = obj
    report = Path(bpy.app.tempdir) / "ball.json"
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=24, report_path=str(report)) == {"FINISHED"}
    rows = json.loads(report.read_text())["frames"]
    assert {path for path, _ in fcurves(obj)} == {
        'pose.bones["ball"].rotation_quaternion',
        'pose.bones["elbow"].rotation_euler',
    }
    for row in rows:
        scene.frame_set(row["frame"])
        solved = model.configuration(row["q"])
        q = read_configuration(obj)
        assert in_limits(model, q)
        np.testing.assert_allclose(q * np.sign(q @ solved), solved * np.sign(q @ solved) ** 2, atol=1e-6)
        assert excess(model, *swing_twist_shown(obj, model)) < 2e-6


def test_the_panel_speaks_of_swing_and_twist(scene):
    obj = build(ball((0, 1, 0)))
    summary = joint_summary(obj, obj.data.bones["ball"])
    assert set(summary.cone) == {"Swing X", "Swing Z"} and summary.freedoms == ()
    first = summary.cone[0][-1]
    fields = obj.data.bones["ball"].robokin
    assert fields.upper_angle == pytest.approx(0.8) and fields.lower_3_angle == pytest.approx(-0.6)
    fields.upper_angle = 0.25
    joint = robot_model(obj).joint("ball")
    assert (joint.lower[0], joint.upper[0]) == (-0.25, 0.25)
    # The first swing is about the axis of the bone that its label names.
    for axis, limit in (("X", 0.25 if first == "X" else 0.4), ("Z", 0.25 if first == "Z" else 0.4)):
        obj.pose.bones["ball"].rotation_quaternion = Quaternion((axis == "X", 0.0, axis == "Z"), 1.5)
        bpy.context.view_layer.update()
        assert obj.pose.bones["ball"].rotation_quaternion.angle == pytest.approx(limit, abs=1e-5)
    fields.use_upper = fields.use_lower = False
    assert np.isinf(robot_model(obj).joint("ball").upper[0])
    assert joint_summary(build(ball((0.6, 0, 0.8))), bpy.data.objects["puppet.001"].data.bones["ball"]).cone == (
        "Swing 1",
        "Swing 2",
    )


def test_swing_and_twist_are_as_measured(scene):
    """The measure of these tests agrees with the definition of the limits."""
    model = ball((0.6, 0, 0.8))
    obj = build(model)
    cone = model.limits.cones[0]
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = random_configuration(model, rng)
        write_configuration(obj, q)
        swing, twist = swing_twist_shown(obj, model)
        expected = swing_and_twist(q[:4], cone.basis)
        np.testing.assert_allclose(cone.basis[:, :2].T @ swing, expected[0], atol=1e-5)
        assert twist == pytest.approx(float(expected[1]), abs=1e-5)
