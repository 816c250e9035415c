"""Robots of the library: against the texts they come from, Pinocchio, MuJoCo and the maker's own description."""

from __future__ import annotations

import math
from functools import reduce

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    RobotModel,
    UnknownNameError,
    forward_kinematics,
    gravity_torque,
    in_limits,
    load_urdf,
    mass_matrix,
    random_configuration,
    read_urdf_text,
    rolling_constraints,
    space_jacobian,
    urdf_losses,
    urdf_text,
)
from robokin_addon.robokin.construction.solids import ball, bar, box, rod, solid
from robokin_addon.robokin.library import ROBOTS, library_robot
from robokin_addon.robokin.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from robokin_addon.solvers import IKProblem, PoseTask, PositionTask
from support.oracles.compare import compare_models
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot

NAMES = list(ROBOTS)
TARGETS = 200


# -- what holds for each -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_limits_masses_and_shapes(name: str) -> None:
    model = library_robot(name)
    for joint in model.joints[1:]:
        assert np.isfinite(joint.velocity).all() or name == "puma560", joint.name  # no speeds in its sources
        if joint.type != "continuous":
            assert np.isfinite([joint.lower, joint.upper]).all(), joint.name
    for link in model.links:
        if (name, link.name) != ("puma560", "link_1"):
            assert bool(link.visuals) == (link.mass > 0.0), link.name
        principal = np.linalg.eigvalsh(link.inertia)
        assert principal[0] >= 0.0
        if (name, link.name) not in AS_PUBLISHED:
            assert principal[2] <= principal[0] + principal[1] + 1e-12, link.name


# Links whose published inertia no solid body has.
AS_PUBLISHED = {("puma560", "link_1"), ("puma560", "link_3")}


@pytest.mark.parametrize("name", NAMES)
def test_pinocchio_agrees(name: str) -> None:
    model = library_robot(name)
    oracle, rng = Oracle.from_model(model), np.random.default_rng(1)
    q = random_configuration(model, rng)
    placements = forward_kinematics(model, q)
    for link, T in oracle.frames(q).items():
        if link in model.link_names:
            assert placements[link] == pytest.approx(T, abs=1e-12)
    assert mass_matrix(model, q) == pytest.approx(oracle.mass_matrix(q), abs=1e-9)
    assert np.linalg.eigvalsh(mass_matrix(model, q))[0] > 0.0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "puppet"])
def test_survives_urdf(name: str) -> None:
    model = library_robot(name)
    problems = compare_models(model, read_urdf_text(urdf_text(model), root=model.root))
    assert len(problems) == len(urdf_losses(model)), problems


def test_balls_of_the_puppet_become_three_turns_in_a_urdf() -> None:
    model = library_robot("puppet")
    balls = [joint for joint in model.joints if joint.type == "spherical"]
    found = read_urdf_text(urdf_text(model), root=model.root)
    assert len(found.joints) == len(model.joints) + 2 * len(balls)
    told = [line for line in urdf_losses(model) if "spherical" in line]
    assert len(told) == len(balls) and all(any(repr(ball.name) in line for line in told) for ball in balls)
    rest, shown = forward_kinematics(model, model.neutral()), forward_kinematics(found, found.neutral())
    assert all(np.allclose(rest[link], shown[link], atol=1e-12) for link in model.link_names)


@pytest.mark.parametrize("name", NAMES)
def test_every_reachable_target_is_reached(name: str) -> None:
    """Poses for robots of six axes and more, positions for the others; targets are forward kinematics within limits."""
    model, tip = library_robot(name), ROBOTS[name].tip
    kind = PoseTask if model.nv >= 6 else PositionTask
    problem = IKProblem(model, [kind(tip, np.eye(4) if kind is PoseTask else np.zeros(3))])
    rng = np.random.default_rng(5)
    reached = 0
    for seed in range(TARGETS):
        goal = forward_kinematics(model, random_configuration(model, rng))[tip]
        result = problem.solve([goal if kind is PoseTask else goal[:3, 3]], seed=seed)
        assert in_limits(model, result.q)
        found = forward_kinematics(model, result.q)[tip]
        close = abs((found - goal) if kind is PoseTask else (found - goal)[:3, 3]).max() < 1e-4
        assert close == (result.status == "CONVERGED")
        reached += close
    assert reached == TARGETS


