"""Which links are offered as the tool."""

from __future__ import annotations

import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, load_urdf
from robokin_addon.robokin.structure.tool_links import tool_links
from support.robots import robot


def model(*joints: tuple[str, str, str]) -> RobotModel:
    """(type, parent, child) each."""
    links = dict.fromkeys(name for _, *ends in joints for name in ends)
    return RobotModel("r", [Link(name) for name in links], [Joint(f"to {c}", kind, p, c) for kind, p, c in joints])


ARM = [("continuous", "base", "upper"), ("continuous", "upper", "lower")]


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
        ([*ARM, ("fixed", "upper", "camera")], ("lower", "camera")),
    ],
)
def test_the_last_frames_of_what_moves(joints, tools):
    assert tool_links(model(*joints)) == tools


def test_real_robots():
    assert tool_links(load_urdf(robot("panda"))) == ("panda_hand_tcp",)
    assert tool_links(load_urdf(robot("ur5_robot"))) == ("tool0",)
    several = tool_links(load_urdf(robot("talos_reduced")))
    assert len(several) > 1 and "left_sole_link" in several and not several[0].startswith("rgbd")
