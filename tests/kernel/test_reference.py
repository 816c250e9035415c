"""The NumPy backend against Pinocchio on random robots of every joint type, MuJoCo, and central differences."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, load_urdf, random_configuration, urdf_text
from robokin_addon.robokin.backend import Reference, reference
from robokin_addon.robokin.spatial import se3
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import ALL_TYPES, random_robot
from support.robots import robot

ROOTS = ("fixed", "floating", "planar")
CASES = [(seed, root) for seed in range(8) for root in ROOTS]


def near(expected: np.ndarray, tolerance: float = 1e-12):
    """Equal up to `tolerance` of the largest entry."""
    return pytest.approx(expected, rel=0.0, abs=tolerance * max(1.0, abs(expected).max(initial=0.0)))


@pytest.mark.parametrize(("seed", "root"), CASES)
def test_random_robots_equal_pinocchio(seed, root):
    model = random_robot(seed, root=root)
    assert {j.type for j in model.joints[1:]} == set(ALL_TYPES)
    oracle, rng, tree = Oracle.from_model(model), np.random.default_rng(seed), model.tree
    q = random_configuration(model, rng)
    v, a = rng.normal(size=(2, model.nv))
    gravity = rng.normal(size=3)
    frames = oracle.frames(q)
    placements = reference.frame_placements(tree, q)
    for i, name in enumerate(model.link_names):
        assert placements[i] == near(frames[name])
        for kind in Reference:
            J = reference.frame_jacobian(tree, q, i, kind)
            assert J == near(oracle.frame_jacobian(q, name, kind.name.lower()))
    assert reference.mass_matrix(tree, q) == near(oracle.mass_matrix(q))
    assert reference.inverse_dynamics(tree, q, v, a, gravity) == near(oracle.inverse_dynamics(q, v, a, gravity))
    if root != "fixed":
        assert reference.center_of_mass(tree, q) == near(oracle.center_of_mass(q))
        assert reference.center_of_mass_jacobian(tree, q) == near(oracle.center_of_mass_jacobian(q))


def test_center_of_mass_counts_what_is_fixed_to_the_root():
    ahead = se3.placement(np.eye(3), np.array([1.0, 0, 0]))
    arm = Joint("turn", "revolute", "base", "arm", ahead, axis=(0, 0, 1))
    model = RobotModel("two", [Link("base", 3.0, com=(0, 0, 1.0)), Link("arm", 1.0, com=(1.0, 0, 0))], [arm])
    assert reference.center_of_mass(model.tree, np.array([np.pi / 2])) == pytest.approx([0.25, 0.25, 0.75])
    assert reference.center_of_mass_jacobian(model.tree, np.array([0.0])) == pytest.approx(np.array([[0], [0.25], [0]]))


@pytest.mark.parametrize(("seed", "root"), CASES[:9])
def test_jacobians_are_derivatives_of_placements(seed, root):
    """Independent of any library: T(q + h v) by `integrate`, compared in each of the three references."""
    model = random_robot(100 + seed, root=root)
    tree, h = model.tree, 1e-6
    q = random_configuration(model, np.random.default_rng(seed))
    steps = h * np.eye(model.nv)
    plus, minus = (reference.integrate(tree, np.tile(q, (model.nv, 1)), s) for s in (steps, -steps))
    T, T_plus, T_minus = (reference.frame_placements(tree, x) for x in (q, plus, minus))
    for frame in range(len(model.links)):
        local = se3.log(se3.inverse(T_minus[:, frame]) @ T_plus[:, frame]).T / (2 * h)
        world = se3.log(T_plus[:, frame] @ se3.inverse(T_minus[:, frame])).T / (2 * h)
        turned = se3.adjoint(se3.placement(T[frame, :3, :3], np.zeros(3))) @ local
        assert reference.frame_jacobian(tree, q, frame, Reference.LOCAL) == near(local, 1e-8)
        assert reference.frame_jacobian(tree, q, frame, Reference.WORLD) == near(world, 1e-8)
        assert reference.frame_jacobian(tree, q, frame, Reference.LOCAL_WORLD_ALIGNED) == near(turned, 1e-8)
    com_change = (reference.center_of_mass(tree, plus) - reference.center_of_mass(tree, minus)).T / (2 * h)
    assert reference.center_of_mass_jacobian(tree, q) == near(com_change, 1e-8)


def test_dynamics_conserve_energy():
    """Power in = change of kinetic energy, for every joint type: ties M, the velocity terms and integrate together."""
    model = random_robot(7, root="floating")
    tree, rng, h = model.tree, np.random.default_rng(7), 1e-5
    q, (v, a) = random_configuration(model, rng), rng.normal(size=(2, model.nv))

    def energy(t: float) -> float:
        # q(t) with velocity v + a t up to second order.
        moved, speed = reference.integrate(tree, q, t * v + 0.5 * t * t * a), v + t * a
        return 0.5 * speed @ reference.mass_matrix(tree, moved) @ speed

    power = reference.inverse_dynamics(tree, q, v, a, np.zeros(3)) @ v
    assert power == pytest.approx((energy(h) - energy(-h)) / (2 * h), rel=1e-7)


def test_mimic_joints_add_to_the_joint_they_follow():
    """Two equal links turned by one coordinate: M = G' M_free G with the coupling counted twice."""
    links = [Link("base"), *(Link(n, 2.0, com=(0.5, 0, 0), inertia=0.1 * np.eye(3)) for n in ("upper", "fore"))]
    elbow = se3.placement(np.eye(3), np.array([1.0, 0, 0]))
    shoulder = Joint("shoulder", "revolute", "base", "upper")

    def arm(mimic: Mimic | None) -> RobotModel:
        return RobotModel("arm", links, [shoulder, Joint("elbow", "revolute", "upper", "fore", elbow, mimic=mimic)])

    free, coupled = arm(None), arm(Mimic("shoulder", -0.5, 0.3))
    q, G = np.array([0.4]), np.array([[1.0], [-0.5]])
    q_free = np.array([0.4, -0.5 * 0.4 + 0.3])
    assert reference.frame_placements(coupled.tree, q) == near(reference.frame_placements(free.tree, q_free))
    M = reference.mass_matrix(free.tree, q_free)
    assert reference.mass_matrix(coupled.tree, q) == near(G.T @ M @ G)
    assert abs(M[0, 1]) > 0.1
    J = reference.frame_jacobian(free.tree, q_free, 2, Reference.LOCAL)
    assert reference.frame_jacobian(coupled.tree, q, 2, Reference.LOCAL) == near(J @ G)


