"""The pose and the base that a new robot gets: elbows and knees bent, away from limits, on its wheels or legs."""

from __future__ import annotations

from functools import cache

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
from robokin_addon.robokin.mirror import mirrored_configuration
from robokin_addon.robokin.spatial.se3 import placement, translation
from robokin_addon.robokin.structure.natural_root import feet, legs, natural_root, up_axis
from robokin_addon.robokin.structure.tool_links import tool_links
from robokin_addon.solvers.ik.natural_pose import natural_configuration
from support.random_problems.random_arms import random_arm
from support.robots import robot

HUMANOIDS = {
    "g1_29dof_rev_1_0": "knee",
    "g1_29dof_with_hand_rev_1_0": "knee",
    "talos_full_v2": "leg_left_4 leg_right_4",
    "romeo": "Knee",
    "icub": "knee",
    "human": "knee",
    "alexander_v1.lowerBodyOnly": "KNEE",
}
ON_POINTS = ["a1", "b1", "go1", "go2", "laikago", "hyq_no_sensors", "anymal", "solo", "solo12", "bolt"]
LIBRARY = {"humanoid": "knee", "puppet": "knee"}
X, Y, Z = np.eye(3)


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


@pytest.mark.parametrize(
    "name", ["pr2", "baxter", "romeo_small", "g1_29dof_rev_1_0", "alex_nub_hands", "talos_full_v2"]
)
def test_two_arms_are_each_other_s_mirror_image_and_do_not_meet(name):
    model = load_urdf(robot(name))
    q = natural_configuration(model)
    image = mirrored_configuration(model, q)
    arms = [joint.name for joint in model.moving_joints if image.other.get(joint.name, joint.name) != joint.name]
    assert len(arms) >= 12
    for joint in arms:
        assert np.allclose(image.q[model.slot(joint).q], q[model.slot(joint).q], atol=1e-5), joint
    right, left = (forward_kinematics(model, q)[link][1, 3] for link in tool_links(model)[:2])
    assert right * left < 0.0 and abs(right - left) > 0.2


@pytest.mark.parametrize(
    ("name", "shoulder", "elbow", "hand"),
    [
        ("puppet", "left_upper_arm", "left_forearm", "left_hand"),
        ("humanoid", "left_upper_arm", "left_forearm", "left_hand"),
        ("romeo", "LShoulderPitchLink", "LElbowRollLink", "l_wrist"),
        ("talos_full_v2", "arm_left_1_link", "arm_left_4_link", "arm_left_7_link"),
        ("g1_29dof_rev_1_0", "left_shoulder_roll_link", "left_elbow_link", "left_wrist_yaw_link"),
    ],
)
def test_a_humanoid_s_elbow_and_hand_are_below_its_shoulder(name, shoulder, elbow, hand):
    model = library_robot(name) if name in LIBRARY else load_urdf(robot(name))
    placed = forward_kinematics(model, natural_configuration(model))
    assert max(placed[elbow][2, 3], placed[hand][2, 3]) < placed[shoulder][2, 3]


def test_a_slide_without_an_end_stays():
    links = [Link(name) for name in ("base", "sled", "upper", "lower")]
    joints = [Joint("rail", "prismatic", "base", "sled"), Joint("a", "continuous", "sled", "upper")]
    model = RobotModel("r", links, [*joints, Joint("b", "continuous", "upper", "lower", axis=(0, 1, 0))])
    q = natural_configuration(model)
    assert q[0] == 0.0


def test_what_carries_an_arm_on_a_long_slide_stays_where_it_is():
    arm = load_urdf(robot("ur5_robot"))
    rail = Joint("rail", "prismatic", "ground", arm.root_link.name, axis=(1, 0, 0), lower=-20.0, upper=20.0)
    model = RobotModel("on rail", [Link("ground"), *arm.links], [rail, *arm.joints[1:]])
    assert abs(natural_configuration(model)[0]) < 0.5


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


@cache
def model_of(name):
    return library_robot(name) if name in LIBRARY else load_urdf(robot(name))


@cache
def natural_of(name):
    return natural_configuration(model_of(name))


def of_legs(model):
    """For each leg its joints."""
    above = {joint.child: joint for joint in model.joints}
    return [[above[body] for body in leg] for leg in legs(model)]


def tip_of(model, q, foot):
    """The lowest of the frames that are fixed to a foot."""
    placed, on = forward_kinematics(model, q), {foot}
    for joint in model.joints:
        if joint.parent in on and not joint.nv:
            on.add(joint.child)
    return min(sorted(on), key=lambda name: round(placed[name][up_axis(model), 3], 6))


def smallest_of_leg(model, q, tip, joints):
    """The smallest singular value of a leg: of the motion of its sole, or of a foot that is a point."""
    own = sorted({i for joint in joints for i in range(model.nv)[model.slot(joint.name).v]})
    J = frame_jacobian(model, q, tip)[: 6 if len(own) > 4 else 3, own]
    return np.linalg.svd(J, compute_uv=False)[min(J.shape[1], len(J)) - 1]