@pytest.mark.parametrize("root", ["fixed", "floating", "planar", "wheeled"])
def test_bases(root: str) -> None:
    assert all(library_robot(name, root).root == root for name in NAMES)


def test_each_stands_on_its_own_base() -> None:
    assert [name for name in NAMES if library_robot(name).root != "fixed"] == ["mobile_arm"]


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match=r"no robot in the library named 'puma'.*puma560"):
        library_robot("puma")


# -- the texts ---------------------------------------------------------------------------------------------------------


def test_breens_matrices() -> None:
    """Equations 1 to 8 of the notes, phi_1 = 0 and p_1 at the origin."""
    model, free = library_robot("four_part_arm"), library_robot("planar_4r")
    assert [j.name for j in model.moving_joints] == ["phi_2", "phi_3", "phi_4"]
    assert [j.name for j in free.moving_joints] == ["phi_1", "phi_2", "phi_3", "phi_4"]
    lengths = (0.35, 0.4, 0.3, 0.2)

    def T(phi: float, length: float) -> np.ndarray:
        return np.array([[math.cos(phi), -math.sin(phi), 0], [math.sin(phi), math.cos(phi), length], [0, 0, 1.0]])

    for phi in np.random.default_rng(0).uniform(-2.0, 2.0, (5, 3)):
        expected = reduce(np.matmul, [T(x, length) for x, length in zip([*phi, 0.0], lengths, strict=True)])
        placed = forward_kinematics(model, phi)["end_effector"]
        assert placed[:2, 3] == pytest.approx(expected[:2, 2], abs=1e-14)
        assert placed[:2, :2] == pytest.approx(expected[:2, :2], abs=1e-14)
        assert placed[2, 3] == 0.0
        turned = pin.exp6(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.7])).homogeneous @ placed
        assert forward_kinematics(free, [0.7, *phi])["end_effector"] == pytest.approx(turned, abs=1e-14)


@pytest.mark.parametrize(("name", "lengths"), [("planar_2r", (0.5, 0.4)), ("planar_3r", (0.5, 0.4, 0.25))])
def test_textbook_arms(name: str, lengths: tuple[float, ...]) -> None:
    model = library_robot(name)
    q = np.random.default_rng(0).uniform(-2.0, 2.0, len(lengths))
    angles = np.cumsum(q)
    expected = [np.dot(lengths, np.cos(angles)), np.dot(lengths, np.sin(angles)), 0.0]
    assert forward_kinematics(model, q)["tool"][:3, 3] == pytest.approx(expected, abs=1e-14)


def test_sukeshs_product_of_exponentials() -> None:
    """Section 2.3.1 with the rest positions of section 2.4.1, in millimetres, angular part first as there."""
    joints = (((0, 1, 0), (0, 0, 0)), ((1, 0, 0), (0, 80, 0)), ((1, 0, 0), (0, 185, 0)), ((1, 0, 0), (0, 185, 80)),
              ((0, 0, 1), (0, 185, 160)))  # fmt: skip
    model = library_robot("desk_arm")
    assert [j.name for j in model.moving_joints] == ["S0", "S1", "S2", "S3", "S5"]
    assert model.lower == pytest.approx([-math.pi / 2] * 5)
    assert model.upper == pytest.approx([math.pi / 2] * 5)
    screws = [np.array([*w, *-np.cross(w, p)]) for w, p in joints]
    home = np.eye(4)
    home[:3, 3] = 0.0, 185.0, 160.0
    q = random_configuration(model, np.random.default_rng(3))
    steps = [pin.exp6(np.roll(S, 3) * x).homogeneous for S, x in zip(screws, q, strict=True)]
    expected = reduce(np.matmul, steps) @ home
    expected[:3, 3] /= 1000.0
    assert forward_kinematics(model, q)["tool"] == pytest.approx(expected, abs=1e-14)
    in_metres = np.array([np.roll(S, 3) * [1e-3, 1e-3, 1e-3, 1, 1, 1] for S in screws]).T
    assert space_jacobian(model, np.zeros(5), "tool") == pytest.approx(in_metres, abs=1e-14)


