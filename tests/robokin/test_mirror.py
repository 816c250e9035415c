"""Mirrored configurations: Pinocchio's hands and feet are where the reflection of the other side's were."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    RobotModel,
    UnknownNameError,
    clamp,
    forward_kinematics,
    library_robot,
    load_urdf,
    mirrored_configuration,
    random_configuration,
)
from robokin_addon.robokin.mirror import PLANES, counterparts, other_side
from robokin_addon.robokin.spatial import quaternion
from support.oracles.pinocchio_oracle import Oracle
from support.problems.shapes import at
from support.robots import robot

# robot, root, how exactly its description is symmetric [m]
ROBOTS = [
    ("talos_full_v2", "floating", 1e-9),
    ("g1_29dof_rev_1_0", "floating", 2e-5),
    ("icub", "fixed", 2e-5),
    ("romeo", "planar", 1e-9),
    ("go2", "floating", 1e-9),
    ("hyq_no_sensors", "floating", 1e-9),
    ("solo12", "fixed", 1e-9),
]


def small_configuration(model, rng):
    """Near the middle of the limits, so that the mirror image is inside them too."""
    q = clamp(model, model.neutral())
    v = rng.uniform(-0.05, 0.05, model.nq)
    q = clamp(model, q + v)
    for start in model.tree.quaternions:
        q[start : start + 4] = quaternion.normalize(rng.normal(size=4))
    return q


@pytest.mark.parametrize(("name", "root", "exact"), ROBOTS)
def test_the_other_side_is_where_the_reflection_was(name, root, exact):
    model = load_urdf(robot(name), root=root)
    oracle = Oracle.from_urdf(model, robot(name))
    rng = np.random.default_rng(1)
    pairs = counterparts(model)
    assert len(pairs) >= 8
    compared = 0
    for _ in range(20):
        q = small_configuration(model, rng)
        found = mirrored_configuration(model, q)
        assert found.kept == ()
        if found.clamped:
            continue
        compared += 1
        before, after = oracle.frames(q), oracle.frames(found.q)
        for a, b in pairs.items():
            reflected = found.plane @ before[model.joint(a).child]
            assert np.linalg.norm(reflected[:3, 3] - after[model.joint(b).child][:3, 3]) <= exact, (a, b)
    assert compared > 3


def test_sides_whose_axes_differ_as_drawings_do_are_mirrored():
    model = load_urdf(robot("tiago_pro"))  # its sixth axes are 0.4 degrees apart
    q = small_configuration(model, np.random.default_rng(2))
    found = mirrored_configuration(model, q)
    assert not [name for name in found.kept if name.startswith("arm")]
    tool = forward_kinematics(model, q)["arm_left_7_link"]
    image = forward_kinematics(model, found.q)["arm_right_7_link"]
    assert np.linalg.norm((found.plane @ tool)[:3, 3] - image[:3, 3]) < 5e-3


def test_mirrored_twice_is_the_same():
    model = load_urdf(robot("talos_full_v2"), root="floating")
    q = small_configuration(model, np.random.default_rng(2))
    once = mirrored_configuration(model, q)
    assert once.clamped == ()
    assert np.allclose(mirrored_configuration(model, once.q).q, q, atol=1e-12)


def test_an_arm_alone_is_mirrored_in_itself():
    model = load_urdf(robot("panda"))
    q = small_configuration(model, np.random.default_rng(3))
    found = mirrored_configuration(model, q)
    assert np.array_equal(found.plane, PLANES["Y"])
    hand = forward_kinematics(model, q)["panda_link8"]
    mirrored = forward_kinematics(model, found.q)["panda_link8"]
    assert np.allclose(mirrored[:3, 3], hand[:3, 3] * (1, -1, 1), atol=1e-12)
    assert found.kept == ("panda_finger_joint1",)
    assert found.q[-1] == q[-1]


def test_what_is_outside_the_limits_is_clamped_and_named():
    joints = [
        Joint("arm.L", "revolute", "base", "left", at(0, 0.5, 0), axis=(1, 0, 0), lower=-1.0, upper=1.0),
        Joint("arm.R", "revolute", "base", "right", at(0, -0.5, 0), axis=(1, 0, 0), lower=-0.2, upper=1.0),
    ]
    model = RobotModel("two", [Link(name) for name in ("base", "left", "right")], joints)
    found = mirrored_configuration(model, np.array([0.9, 0.1]))
    assert found.clamped == ("arm.R",)
    assert np.allclose(found.q, [-0.1, -0.2])


def test_locked_joints_in_single_precision_are_not_outside():
    joints = [
        Joint(f"arm.{side}", "revolute", "base", f"arm{side}", at(0, y, 0), axis=(1, 0, 0), lower=angle, upper=angle)
        for side, y, angle in (("L", 0.5, 0.3), ("R", -0.5, -0.3))
    ]
    model = RobotModel("two", [Link(name) for name in ("base", "armL", "armR")], joints)
    found = mirrored_configuration(model, np.array([0.3, -0.3], np.float32).astype(float))
    assert found.clamped == () and found.q.tolist() == [0.3, -0.3]


def test_every_kind_of_joint_between_two_sides():
    """Universal, gimbal, planar, sliding and screw joints; the right side is the left one, reflected by hand."""
    kinds = [("universal", "XZ"), ("gimbal", "ZYX"), ("planar", ""), ("prismatic", ""), ("cylindrical", "")]
    joints, links = [], [Link("base")]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        parent = "base"
        for i, (kind, order) in enumerate(kinds):
            place = at(0.1, 0.3 * sign, 0.2)
            joints.append(
                Joint(f"{kind}_{side}", kind, parent, f"{i}{side}", place, axis=(0.6, 0.8 * sign, 0.0), order=order)
            )
            if kind == "planar":
                joints[-1] = Joint(f"{kind}_{side}", kind, parent, f"{i}{side}", place, axis=(0, 0, 1))
            parent = f"{i}{side}"
            links.append(Link(parent))
    model = RobotModel("pairs", links, joints)
    q = random_configuration(model, np.random.default_rng(4))
    found = mirrored_configuration(model, q)
    assert found.kept == ()
    before, after = forward_kinematics(model, q), forward_kinematics(model, found.q)
    S = np.diag([1.0, -1.0, 1.0])
    for i in range(len(kinds)):
        for a, b in ((f"{i}L", f"{i}R"), (f"{i}R", f"{i}L")):
            assert np.allclose(S @ before[a][:3, 3], after[b][:3, 3], atol=1e-12)
            assert np.allclose(S @ before[a][:3, :3] @ S, after[b][:3, :3], atol=1e-12)


def test_a_screw_has_an_image_of_the_other_hand_only():
    def model(pitch):
        joints = [
            Joint("screw_l", "screw", "base", "a", at(0, 1, 0), pitch=0.1),
            Joint("screw_r", "screw", "base", "b", at(0, -1, 0), pitch=pitch),
        ]
        return RobotModel("screws", [Link(name) for name in ("base", "a", "b")], joints)

    q = np.array([0.4, -0.9])
    assert mirrored_configuration(model(0.1), q).kept == ("screw_l", "screw_r")
    found = mirrored_configuration(model(-0.1), q)
    assert found.kept == () and np.allclose(found.q, [0.9, -0.4])


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("arm.L", "arm.R"),
        ("l_wrist", "r_wrist"),
        ("LF_KFE", "RF_KFE"),
        ("lh_hip", "rh_hip"),
        ("FL_hip_joint", "FR_hip_joint"),
        ("RL_hip_joint", "RR_hip_joint"),
        ("LEFT_HIP_Z", "RIGHT_HIP_Z"),
        ("leftElbow", "rightElbow"),
        ("UpperArm.left.001", "UpperArm.right.001"),
        ("left_leg_left_toe", "right_leg_right_toe"),
        ("LAnklePitch", "RAnklePitch"),
        ("LARM_WRIST_R", "RARM_WRIST_R"),
        ("lleg_kny", "rleg_kny"),
    ],
)
def test_names_of_the_other_side(name, other):
    assert other_side(name, {name, other, "torso"})[0] == other
    assert other_side(other, {name, other, "torso"})[0] == name


@pytest.mark.parametrize("name", ["panda_joint1", "elbow", "lift", "wrist_roll"])
def test_names_in_the_middle(name):
    assert other_side(name, {"panda_joint1", "elbow", "lift", "wrist_roll", "erbow", "rift"}) == []


def test_the_library_humanoid_swaps_its_hands():
    model = library_robot("humanoid")
    q = clamp(model, random_configuration(model, np.random.default_rng(5)) * 0.05)
    q = clamp(
        model, mirrored_configuration(model, mirrored_configuration(model, q).q).q
    )  # both sides inside the limits
    found = mirrored_configuration(model, q)
    assert found.kept == found.clamped == ()
    before, after = forward_kinematics(model, q), forward_kinematics(model, found.q)
    assert np.allclose((found.plane @ before["left_hand"])[:3, 3], after["right_hand"][:3, 3], atol=1e-9)


@pytest.mark.parametrize("plane", ["W", "", 3, None])
def test_an_unknown_plane_names_those_that_there_are(plane):
    model = library_robot("panda")
    with pytest.raises(UnknownNameError, match="plane"):
        mirrored_configuration(model, model.neutral(), plane)