@pytest.mark.parametrize("name", [*HUMANOIDS, *LIBRARY, *ON_POINTS])
def test_legs_are_away_from_singularities_and_their_feet_level_under_the_hips(name):
    model = model_of(name)
    q, zero = natural_of(name), model.neutral()
    assert in_limits(model, q)
    placed, straight, up = forward_kinematics(model, q), forward_kinematics(model, zero), up_axis(model)
    tips = [tip_of(model, zero, foot) for foot in feet(model)]
    raised = [placed[tip][:3, 3] - straight[tip][:3, 3] for tip in tips]
    assert np.ptp([placed[tip][up, 3] for tip in tips]) < 1e-4
    for move in raised:
        assert 0.0 < move[up] < 0.25
        assert np.linalg.norm(np.delete(move, up)) < 1e-4
    for tip, joints in zip(tips, of_legs(model), strict=True):
        before = smallest_of_leg(model, clamp(model, zero), tip, joints)
        assert smallest_of_leg(model, q, tip, joints) > max(1.3 * before, 0.01)


@pytest.mark.parametrize("name", [*HUMANOIDS, *LIBRARY])
def test_a_humanoid_stands_nearly_upright_on_flat_soles(name):
    model = model_of(name)
    q, words = natural_of(name), (HUMANOIDS | LIBRARY)[name].split()
    knees = [joint for joint in model.moving_joints if any(word in joint.name for word in words)]
    bent = [np.degrees(q[model.slot(joint.name).q][0]) for joint in knees]
    assert len(bent) == 2 and all(15.0 < abs(angle) < 30.0 for angle in bent)
    placed, straight = forward_kinematics(model, q), forward_kinematics(model, model.neutral())
    for foot in feet(model):
        np.testing.assert_allclose(placed[foot][:3, :3], straight[foot][:3, :3], atol=1e-5)


@pytest.mark.parametrize("name", [*HUMANOIDS, *LIBRARY, *ON_POINTS])
def test_what_is_alike_left_and_right_stands_alike(name):
    model = model_of(name)
    placed = forward_kinematics(model, natural_of(name))
    straight, side = forward_kinematics(model, model.neutral()), 3 - up_axis(model)
    mirrored = np.where(np.arange(3) == side, -1.0, 1.0)
    bodies = [body for leg in legs(model) for body in leg]
    for body in bodies:
        other = min(bodies, key=lambda each: abs(straight[each][:3, 3] - mirrored * straight[body][:3, 3]).max())
        if abs(straight[other][:3, 3] - mirrored * straight[body][:3, 3]).max() < 1e-6:
            np.testing.assert_allclose(placed[other][:3, 3], mirrored * placed[body][:3, 3], atol=1e-5)


@pytest.mark.parametrize("name", ["a1", "b1", "go1", "go2", "laikago", "hyq_no_sensors"])
def test_knees_that_cannot_be_straight_are_not_on_their_limits(name):
    model = model_of(name)
    q = natural_of(name)
    for joints in of_legs(model):
        at = model.slot(joints[0].name).q.start
        share = (q[at] - model.lower[at]) / (model.upper[at] - model.lower[at])
        assert 0.15 < share < 0.85


@pytest.mark.parametrize(
    ("name", "ahead"), [("hyq_no_sensors", (0, 0, 1, 1)), ("solo12", (0, 0, 1, 1)), ("bolt", (0, 0)), ("a1", (0,) * 4)]
)
def test_knees_of_legs_without_soles_bend_as_their_makers_draw_them(name, ahead):
    model = model_of(name)
    placed = forward_kinematics(model, natural_of(name))
    found = []
    for leg in legs(model):
        knee, hip = placed[leg[0]][0, 3], placed[leg[1]][0, 3]
        found.append(int(knee > hip))
    assert sorted(found) == sorted(ahead)


@pytest.mark.parametrize("name", ["simple_humanoid", "quadruped"])
def test_legs_that_cannot_be_bent_over_flat_feet_stay(name):
    model = load_urdf(robot(name))
    q, neutral = natural_configuration(model), clamp(model, model.neutral())
    for joint in (joint for joints in of_legs(model) for joint in joints):
        assert (q[model.slot(joint.name).q] == neutral[model.slot(joint.name).q]).all()


def test_sensors_on_a_leg_are_no_hands():
    model = load_urdf(robot("alexander_v1.lowerBodyOnly"))
    q = natural_configuration(model)
    assert abs(q[model.slot("LEFT_HIP_Y").q][0]) < 0.3


@pytest.mark.parametrize("name", ["alex_nub_hands", "alex_sake_hands"])
def test_arms_that_hang_beside_a_torso_are_no_legs(name):
    model = load_urdf(robot(name))
    assert feet(model) == ()
    q = natural_configuration(model)
    assert all(abs(q[model.slot(f"{side}ElbowPitch").q][0]) > 0.3 for side in ("Left", "Right"))


