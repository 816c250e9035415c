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


def test_both_arms_are_bent_alike_and_the_trunk_is_not():
    model = library_robot("humanoid")
    q = natural_configuration(model)
    for joint in model.moving_joints:
        turned = abs(q[model.slot(joint.name).q]).max() > 1e-6
        assert not (turned and any(word in joint.name for word in ("waist", "neck")))
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
        ("iris", "floating", 0),
        ("iris_simple", "floating", 0),
        ("hextilt_flying_arm_5", "floating", 0),
    ],
)
def test_the_base_follows_from_wheels_and_legs(name, root, legs):
    model = load_urdf(robot(name))
    assert natural_root(model) == root and len(feet(model)) == legs


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_with_a_hand_is_away_from_singularities_and_its_fingers_are_as_they_were(seed):
    arm = random_arm(seed)
    palm = tool_links(arm)[0]
    links, joints = [*arm.links], [*arm.joints[1:]]
    for i, side in enumerate((-0.02, 0.02)):
        for k, on in enumerate((palm, f"finger_{i}_0")):
            links.append(Link(f"finger_{i}_{k}"))
            place = placement(np.eye(3), np.array([side, 0.0, 0.05]))
            joints.append(
                Joint(f"bend_{i}_{k}", "revolute", on, links[-1].name, place, (1, 0, 0), lower=-1.0, upper=1.0)
            )
    model = RobotModel("r", links, joints)
    q = natural_configuration(model)
    strong = np.linalg.svd(frame_jacobian(model, q, palm), compute_uv=False)
    assert in_limits(model, q) and strong[min(arm.nv, 6) - 1] > 0.05
    assert abs(q - clamp(model, model.neutral())).max() > 0.2
    assert not any(q[model.slot(f"bend_{i}_{k}").q].any() for i in range(2) for k in range(2))


@pytest.mark.parametrize("name", ["g1_29dof_with_hand_rev_1_0", "tiago_pro", "talos_full_v2"])
def test_arms_of_real_robots_with_hands_are_bent_and_their_trunks_are_not(name):
    model = load_urdf(robot(name))
    q = natural_configuration(model)
    turned = {joint.name for joint in model.moving_joints if abs(q[model.slot(joint.name).q]).max() > 0.2}
    assert any("left" in joint for joint in turned) and any("right" in joint for joint in turned)
    assert not any(word in joint for joint in turned for word in ("torso", "waist", "head", "finger"))


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
