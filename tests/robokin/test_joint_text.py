"""Joint values as text: what is written reads back, what others write is understood, faults are told."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import yaml
from robokin_addon.robokin import (
    Joint,
    Link,
    Mimic,
    RobokinError,
    RobotModel,
    UnknownNameError,
    format_joint_values,
    load_urdf,
    parse_joint_values,
    random_configuration,
    within_limits,
)
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from support.hostile.fuzzing import bounded
from support.robots import robot


def arm(root: str = "fixed") -> RobotModel:
    joints = [
        Joint("robot:turn", "revolute", "base", "a", lower=-1.0, upper=1.0),
        Joint("slide 1", "prismatic", "a", "b", lower=0.0, upper=0.5),
        Joint("follower", "revolute", "b", "c", mimic=Mimic("robot:turn", 2.0, 0.1)),
        Joint("ball/x", "planar", "c", "d"),
    ]
    return RobotModel("arm", [Link(name) for name in ("base", "a", "b", "c", "d")], joints, root)


def every_type() -> RobotModel:
    kinds = [kind for kind in JOINT_TYPES.values() if kind.nq and kind.name != "wheeled"]  # that one needs wheels
    joints = [Joint(f"j_{kind.name}", kind.name, f"l{i}", f"l{i + 1}", pitch=0.1) for i, kind in enumerate(kinds)]
    return RobotModel("every", [Link(f"l{i}") for i in range(len(kinds) + 1)], joints)


@pytest.mark.parametrize("style", ["lines", "json"])
@pytest.mark.parametrize("model", [arm("floating"), every_type(), load_urdf(robot("talos_full_v2"), root="floating")])
def test_what_is_written_reads_back(model, style):
    q = random_configuration(model, np.random.default_rng(3))
    values = model.joint_values(q)
    found = parse_joint_values(model, format_joint_values(model, values, style))
    assert found.unknown == () and found.values.keys() == values.keys()
    exact = 0.0 if style == "json" else 1e-10
    for name, value in values.items():
        assert np.allclose(found.values[name], value, rtol=exact, atol=exact), name


TEXTS = {
    "lines": "robot:turn: 30 deg\nslide 1 = 20cm\nball/x: 1, 2 m, 90°\n",
    "radians": f"robot:turn={math.radians(30)}\n'slide 1': 0.2,\n# a comment\nball/x: [1 2 {math.pi / 2}]  # one more",
    "json": json.dumps({"robot:turn": math.radians(30), "slide 1": "200 mm", "ball/x": [1, 2, "90 deg"]}),
    "table": "time;robot:turn;slide 1;ball/x/x;ball/x/y;ball/x/angle\n0;30 deg;0.2;1;2;90 deg",
    "row": f"{math.radians(30)},0.2,1,2,{math.pi / 2}",
    "spaces": f"{math.radians(30)} 0.2 1 2 {math.pi / 2}",
    "list": json.dumps([math.radians(30), 0.2, 1, 2, math.pi / 2]),
    "joint state as json": json.dumps(
        {"name": ["robot:turn", "slide 1", "ball/x"], "position": [math.radians(30), 0.2, [1, 2, math.pi / 2]]}
    ),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_what_others_write_is_understood(text):
    model = arm()
    found = parse_joint_values(model, text)
    assert found.unknown == ()
    assert np.allclose(model.configuration(found.values), [math.radians(30), 0.2, 1, 2, math.pi / 2], atol=1e-12)


@pytest.mark.parametrize("flow", [True, False])
@pytest.mark.parametrize("names", ["name", "joint_names"])
def test_a_ros_joint_state(flow, names):
    """As PyYAML, which ROS uses, writes it."""
    positions = "position" if names == "name" else "positions"
    message = {
        "header": {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": ""},
        names: ["slide 1", "robot:turn", "finger"],
        positions: [0.25, -1e-05, 3.0],
        "velocity": [9.0, 9.0, 9.0],
    }
    found = parse_joint_values(arm(), yaml.dump(message, default_flow_style=flow, sort_keys=False) + "---\n")
    assert found.values == {"slide 1": 0.25, "robot:turn": -1e-05}
    assert found.unknown == ("finger",)


def test_degrees_are_taken_where_asked_for():
    found = parse_joint_values(arm(), "robot:turn: 30\nslide 1: 0.2", degrees=True)
    assert found.values == {"robot:turn": pytest.approx(math.radians(30)), "slide 1": 0.2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("hello", ["one row", "not 0"]),
        ("slide 1: fast", ["'slide 1'", "'fast'"]),
        ("slide 1: 1 deg", ["'slide 1'", "deg", "m, cm, mm"]),
        ("slide 1: 1 m\nslide 1: 2 m", ["'slide 1'", "twice"]),
        ("ball/x: 1 2", ["'ball/x'", "3 values"]),
        ("1 2 3", ["5 numbers", "not 3"]),
        ("[1, 2]", ["5 numbers"]),
        ("{", ["not JSON"]),
        ('{"slide 1": true}', ["'slide 1'", "True"]),
        ('{"slide 1": NaN}', ["'slide 1'", "nan"]),
        ('{"slide 1": 1e999}', ["'slide 1'", "inf"]),
        ('{"slide 1": {"a": 1}}', ["'slide 1'"]),
        ('{"name": ["slide 1"], "position": [1, 2]}', ["1 names", "2 positions"]),
        ("a,b\n1,2\n3,4", ["one row", "not 2"]),
        ("slide 1: 1 m 2", ["'slide 1'"]),
        ("slide 1: \u0661", ["'slide 1'"]),
        (": 3", ["': 3'"]),
        ("x" * 2_000_000, ["longer"]),
        ("a,b\n1," + "1" * 200_000, ["not a table", "131072"]),
        ("slide 1: " + "1" * 200_000, ["'slide 1'"]),
        ('{"slide 1": ' + "9" * 5000 + "}", ["not JSON", "4300 digits"]),
        ('{"slide 1": ' + "9" * 400 + "}", ["'slide 1'", "inf"]),
    ],
)
def test_faults_are_reported(text, words):
    with pytest.raises(RobokinError) as fault:
        parse_joint_values(arm(), text)
    assert all(word in str(fault.value) for word in words), fault.value
    assert "\n" not in str(fault.value)


def test_only_unknown_names_are_an_error():
    with pytest.raises(UnknownNameError, match="slide 1"):
        parse_joint_values(arm(), "slide 2: 3")


@pytest.mark.parametrize(
    "text",
    [
        "1" + " " * 400_000 + "a" + " " * 400_000 + ":" + "1" * 100_000 + "x",
        "position: [\n" * 80_000,
        ("\n" + " " * 3000 + "position:") * 330,
        "a:b," * 240_000,
        "x" * 200_000 + ",1",
    ],
    ids=["spaces", "brackets", "indented", "a head", "a long cell"],
)
def test_hostile_texts_take_no_time(text):
    joints = [Joint(f"j{i}", "revolute", "base", f"l{i}", lower=-1.0, upper=1.0) for i in range(1000)]
    model = RobotModel("wide", [Link("base"), *(Link(f"l{i}") for i in range(1000))], joints)
    with bounded(5, text[:30]), pytest.raises(RobokinError):
        parse_joint_values(model, text)


def test_limits_clamp_and_are_reported():
    model = arm()
    q, told = within_limits(model, model.configuration({"robot:turn": 2.0, "slide 1": 0.5 + 1e-12}))
    assert q[0] == model.upper[0]
    assert len(told) == 1 and "'robot:turn'" in told[0] and "114.592 deg" in told[0]
    assert (q <= model.upper).all() and (q >= model.lower).all()


def test_what_is_no_text_or_no_mapping_is_refused():
    model = arm()
    with pytest.raises(RobokinError, match="joint values must be a text, not"):
        parse_joint_values(model, np.zeros(2))
    with pytest.raises(RobokinError, match="joint values must be a mapping by joint names, not"):
        format_joint_values(model, np.zeros(2))
    with pytest.raises(RobokinError, match="joint values must be a mapping by joint names, not"):
        format_joint_values(model, np.zeros(2), "json")