def test_corkes_puma() -> None:
    """Placement, gravity load and inertia at the nominal pose as printed in P. Corke, "Robotics, vision and control",
    2011, sections 7.2 and 9.1 (there without the pedestal, and the elbow a full turn away)."""
    model = library_robot("puma560")
    q = np.array([0.0, math.pi / 4, -math.pi, 0.0, math.pi / 4, 0.0])
    assert in_limits(model, q)
    T = forward_kinematics(model, q)["tool"]
    assert T[:3, :3] == pytest.approx(np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), abs=1e-12)
    assert T[:3, 3] == pytest.approx([0.5963, -0.1501, 26.45 * 0.0254 - 0.0144], abs=5.1e-5)
    assert gravity_torque(model, q) == pytest.approx([0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], abs=5.1e-5)
    motors = [joint.rotor_inertia for joint in model.moving_joints]
    printed = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ]
    assert mass_matrix(model, q) + np.diag(motors) == pytest.approx(np.array(printed), abs=5.1e-5)


def test_the_panda_is_that_of_its_maker() -> None:
    ours, real = library_robot("panda"), load_urdf(robot("panda"))
    moved = RobotModel(
        "arm",
        [link for link in real.links if link.name in {f"panda_link{i}" for i in range(9)}],
        [j for j in real.joints[1:] if j.child in {f"panda_link{i}" for i in range(1, 9)}],
    )
    rng = np.random.default_rng(6)
    for _ in range(10):
        q = random_configuration(ours, rng)
        assert forward_kinematics(ours, q)["tool"] == pytest.approx(
            forward_kinematics(moved, q)["panda_link8"], abs=1e-9
        )
        assert mass_matrix(ours, q) == pytest.approx(mass_matrix(moved, q), abs=1e-9)
        assert gravity_torque(ours, q) == pytest.approx(gravity_torque(moved, q), abs=1e-9)
    for limit in ("lower", "upper", "velocity", "effort"):
        assert getattr(ours, limit) == pytest.approx(getattr(moved, limit))
    assert ours.total_mass == pytest.approx(moved.total_mass)


def test_the_scara_and_the_gantry_move_as_drawn() -> None:
    scara = library_robot("scara")
    T = forward_kinematics(scara, [0.4, -0.7, 0.1, 0.2])["tool"]
    expected = [0.325 * math.cos(0.4) + 0.275 * math.cos(-0.3), 0.325 * math.sin(0.4) + 0.275 * math.sin(-0.3), 0.287]
    assert T[:3, 3] == pytest.approx(expected)
    assert T[:3, 2] == pytest.approx([0.0, 0.0, -1.0])
    gantry = library_robot("gantry")
    zero = forward_kinematics(gantry, np.zeros(3))["tool"]
    moved = forward_kinematics(gantry, [0.3, 0.2, -0.1])["tool"]
    assert (moved - zero)[:3] == pytest.approx(np.array([[0, 0, 0, 0.3], [0, 0, 0, 0.2], [0, 0, 0, -0.1]]))


