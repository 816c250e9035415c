"""`robokin info` says what the file says: read here with the standard library alone."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support.command import report, run
from support.robots import robot

ROBOTS = ["panda", "ur5_robot", "talos_full_v2", "tiago_dual", "pr2", "iris", "xarm7", "human"]


def limit(joint: ElementTree.Element, word: str, absent_when_zero: bool) -> float | None:
    element = joint.find("limit")
    value = None if element is None else element.get(word)
    if value is None or (absent_when_zero and float(value) == 0.0):
        return None
    return float(value)


@pytest.mark.parametrize("name", ROBOTS)
def test_joints_and_links_are_those_of_the_file(name, capsys, tmp_path) -> None:
    document = ElementTree.parse(robot(name)).getroot()
    said = report(capsys, tmp_path, "info", robot(name))
    assert set(said) == {
        "robot",
        "nq",
        "nv",
        "total_mass",
        "center_of_mass",
        "joints",
        "links",
        "unheld_mimics",
        "far_limits",
    }
    assert said["robot"] == document.get("name")
    joints = {joint["name"]: joint for joint in said["joints"]}
    assert sorted(joints) == sorted(j.get("name") for j in document.findall("joint"))
    for element in document.findall("joint"):
        joint, kind = joints[element.get("name")], element.get("type")
        assert list(joint) == "name type parent child axis lower upper velocity effort mimic".split()
        assert joint["type"] == kind
        assert (joint["parent"], joint["child"]) == (
            element.find("parent").get("link"),
            element.find("child").get("link"),
        )
        if kind in ("revolute", "continuous", "prismatic", "planar"):
            axis = element.find("axis")
            xyz = [1.0, 0.0, 0.0] if axis is None else [float(x) for x in axis.get("xyz").split()]
            assert joint["axis"] == pytest.approx([x / math.hypot(*xyz) for x in xyz], abs=1e-12)
        if kind in ("revolute", "prismatic"):
            assert joint["lower"] == (limit(element, "lower", False) or 0.0)
            assert joint["upper"] == (limit(element, "upper", False) or 0.0)
            assert joint["velocity"] == limit(element, "velocity", True)
            assert joint["effort"] == limit(element, "effort", True)
        if kind in ("fixed", "floating"):
            assert [joint[word] for word in ("lower", "upper", "velocity", "effort")] == [None] * 4
        mimic = element.find("mimic")
        assert joint["mimic"] == (
            None
            if mimic is None
            else {
                "joint": mimic.get("joint"),
                "multiplier": float(mimic.get("multiplier", 1.0)),
                "offset": float(mimic.get("offset", 0.0)),
            }
        )
    masses = {
        link.get("name"): 0.0 if link.find("inertial/mass") is None else float(link.find("inertial/mass").get("value"))
        for link in document.findall("link")
    }
    assert {link["name"]: link["mass"] for link in said["links"]} == masses
    assert said["total_mass"] == pytest.approx(sum(masses.values()), rel=1e-12)
    free = sum({"fixed": 0, "planar": 3, "floating": 6}.get(j["type"], 1) for j in said["joints"] if j["mimic"] is None)
    assert said["nv"] == free


def test_a_continuous_joint_has_no_position_limits(capsys, tmp_path) -> None:
    said = report(capsys, tmp_path, "info", robot("kinova"))
    continuous = [joint for joint in said["joints"] if joint["type"] == "continuous"]
    assert continuous
    assert {(joint["lower"], joint["upper"]) for joint in continuous} == {(None, None)}


def test_a_moving_base_is_listed_as_a_joint(capsys, tmp_path) -> None:
    fixed = report(capsys, tmp_path, "info", robot("talos_full_v2"))
    floating = report(capsys, tmp_path, "info", robot("talos_full_v2"), "--root", "floating")
    assert (floating["nq"] - fixed["nq"], floating["nv"] - fixed["nv"]) == (7, 6)
    extra = [joint for joint in floating["joints"] if joint not in fixed["joints"]]
    assert [(joint["type"], joint["parent"]) for joint in extra] == [("floating", None)]


def test_the_summary_is_for_people_and_the_dash_for_machines(capsys) -> None:
    summary = run(capsys, "info", robot("panda"))
    assert summary.code == 0
    assert "panda_joint1" in summary.out and "-2.8973" in summary.out
    dash = run(capsys, "info", robot("panda"), "--json", "-")
    assert dash.out.startswith("{") and dash.out.endswith("}\n")


def test_names_of_any_alphabet(capsys, tmp_path: Path) -> None:
    path = tmp_path / "r\u00f4bot.urdf"
    path.write_text('<robot name="\u30ed\u30dc\u30c3\u30c8"><link name="b\u00e4se"/></robot>', "utf-8")
    said = report(capsys, tmp_path, "info", path)
    (link,) = said["links"]
    assert (said["robot"], link["name"], link["mass"]) == ("\u30ed\u30dc\u30c3\u30c8", "b\u00e4se", 0.0)
    assert (said["center_of_mass"], link["implausible"]) == (None, [])