def insect(knee, bent=0.0, **limits):
    """A body on six legs: a hip about Z, then thigh and shank, 0.1 m each, straight down and outward, or bent."""
    links, joints = [Link("body")], []
    for i, angle in enumerate(np.radians([30.0, 90.0, 150.0, -30.0, -90.0, -150.0])):
        outward = np.array((np.cos(angle), np.sin(angle), 0.0))
        thigh = 0.1 * (outward - Z) / np.sqrt(2.0)
        turned = np.cos(bent) * thigh + np.sin(bent) * -0.1 * (outward + Z) / np.sqrt(2.0)
        links += [Link(f"{part}_{i}") for part in ("coxa", "femur", "tibia", "foot")]
        axis = tuple(np.cross(Z, outward))
        at = translation(0.1 * outward)
        joints += [
            Joint(f"yaw_{i}", "revolute", "body", f"coxa_{i}", at, tuple(Z), lower=-1.0, upper=1.0),
            Joint(f"lift_{i}", "revolute", f"coxa_{i}", f"femur_{i}", axis=axis, lower=-2.0, upper=2.0),
            Joint(f"knee_{i}", knee, f"femur_{i}", f"tibia_{i}", translation(thigh), axis, **limits),
            Joint(f"tip_{i}", "fixed", f"tibia_{i}", f"foot_{i}", translation(turned)),
        ]
    return RobotModel("insect", links, joints)


@pytest.mark.parametrize("limits", [{}, {"lower": -0.3, "upper": 2.5}])
def test_knees_of_an_insect_bend_outward_and_up(limits):
    model = insect("revolute" if limits else "continuous", **limits)
    q, zero = natural_configuration(model), model.neutral()
    placed, straight = forward_kinematics(model, q), forward_kinematics(model, zero)
    for i in range(6):
        knee, foot = placed[f"tibia_{i}"][:3, 3], placed[f"foot_{i}"][:3, 3]
        np.testing.assert_allclose(foot[:2], straight[f"foot_{i}"][:2, 3], atol=1e-5)
        assert knee[2] > straight[f"tibia_{i}"][2, 3] + 0.03 and foot[2] < knee[2]
    assert np.ptp([placed[f"foot_{i}"][2, 3] for i in range(6)]) < 1e-5


def test_legs_that_are_bent_enough_stay():
    model = insect("revolute", np.radians(80.0), lower=-1.5, upper=1.5)
    np.testing.assert_allclose(natural_configuration(model), model.neutral(), atol=1e-4)


def biped(below, **limits):
    """Two legs, hip and knee about Y, and what is below the shank: (joint type, axis) each."""
    links, joints = [Link("pelvis"), Link("head")], [Joint("neck", "fixed", "pelvis", "head", translation(0.5 * Z))]
    for side in (-1, 1):
        parts = [("hip", "revolute", X), ("thigh", "revolute", Y), ("knee", "revolute", Y), *below]
        on = "pelvis"
        for i, (name, kind, axis) in enumerate(parts):
            at = (0.1 * side * Y, 0.0 * Z, -0.4 * Z, -0.4 * Z, 0.0 * Z)[i]
            links.append(Link(f"{name}_{side}_body"))
            own = {"lower": -2.0, "upper": 2.0} | limits.get(name, {}) if kind == "revolute" else {}
            joints.append(Joint(f"{name}_{side}", kind, on, links[-1].name, translation(at), tuple(axis), **own))
            on = links[-1].name
        links.append(Link(f"sole_{side}"))
        joints.append(Joint(f"sole_{side}", "fixed", on, links[-1].name, translation(-0.08 * Z)))
    return RobotModel("biped", links, joints)


ANKLE = [("ankle", "revolute", Y), ("roll", "revolute", X)]


def test_a_knee_that_bends_both_ways_bends_as_a_human_s_over_an_ankle():
    model = biped(ANKLE)
    placed = forward_kinematics(model, natural_configuration(model))
    for side in (-1, 1):
        assert placed[f"knee_{side}_body"][0, 3] > 0.05
        np.testing.assert_allclose(placed[f"sole_{side}"][:3, :3], np.eye(3), atol=1e-5)


def test_a_wheel_is_no_ankle():
    model = biped([("wheel", "continuous", Y)])
    q = natural_configuration(model)
    assert all(1.2 < abs(q[model.slot(f"knee_{side}").q][0]) < 1.4 for side in (-1, 1))


def test_a_knee_with_a_short_range_is_in_it():
    model = biped(ANKLE, knee={"lower": 0.0, "upper": 0.2})
    q = natural_configuration(model)
    assert all(q[model.slot(f"knee_{side}").q] == pytest.approx(0.17, abs=1e-4) for side in (-1, 1))


def test_an_ankle_that_cannot_keep_the_sole_flat_leaves_the_leg_straight():
    model = biped(ANKLE, ankle={"lower": -0.01, "upper": 0.01})
    assert not natural_configuration(model).any()


@pytest.mark.parametrize("name", ["icub", "go2"])
def test_a_floating_base_stays(name):
    model = load_urdf(robot(name), root="floating")
    q = natural_configuration(model)
    assert (q[:7] == model.neutral()[:7]).all() and in_limits(model, q) and abs(q[7:]).max() > 0.4