def test_the_humanoid_is_a_person() -> None:
    model = library_robot("humanoid")
    assert len(model.moving_joints) == 32
    assert model.total_mass == pytest.approx(65.0)
    assert in_limits(model, model.neutral())
    standing = forward_kinematics(model, model.neutral())
    for side in ("left", "right"):
        assert standing[f"{side}_foot"][2, 3] == pytest.approx(0.0, abs=1e-12)
        assert standing[f"{side}_thigh"][2, 3] == pytest.approx(0.53 * 1.7)
    # What the left side does, the right side mirrors: pitch alike, roll and yaw opposite.
    rng = np.random.default_rng(2)
    left = {j.name: rng.uniform(j.lower[0], j.upper[0]) for j in model.moving_joints if j.name.startswith("left")}
    right = {f"right{n[4:]}": value if n.endswith(("pitch", "knee", "elbow")) else -value for n, value in left.items()}
    q = model.configuration(left | right)
    assert in_limits(model, q)
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    placed = forward_kinematics(model, q)
    for tip in ("hand", "foot", "forearm"):
        assert placed[f"right_{tip}"] == pytest.approx(mirror @ placed[f"left_{tip}"] @ mirror, abs=1e-12)
    # Knees bend backward, elbows and hips forward.
    bent = forward_kinematics(
        model, model.configuration({"left_knee": 1.0, "left_elbow": -1.0, "right_hip_pitch": -1.0})
    )
    assert bent["left_foot"][0, 3] < -0.3
    assert bent["left_hand"][0, 3] > 0.2
    assert bent["right_foot"][0, 3] > 0.5


UR5E = (  # d, a, alpha; mass; centre of mass, as the maker prints them
    ((0.1625, 0, math.pi / 2), 3.761, (0, -0.02561, 0.00193)),
    ((0, -0.425, 0), 8.058, (0.2125, 0, 0.11336)),
    ((0, -0.3922, 0), 2.846, (0.15, 0, 0.0265)),
    ((0.1333, 0, math.pi / 2), 1.37, (0, -0.0018, 0.01634)),
    ((0.0997, 0, -math.pi / 2), 1.3, (0, 0.0018, 0.01634)),
    ((0.0996, 0, 0), 0.365, (0, 0, -0.001159)),
)