@pytest.mark.parametrize("root", ROOTS)
def test_batches_equal_single_calls(root):
    model = random_robot(3, root=root)
    tree, rng = model.tree, np.random.default_rng(3)
    q = np.array([random_configuration(model, rng) for _ in range(5)])
    other = np.array([random_configuration(model, rng) for _ in range(5)])
    v, a = rng.normal(size=(2, 5, model.nv))
    calls = {
        "node_placements": (q,),
        "frame_placements": (q,),
        "center_of_mass": (q,),
        "center_of_mass_jacobian": (q,),
        "mass_matrix": (q,),
        "inverse_dynamics": (q, v, a),
        "integrate": (q, v),
        "difference": (q, other),
    }
    for name, arguments in calls.items():
        function = getattr(reference, name)
        together = function(tree, *arguments)
        for b in range(5):
            assert together[b] == near(function(tree, *(x[b] for x in arguments)), 1e-13), name
    for kind in Reference:
        together = reference.frame_jacobian(tree, q, 5, kind)
        for b in range(5):
            assert together[b] == near(reference.frame_jacobian(tree, q[b], 5, kind), 1e-13)


def test_a_base_far_away_keeps_its_digits():
    """Inertia does not depend on where the robot stands; a sum about the world's origin would lose ten digits here."""
    model = random_robot(5, root="floating")
    tree, rng = model.tree, np.random.default_rng(5)
    q, (v, a) = random_configuration(model, rng), rng.normal(size=(2, model.nv))
    far = q.copy()
    far[:3] += [1e4, -2e4, 3e4]
    assert reference.mass_matrix(tree, far) == near(reference.mass_matrix(tree, q), 1e-9)
    tau = reference.inverse_dynamics(tree, q, v, a)
    assert reference.inverse_dynamics(tree, far, v, a) == near(tau, 1e-9)
    assert reference.center_of_mass_jacobian(tree, far) == near(reference.center_of_mass_jacobian(tree, q), 1e-9)


@pytest.mark.parametrize("joints", [[], [Joint("weld", "fixed", "base", "tip")]])
def test_a_robot_that_cannot_move(joints):
    links = [Link("base", 1.0, com=(1, 2, 3)), Link("tip")][: 1 + len(joints)]
    model = RobotModel("post", links, joints)
    tree, nothing = model.tree, np.zeros(0)
    assert reference.frame_placements(tree, nothing) == pytest.approx(np.tile(np.eye(4), (len(links), 1, 1)))
    assert reference.node_placements(tree, nothing).shape == (0, 12)
    assert reference.frame_jacobian(tree, nothing, 0, Reference.WORLD).shape == (6, 0)
    assert reference.center_of_mass(tree, nothing) == pytest.approx([1, 2, 3])
    assert reference.center_of_mass_jacobian(tree, nothing).shape == (3, 0)
    assert reference.mass_matrix(tree, nothing).shape == (0, 0)
    assert reference.inverse_dynamics(tree, nothing, nothing, nothing).shape == (0,)
    assert reference.integrate(tree, nothing, nothing).shape == (0,)
    assert reference.difference(tree, nothing, nothing).shape == (0,)


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "kinova"])
def test_dynamics_equal_mujocos(name):
    loaded = load_urdf(robot(name))
    links = [Link(link.name, link.mass, link.com, link.inertia) for link in loaded.links]
    # Without meshes, and without mimic, which MuJoCo treats as a soft constraint.
    joints = [dataclasses.replace(joint, mimic=None, damping=0.0, friction=0.0) for joint in loaded.joints[1:]]
    model = RobotModel(name, links, joints)
    mj = mujoco.MjModel.from_xml_string(urdf_text(model))
    data = mujoco.MjData(mj)
    rng = np.random.default_rng(0)
    q, (v, a) = random_configuration(model, rng), rng.normal(size=(2, model.nv))
    moving = [joint.name for joint in model.moving_joints]
    address = np.array([mj.joint(joint).dofadr[0] for joint in moving])
    data.qpos[address], data.qvel[address] = q, v
    mujoco.mj_forward(mj, data)
    M = np.zeros((mj.nv, mj.nv))
    for k in range(mj.nv):
        mujoco.mj_mulM(mj, data, M[k], np.eye(mj.nv)[k])
    M = M[np.ix_(address, address)]
    assert reference.mass_matrix(model.tree, q) == near(M, 1e-9)
    tau = M @ a + data.qfrc_bias[address]
    assert reference.inverse_dynamics(model.tree, q, v, a) == near(tau, 1e-9)
