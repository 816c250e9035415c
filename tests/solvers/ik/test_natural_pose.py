"""The pose and the base that a new robot gets: elbows bent, away from limits, on its wheels or legs."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    clamp,
    forward_kinematics,
    frame_jacobian,
    in_limits,
    load_urdf,
)
from robokin_addon.robokin.library import ROBOTS, library_robot
from robokin_addon.robokin.spatial.se3 import placement
from robokin_addon.robokin.structure.natural_root import feet, natural_root
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.solvers.ik.natural_pose import natural_configuration
from support.random_problems.random_arms import random_arm
from support.robots import robot


def smallest(model, q, link):
    return np.linalg.svd(frame_jacobian(model, q, link), compute_uv=False)[-1]


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "ur10_robot", "xarm7"])
def test_an_arm_is_bent_away_from_limits_and_over_its_base(name):
    model = load_urdf(robot(name))
    q, tool = natural_configuration(model), tool_links(model)[0]
    assert in_limits(model, q)
    assert smallest(model, q, tool) > 0.05 > smallest(model, clamp(model, model.neutral()), tool)
    arm = np.flatnonzero(frame_jacobian(model, q, tool).any(axis=0))
    share = ((q - model.lower) / (model.upper - model.lower))[arm]
    assert (abs(share - 0.5) < 0.42).all()
    placed = forward_kinematics(model, q)
    assert placed[tool][0, 3] > 0.1 and placed[tool][2, 3] > 0.1


def test_legs_stay_straight_and_both_arms_are_bent_alike():
    model = library_robot("humanoid")
    q = natural_configuration(model)
    for joint in model.moving_joints:
        turned = abs(q[model.slot(joint.name).q]).max() > 1e-6
        assert not (turned and any(word in joint.name for word in ("hip", "knee", "ankle", "waist", "neck")))
    left, right = (abs(q[model.slot(f"{side}_elbow").q]) for side in ("left", "right"))
    assert left > 0.3 and right > 0.3


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_the_library(name):
    model = library_robot(name)
    assert in_limits(model, natural_configuration(model))


@pytest.mark.parametrize("seed", range(5))
def test_any_arm_is_away_from_singularities(seed):
    model = random_arm(seed)
    q, tool = natural_configuration(model), tool_links(model)[0]
    assert in_limits(model, q)
    assert smallest(model, q, tool) > 0.05


@pytest.mark.parametrize(
    ("name", "root", "legs"),
    [
        ("panda", "fixed", 0),
        ("baxter", "fixed", 0),
        ("allegro_left_hand", "fixed", 0),
        ("tiago", "wheeled", 0),
        ("tiago_pro", "planar", 0),
        ("pr2", "planar", 0),
        ("centauro", "floating", 4),
        ("talos_reduced", "floating", 2),
        ("romeo", "floating", 2),
        ("hyq_no_sensors", "floating", 4),
        ("human", "floating", 2),
    ],
)
def test_the_base_follows_from_wheels_and_legs(name, root, legs):
    model = load_urdf(robot(name))
    assert natural_root(model) == root and len(feet(model)) == legs


def test_a_slide_without_an_end_stays():
    links = [Link(name) for name in ("base", "sled", "upper", "lower")]
    joints = [Joint("rail", "prismatic", "base", "sled"), Joint("a", "continuous", "sled", "upper")]
    model = RobotModel("r", links, [*joints, Joint("b", "continuous", "upper", "lower", axis=(0, 1, 0))])
    q = natural_configuration(model)
    assert q[0] == 0.0


@pytest.mark.parametrize("kind", ["planar", "cylindrical"])
def test_what_slides_without_an_end_stays_beside_what_turns(kind):
    up = placement(np.eye(3), np.array([0.0, 0.0, 0.3]))
    links = [Link(name) for name in ("base", "upper", "lower", "plate")]
    joints = [
        Joint("a", "revolute", "base", "upper", axis=(0, 1, 0), lower=-2.0, upper=2.0),
        Joint("b", "revolute", "upper", "lower", up, axis=(0, 1, 0), lower=-2.0, upper=2.0),
        Joint("c", kind, "lower", "plate", up),
    ]
    model = RobotModel("r", links, joints)
    q = natural_configuration(model)
    lengths = np.flatnonzero(model.is_length)
    assert len(lengths) and (q[lengths] == 0.0).all() and abs(q[1]) > 0.3
