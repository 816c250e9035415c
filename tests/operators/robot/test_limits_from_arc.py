"""Limits from Two Angles: the arc in which the joint stands, on the bone and in the robot."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import build_armature, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import Joint, Link, RobotModel


@pytest.fixture
def arm(scene: bpy.types.Scene) -> bpy.types.Object:
    """A turning joint without limits, a slide, a universal joint."""
    joints = [
        Joint("turn", "continuous", "base", "a"),
        Joint("slide", "prismatic", "a", "b", lower=0.0, upper=1.0),
        Joint("cross", "universal", "b", "c", lower=[-1.0, -2.0], upper=[1.0, 2.0]),
    ]
    model = RobotModel("arm", [Link("base"), Link("a"), Link("b"), Link("c")], joints)
    return build_armature(bpy.context, scene.collection, model)


def limits(obj: bpy.types.Object, joint: str, freedom: int = 0) -> list[float]:
    found = robot_model(obj).joint(joint)
    return np.degrees([found.lower[freedom], found.upper[freedom]]).tolist()


@pytest.mark.parametrize(
    ("start", "expected"), [(0, (-90, 90)), (180, (90, 270)), (-400, (-450, -270)), (800, (630, 810))]
)
def test_the_arc_where_the_joint_stands(arm: bpy.types.Object, start: float, expected: tuple[float, float]) -> None:
    write_configuration(arm, [math.radians(start), 0.5, 0.1, 0.2])
    before = read_configuration(arm)
    for first, second in ((90, 270), (270, 90), (-90, 90)):
        done = bpy.ops.robokin.limits_from_arc(bone="turn", first=math.radians(first), second=math.radians(second))
        assert done == {"FINISHED"}
        assert robot_model(arm).joint("turn").type == "revolute"
        assert limits(arm, "turn") == pytest.approx(expected, abs=1e-4)
    assert read_configuration(arm) == pytest.approx(before, abs=1e-6)
    write_configuration(arm, [math.radians(start + 360), 0.5, 0.1, 0.2])  # the limits bind
    assert math.degrees(read_configuration(arm)[0]) == pytest.approx(expected[1], abs=1e-4)


def test_a_second_degree_of_freedom_of_the_active_bone(arm: bpy.types.Object) -> None:
    arm.data.bones.active = arm.data.bones["cross"]
    bpy.ops.robokin.limits_from_arc(first=2.0, second=-1.0, freedom=2)
    assert limits(arm, "cross", 1) == pytest.approx(np.degrees([-1.0, 2.0]), abs=1e-4)
    assert limits(arm, "cross", 0) == pytest.approx(np.degrees([-1.0, 1.0]), abs=1e-4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bone": "slide"}, "'slide': degree of freedom 1 of its prismatic joint is no single angle"),
        ({"bone": "turn", "freedom": 2}, "degree of freedom 2 of its continuous joint"),
        ({"bone": "elbow"}, "no joint bone named 'elbow'"),
        ({}, "select the bone of a turning joint"),
    ],
)
def test_what_has_no_arc_is_said(arm: bpy.types.Object, options: dict, said: str) -> None:
    arm.data.bones.active = None
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.robokin.limits_from_arc(**options)
    assert robot_model(arm).joint("turn").type == "continuous"