def test_the_mobile_arm_is_a_ur5e_on_a_pmb2() -> None:
    """Eight degrees of freedom: eleven speeds, of which rolling takes three. The arm by the maker's printed table; the
    platform as in the maker's description of the robot that it carries."""
    model, real = library_robot("mobile_arm"), load_urdf(robot("tiago"))
    q = random_configuration(model, np.random.default_rng(4))
    assert model.nv - np.linalg.matrix_rank(rolling_constraints(model, q)) == 8
    placed = forward_kinematics(model, q)
    T = placed["base_link"] @ np.array([[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0.3], [0, 0, 0, 1]])
    for joint, ((d, a, alpha), mass, com) in zip(model.joints[1:7], UR5E, strict=True):
        x = q[model.slot(joint.name).q][0]
        ca, sa, ct, st = math.cos(alpha), math.sin(alpha), math.cos(x), math.sin(x)
        T = T @ np.array(
            [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
        )
        link = model.link(joint.child)
        own = placed[joint.child]
        assert own[:3, :3] @ link.com + own[:3, 3] == pytest.approx(T[:3, :3] @ com + T[:3, 3], abs=1e-12)
        assert link.mass == mass
    assert placed["tool"] == pytest.approx(T, abs=1e-12)
    for side in ("left", "right"):
        ours, wheel = model.joint(f"{side}_wheel"), real.joint(f"wheel_{side}_joint")
        assert ours.placement[:2, 3] == pytest.approx(wheel.placement[:2, 3])
        assert ours.velocity == pytest.approx(wheel.velocity) and ours.effort == wheel.effort
        assert model.link(ours.child).mass == real.link(wheel.child).mass
    assert model.link("base_link").mass == real.link("base_link").mass
    assert model.link("base_link").inertia == pytest.approx(real.link("base_link").inertia, abs=3e-3)


def test_the_puppet_is_ball_jointed() -> None:
    model = library_robot("puppet")
    balls = [joint.name for joint in model.joints if joint.type == "spherical"]
    hinges = [joint.name for joint in model.joints if joint.type == "revolute"]
    sides = [f"{side}_{part}" for side in ("left", "right") for part in ("shoulder", "wrist", "hip", "ankle")]
    assert sorted(balls) == sorted(["waist", "neck", *sides])
    assert sorted(hinges) == sorted(f"{side}_{part}" for side in ("left", "right") for part in ("elbow", "knee"))
    assert model.total_mass == pytest.approx(0.25)
    standing = forward_kinematics(model, model.neutral())
    assert standing["left_foot"][:3, 3] == pytest.approx([0.0, 0.8 * 0.191 * 0.15, 0.0], abs=1e-12)
    assert standing["right_hand"][1, 3] < -0.15
    # Elbows bend forward, knees backward; the shoulder's second swing brings the arms forward and back.
    bent = forward_kinematics(model, model.configuration(dict.fromkeys(hinges, 1.0)))
    for side in ("left", "right"):
        assert bent[f"{side}_hand"][0, 3] > 0.03
        assert bent[f"{side}_foot"][0, 3] < -0.05
        c, s = math.cos(0.7), math.sin(0.7)  # a turn of 1.4 rad about z
        turned = forward_kinematics(model, model.configuration({f"{side}_shoulder": [c, 0.0, 0.0, s]}))
        assert in_limits(model, model.configuration({f"{side}_shoulder": [c, 0.0, 0.0, s]}))
        assert abs(turned[f"{side}_hand"][0, 3]) > 0.09


# -- solids ------------------------------------------------------------------------------------------------------------


def mujoco_geom(geometry: Geometry) -> str:
    shape, T = geometry.shape, geometry.placement
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, T[:3, :3].ravel())
    kind, size = {
        Box: lambda s: ("box", [edge / 2.0 for edge in s.size]),
        Cylinder: lambda s: ("cylinder", [s.radius, s.length / 2.0]),
        Capsule: lambda s: ("capsule", [s.radius, s.length / 2.0]),
        Sphere: lambda s: ("sphere", [s.radius]),
    }[type(shape)](shape)
    text = {"type": kind, "size": size, "pos": T[:3, 3], "quat": quaternion}
    words = (f'{k}="{v if isinstance(v, str) else " ".join(map(repr, map(float, v)))}"' for k, v in text.items())
    return f'<geom density="1000" {" ".join(words)}/>'


@pytest.mark.parametrize(
    "shapes",
    [
        [box((0.1, -0.2, 0.3), (0.2, 0.3, 0.5))],
        [ball((0.1, -0.2, 0.3), 0.2)],
        [rod((0.1, 0.2, -0.1), (0.4, -0.3, 0.2), 0.07)],
        [bar((0.1, 0.2, -0.1), (0.4, -0.3, 0.2), 0.07)],
        [bar((0, 0, 0), (0, 0, 0.001), 0.2), box((1, 0, 0), (0.1, 0.2, 0.3)), rod((0, 0, 0), (0, 1, 0), 0.05)],
    ],
    ids=["box", "ball", "rod", "bar", "together"],
)
def test_solids_weigh_what_mujoco_says(shapes: list[Geometry]) -> None:
    geoms = "".join(map(mujoco_geom, shapes))
    oracle = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><body>{geoms}<joint/></body></worldbody></mujoco>")
    link = solid("body", float(oracle.body_mass[1]), shapes)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, oracle.body_iquat[1])
    inertia = R.reshape(3, 3) @ np.diag(oracle.body_inertia[1]) @ R.reshape(3, 3).T
    assert link.com == pytest.approx(oracle.body_ipos[1], abs=1e-9)
    assert link.inertia == pytest.approx(inertia, rel=1e-6, abs=1e-7)
