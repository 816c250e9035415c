"""A person keys the angle of a screw; its way is there at every frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, build_armature, read_configuration
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.scene.animation.frames import fcurves

PITCH = 0.05
ANGLE, WAY = ('pose.bones["screw"].rotation_euler', 1), ('pose.bones["screw"].location', 1)


def build() -> bpy.types.Object:
    screw = Joint("screw", "screw", "a", "b", axis=(0, 1, 0), pitch=PITCH, lower=-20.0, upper=20.0)
    model = RobotModel("r", [Link("a"), Link("b"), Link("c")], [screw, Joint("hinge", "revolute", "b", "c")])
    return build_armature(bpy.context, bpy.context.scene.collection, model)


def key(obj: bpy.types.Object, frame: int, angle: float) -> None:
    bpy.context.scene.frame_set(frame)
    obj.pose.bones["screw"].rotation_euler[1] = angle
    obj.pose.bones["screw"].keyframe_insert("rotation_euler", index=1)
    bpy.context.view_layer.update()


def assert_on_the_thread(obj: bpy.types.Object) -> None:
    bone = obj.pose.bones["screw"]
    for frame in np.arange(-2.0, 30.0, 0.75):
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame % 1.0)
        assert bone.location[1] == pytest.approx(PITCH * bone.rotation_euler[1], abs=2e-6)


def test_the_way_is_keyed_with_the_angle(scene):
    obj = build()
    for frame, angle in ((1, 0.5), (11, 7.0), (20, -3.0)):
        key(obj, frame, angle)
    assert set(fcurves(obj)) == {ANGLE, WAY}
    assert_on_the_thread(obj)
    points = fcurves(obj)[ANGLE].keyframe_points
    points[1].co.y, points[1].handle_right.y, points[1].interpolation = 9.0, 14.0, "LINEAR"
    points[2].co.x = 25.0
    points[2].handle_left_type, points[2].handle_left = "FREE", (18.0, 2.0)
    fcurves(obj)[ANGLE].update()
    obj.update_tag()
    bpy.context.view_layer.update()
    assert_on_the_thread(obj)


def test_a_curve_that_follows_is_left_alone(scene):
    obj = build()
    key(obj, 1, 0.5)
    way = fcurves(obj)[WAY]
    way.keyframe_points[0].select_control_point = False
    way.color_mode, way.color = "CUSTOM", (1, 0, 0)
    obj.pose.bones["hinge"].rotation_euler[1] = 0.3
    bpy.context.view_layer.update()
    assert not fcurves(obj)[WAY].keyframe_points[0].select_control_point


def test_without_keys_of_the_angle_the_way_has_none(scene):
    obj = build()
    key(obj, 1, 0.5)
    for curve in list(fcurves(obj).values()):
        if (curve.data_path, curve.array_index) == ANGLE:
            obj.animation_data.action.layers[0].strips[0].channelbag(obj.animation_data.action_slot).fcurves.remove(
                curve
            )
    obj.pose.bones["screw"].rotation_euler[1] = 1.0
    bpy.context.view_layer.update()
    assert WAY not in fcurves(obj)
    scene.frame_set(9)
    assert obj.pose.bones["screw"].location[1] == pytest.approx(PITCH)
    assert read_configuration(obj)[0] == pytest.approx(1.0)


def test_a_bake_is_not_touched(scene):
    from robokin_addon.scene.animation.curves import write_curves

    obj = build()
    Q = np.random.default_rng(0).uniform(-20.0, 20.0, (30, binding(obj).model.nq))
    write_curves(obj, list(range(1, 31)), Q, False, binding(obj))
    values = np.empty(60, np.float32)
    fcurves(obj)[WAY].keyframe_points.foreach_get("co", values)
    obj.pose.bones["hinge"].rotation_euler[1] = 0.3
    bpy.context.view_layer.update()
    after = np.empty(60, np.float32)
    fcurves(obj)[WAY].keyframe_points.foreach_get("co", after)
    np.testing.assert_array_equal(values, after)
    assert_on_the_thread(obj)
