"""How a base moves, of bases made up here: what rolls on wheels that are no single pair, and what only looks so."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, load_urdf
from robokin_addon.robokin.model.geometry import Cylinder, Geometry
from robokin_addon.robokin.spatial import so3
from robokin_addon.robokin.spatial.se3 import placement, translation
from robokin_addon.robokin.structure.natural_root import feet, natural_root
from support import robots

UP = (0.0, 0.0, 1.0)
LYING = placement(so3.exp(np.array([0.5 * np.pi, 0.0, 0.0])), np.zeros(3))  # a cylinder around Y
CORNERS = [(x, y) for x in (0.3, -0.3) for y in (0.2, -0.2)]


def round_link(name):
    return Link(name, collisions=(Geometry(Cylinder(0.1, 0.05), LYING),))


def base(places, kind="continuous", called="drive", link=round_link, height=0.1, turns=None, **limits):
    """A base with something at (x, y) places, turned about Z by `turns`, and an arm of two joints on top."""
    links, joints = [Link("base"), Link("upper"), Link("lower")], []
    for i, (x, y) in enumerate(places):
        R = so3.exp(np.array([0.0, 0.0, 0.0 if turns is None else turns[i]]))
        joints.append(
            Joint(f"{called}_{i}", kind, "base", f"{called}_{i}_end", placement(R, (x, y, height)), (0, 1, 0), **limits)
        )
        links.append(link(f"{called}_{i}_end"))
    joints += [
        Joint("pan", "continuous", "base", "upper", translation((0.0, 0.0, 0.4)), UP),
        Joint("lift", "continuous", "upper", "lower", translation((0.0, 0.0, 0.3)), (0, 1, 0)),
    ]
    return RobotModel("r", links, joints)


FINGERS, TOES = ((0.0, 0.0, -0.05), (0.03, 0.0, -0.05)), ((0.12, 0.0, -0.06), (-0.05, 0.0, -0.08))
THIRDS = [2.0 * np.pi * i / 3 for i in range(3)]
AROUND = [(-0.3 * np.sin(a), 0.3 * np.cos(a)) for a in THIRDS]


@pytest.mark.parametrize(
    ("model", "root"),
    [
        (base(CORNERS), "planar"),
        (base(CORNERS, called="wheel", link=Link), "planar"),
        (base(CORNERS, kind="fixed", called="caster", link=Link), "planar"),
        (base(AROUND, turns=THIRDS), "planar"),
        (base(CORNERS[:2]), "wheeled"),
        (base(CORNERS, called="finger", link=Link), "fixed"),
        (base(CORNERS, kind="revolute", called="leg", lower=-1.0, upper=1.0), "fixed"),
        (base(CORNERS, kind="revolute", lower=-100.0, upper=100.0), "planar"),
        (base(CORNERS, called="wheel", link=Link, height=2.0), "fixed"),
        (base([(0.1 * i, 0.0) for i in range(4)], called="wheel"), "fixed"),
        (base([]), "fixed"),
        (base(CORNERS, called="rotor", link=Link), "floating"),
        (base(AROUND, kind="fixed", called="Propeller", link=Link), "floating"),
        (base(CORNERS[:2], called="rotor", link=Link), "fixed"),
    ],
    ids=[
        "four",
        "named",
        "fixed casters",
        "three omni",
        "a pair",
        "fingers",
        "legs",
        "wheels with limits",
        "high up",
        "in a row",
        "an arm",
        "rotors",
        "fixed propellers",
        "two rotors",
    ],
)
def test_a_base_on_wheels_of_any_kind_drives_and_nothing_else_does(model, root):
    assert natural_root(model) == root


def test_steered_and_sprung_wheels_carry_a_base_too():
    links, joints = [Link("base")], []
    for i, (x, y) in enumerate(CORNERS):
        links += [Link(f"fork_{i}"), Link(f"arm_{i}"), round_link(f"tyre_{i}")]
        joints += [
            Joint(f"steer_{i}", "continuous", "base", f"fork_{i}", translation((x, y, 0.1)), UP),
            Joint(f"spring_{i}", "prismatic", f"fork_{i}", f"arm_{i}", axis=UP, lower=0.0, upper=0.1),
            Joint(f"drive_{i}", "continuous", f"arm_{i}", f"tyre_{i}", axis=(0, 1, 0)),
        ]
    assert natural_root(RobotModel("r", links, joints)) == "planar"


@pytest.mark.parametrize(
    ("robot", "root", "tool", "kind"),
    [
        ("arm", "base", "dronecam_mount", "fixed"),
        ("arm", "base", "flying_probe", "fixed"),
        ("arm", "base", "drone", "fixed"),
        ("dronecam_arm", "base", "tool", "fixed"),
        ("my_quadcopter", "base", "tool", "floating"),
        ("Drone2", "base", "tool", "floating"),
        ("arm", "hexarotor_base", "tool", "floating"),
    ],
)
def test_a_robot_flies_by_whole_words_of_its_own_name_or_its_root_link_s(robot, root, tool, kind):
    joint = Joint("j", "revolute", root, tool, lower=-1.0, upper=1.0)
    assert natural_root(RobotModel(robot, [Link(root), Link(tool)], [joint])) == kind


@pytest.mark.parametrize(("name", "count"), [("alex_psyonic_hands", 0), ("alex_nub_hands", 0), ("bolt", 2)])
def test_hands_are_no_feet(name, count):
    """Of a trunk with two arms alone, which hang at q = 0, and of a biped without arms."""
    assert len(feet(load_urdf(robots.robot(name)))) == count


def test_fingers_of_a_hand_alone_are_no_legs():
    links, joints = [Link("palm")], []
    for number, finger in enumerate(("thumb", "index", "ring")):
        for part, on in (("near", "palm"), ("far", f"{finger}_near")):
            links.append(Link(f"{finger}_{part}"))
            at = translation((0.02 * number, 0.0, -0.05))
            joints.append(Joint(links[-1].name, "revolute", on, links[-1].name, at, UP, -1.0, 1.0))
    assert natural_root(RobotModel("r", links, joints)) == "fixed"


@pytest.mark.parametrize(("behind", "is_leg"), [((), True), (FINGERS, False), (TOES, True)])
def test_what_hangs_from_a_chest_is_a_leg_unless_it_ends_in_a_hand(behind, is_leg):
    """Its root is high above, as that of a robot which stands."""
    links, joints = [Link("chest")], []
    for side, y in (("left", 0.2), ("right", -0.2)):
        on, x = "chest", y
        for part in ("upper", "lower", "end"):
            links.append(Link(f"{side}_{part}"))
            place = placement(np.eye(3), (0.0, x, 0.0 if part == "upper" else -0.3))
            joints.append(Joint(f"to_{side}_{part}", "continuous", on, f"{side}_{part}", place, (0, 1, 0)))
            on, x = f"{side}_{part}", 0.0
        for i, point in enumerate(behind):
            links.append(Link(f"{side}_digit_{i}"))
            place = placement(np.eye(3), point)
            joints.append(Joint(f"to_{side}_digit_{i}", "continuous", on, f"{side}_digit_{i}", place, (0, 1, 0)))
    assert feet(RobotModel("r", links, joints)) == (("left_end", "right_end") if is_leg else ())


def test_the_foot_of_a_drawn_leg_is_what_its_toes_are_on():
    """Toes of two bones, as captured motions have them, and an ankle of two axes, which are no toes."""
    links, joints = [Link("hips")], []
    parts = {"thigh": (0.0, 0.0), "shin": (0.0, -0.45), "ankle": (0.0, -0.4), "foot": (0.005, 0.0)}
    parts |= {"toes": (0.1, -0.07), "tip": (0.06, -0.01)}
    for side, y in (("left", 0.1), ("right", -0.1)):
        on = "hips"
        for part, (x, z) in parts.items():
            links.append(Link(f"{side}_{part}"))
            place = placement(np.eye(3), (x, y if on == "hips" else 0.0, z))
            joints.append(Joint(f"to_{side}_{part}", "continuous", on, f"{side}_{part}", place, (0, 1, 0)))
            on = f"{side}_{part}"
    assert feet(RobotModel("r", links, joints)) == ("left_foot", "right_foot")
