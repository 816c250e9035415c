"""Which links are offered as the tool."""

from __future__ import annotations

import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, load_urdf
from robokin_addon.robokin.spatial.se3 import translation
from robokin_addon.robokin.structure.tool_links import tool_links
from support.robots import robot


def model(*joints: tuple[str, str, str]) -> RobotModel:
    """(type, parent, child) each."""
    links = dict.fromkeys(name for _, *ends in joints for name in ends)
    return RobotModel("r", [Link(name) for name in links], [Joint(f"to {c}", kind, p, c) for kind, p, c in joints])


ARM = [("continuous", "base", "upper"), ("continuous", "upper", "lower")]
SENSORS = [("fixed", "upper", "camera"), ("fixed", "lower", "WristIMULink")]


@pytest.mark.parametrize(
    ("joints", "tools"),
    [
        ([("fixed", "base", "sign")], ()),
        ([*ARM, ("fixed", "base", "sign")], ("lower",)),
        ([*ARM, ("fixed", "lower", "flange"), ("fixed", "flange", "nozzle")], ("nozzle",)),
        ([*ARM, ("fixed", "lower", "plate"), ("fixed", "lower", "tool0")], ("tool0",)),
        ([*ARM, ("fixed", "lower", "palm"), ("prismatic", "palm", "a"), ("prismatic", "palm", "b")], ("palm",)),
        ([*ARM, ("continuous", "base", "other")], ("lower", "other")),
        ([*ARM, ("fixed", "lower", "camera"), ("fixed", "upper", "my_tcp")], ("my_tcp",)),
        ([*ARM, ("fixed", "upper", "plate")], ("lower", "plate")),
        ([*ARM, *SENSORS, ("continuous", "base", "rotor_1")], ("lower",)),
        ([*ARM, ("continuous", "lower", "Moving_Jaw")], ("lower",)),
        ([*ARM, ("continuous", "lower", "wrist")], ("wrist",)),
        ([("continuous", "base", "wheel_1"), ("continuous", "base", "wheel_2")], ("wheel_1", "wheel_2")),
    ],
)
def test_the_last_frames_of_what_moves(joints, tools):
    assert tool_links(model(*joints)) == tools


def test_real_robots():
    assert tool_links(load_urdf(robot("panda"))) == ("panda_hand_tcp",)
    assert tool_links(load_urdf(robot("ur5_robot"))) == ("tool0",)
    assert tool_links(load_urdf(robot("baxter")))[:2] == ("right_gripper", "left_gripper")
    hands, feet = ("gripper_left_base_link", "gripper_right_base_link"), ("left_sole_link", "right_sole_link")
    assert tool_links(load_urdf(robot("talos_full_v2"))) == (*hands, *feet, "head_2_link")


def test_the_fingers_of_a_hand_are_short_limbs_and_those_of_a_trunk_are_none():
    """Of G1's hands with seven joints each the palms; and its trunk, which carries two arms, is no hand."""
    assert tool_links(load_urdf(robot("g1_29dof_with_hand_rev_1_0")))[:2] == (
        "left_hand_palm_link",
        "right_hand_palm_link",
    )


def test_fingers_are_short_beside_the_way_to_their_own_joints():
    """A forearm is one body with its palm, and begins at the elbow; the legs have more joints than the arms."""
    links, joints = [Link("hips")], []

    def add(parent: str, child: str, along: float, kind: str = "continuous") -> str:
        links.append(Link(child))
        joints.append(Joint(f"to {child}", kind, parent, child, translation((along, 0.0, 0.0)), (0, 1, 0)))
        return child

    for side, sign in (("left", 1.0), ("right", -1.0)):
        knee = add(add("hips", f"{side} hip", 0.1 * sign), f"{side} knee", 0.4 * sign)
        add(add(knee, f"{side} ankle", 0.4 * sign), f"{side} foot", 0.0)
        elbow = add(add("hips", f"{side} shoulder", 0.2 * sign), f"{side} elbow", 0.15 * sign)
        palm = add(elbow, f"{side} palm", 0.25 * sign, "fixed")
        for i in range(3):
            add(add(palm, f"{side} {i}", 0.03 * sign), f"{side} {i} tip", 0.05 * sign)
    assert tool_links(RobotModel("r", links, joints)) == ("left palm", "right palm", "left foot", "right foot")


@pytest.mark.parametrize(("name", "tools"), [("so100", ("gripper",)), ("z1", ("gripperStator",))])
def test_the_jaw_of_a_gripper_is_no_tool(name, tools):
    assert tool_links(load_urdf(robot(name))) == tools
