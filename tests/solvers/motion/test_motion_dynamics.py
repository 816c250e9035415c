"""What a motion costs, as Pinocchio (links) and MuJoCo (drives) say."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    Mimic,
    ModelError,
    RobotModel,
    drive_effort,
    integrate,
    inverse_dynamics,
    library_robot,
    load_urdf,
    random_configuration,
)
from robokin_addon.robokin.dynamics import Drives
from robokin_addon.solvers import Motion, MotionDynamics, check_motion, retime
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_robot
from support.robots import robot

G = np.array([0.0, 0.0, -9.81])
KINDS = ("velocity", "angular velocity", "acceleration", "angular acceleration")


def motion(model: RobotModel, seed: int = 0, samples: int = 6) -> Motion:
    rng = np.random.default_rng(seed)
    q = [random_configuration(model, rng)]
    for _ in range(samples - 1):
        q.append(integrate(model, q[-1], 0.05 * rng.normal(size=model.nv)))
    return Motion.of(model, 0.04 * np.arange(samples), np.array(q), rng.normal(size=model.nv))


@pytest.mark.parametrize(
    ("name", "root"),
    [
        ("panda", "fixed"),
        ("talos_full_v2", "floating"),
        ("tiago", "planar"),
        ("tiago", "fixed"),
        ("ur5_robot", "planar"),
    ],
)
def test_as_pinocchio(name: str, root: str) -> None:
    path = robot(name)
    model = load_urdf(path, root=root)
    oracle = Oracle.from_urdf(model, path)
    compare(model, oracle, root)


@pytest.mark.parametrize("name", ["mobile_arm", "puma560"])
def test_library_as_pinocchio(name: str) -> None:
    model = library_robot(name)
    compare(model, Oracle.from_model(model), model.root)


def compare(model: RobotModel, oracle: Oracle, root: str) -> None:
    """Pinocchio leaves out what is fixed to the world: it has no momentum, and its weight is added here."""
    path = motion(model)
    found = MotionDynamics.of(path)
    for k, (q, v, a) in enumerate(zip(path.q, path.v, path.a, strict=True)):
        B = oracle.B(q)
        pin.computeCentroidalMomentumTimeVariation(
            oracle.pin_model, oracle.data, oracle.q(q), B @ v, B @ a + oracle.B(q, v) @ v
        )
        h, rate = np.array(oracle.data.hg.vector), np.array(oracle.data.dhg.vector)
        seen, com = np.array(oracle.data.com[0]), found.center_of_mass[k]
        weight = model.total_mass * G
        force = rate[:3] - weight
        moment = rate[3:] + np.cross(seen, rate[:3]) - np.cross(com, weight)
        size = np.abs(moment).max() + np.abs(force).max()
        np.testing.assert_allclose(found.base_wrench[k], np.concatenate((force, moment)), atol=1e-9 * size)
        # The robot's centre of mass is not Pinocchio's where a base is fixed.
        angular = h[3:] + np.cross(seen - com, h[:3])
        np.testing.assert_allclose(found.momentum[k], np.concatenate((h[:3], angular)), atol=1e-9 * size)
        kinetic = pin.computeKineticEnergy(oracle.pin_model, oracle.data, oracle.q(q), B @ v)
        rotors = 0.5 * sum(
            joint.rotor_inertia * v[model.slot(joint.name).v][0] ** 2 for joint in model.moving_joints if joint.nv == 1
        )
        assert found.kinetic_energy[k] == pytest.approx(kinetic + rotors, rel=1e-9)
        if root != "fixed":
            np.testing.assert_allclose(com, seen, atol=1e-12 * (1.0 + np.abs(com).max()))
            potential = pin.computePotentialEnergy(oracle.pin_model, oracle.data, oracle.q(q))
            assert found.potential_energy[k] == pytest.approx(potential, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["panda", "puma560", "planar_2r"])
def test_impulses_are_the_multipliers_of_least_kinetic_energy(name: str) -> None:
    """The stationary point of the functional of Eq. 10, M v = J' l and J v = t, with Pinocchio's M and J."""
    model = library_robot(name)
    oracle, path = Oracle.from_model(model), motion(model)
    found = MotionDynamics.of(path)
    rotors = np.diag([joint.rotor_inertia for joint in model.moving_joints])
    for k, (q, v) in enumerate(zip(path.q, path.v, strict=True)):
        M = oracle.mass_matrix(q) + rotors
        for link, impulse in zip(found.tools, found.impulse[k], strict=True):
            J = oracle.frame_jacobian(q, link, "local_world_aligned")
            system = np.block([[M, -J.T], [J, np.zeros((6, 6))]])
            solved = np.linalg.lstsq(system, np.concatenate((np.zeros(model.nv), J @ v)), rcond=1e-12)[0]
            least = solved[: model.nv]  # by which these joint velocities come about, with the tool's twist
            np.testing.assert_allclose(J.T @ impulse, M @ least, rtol=1e-7, atol=1e-9 * abs(M).max() * abs(v).max())
            np.testing.assert_allclose(J @ least, J @ v, atol=1e-9 * abs(v).max())
            if np.linalg.matrix_rank(J) == 6:
                np.testing.assert_allclose(impulse, solved[model.nv :], rtol=1e-6, atol=1e-9)
    columns = found.columns()
    for i, link in enumerate(found.tools):
        for first, (kind, unit) in ((0, ("impulse", "N s")), (3, ("angular impulse", "N m s"))):
            for k, axis in enumerate("xyz"):
                told, values = columns[f"{link} {kind} {axis}"]
                assert told == unit and (values == found.impulse[:, i, first + k]).all()


def test_energy_is_the_work_of_the_drives() -> None:
    """Over a fine motion without friction: no oracle but conservation."""
    model = load_urdf(robot("panda"))
    t = np.linspace(0.0, 1.0, 4001)
    q = model.limits.middle(model.neutral()) + 0.3 * np.sin(3.0 * t[:, None] + np.arange(model.nq)) * (
        model.velocity > 1.0
    )
    found = MotionDynamics.of(Motion.of(model, t, q, (q[1] - q[0]) / t[1]))
    energy = found.kinetic_energy + found.potential_energy
    work = np.sum(found.power[2:], axis=1) * np.diff(t)[1:]
    rubbed = 0.0  # the friction of the drives is lost
    for joint in model.moving_joints:
        v = found.motion.v[2:, model.slot(joint.name).v][:, 0]
        rubbed += np.sum((joint.damping * v**2 + joint.friction * abs(v)) * np.diff(t)[1:])
    assert energy[-1] - energy[1] == pytest.approx(work.sum() - rubbed, abs=1e-2 * np.ptp(energy))


MJCF = """<mujoco><option gravity="0 0 -9.81"><flag contact="disable" constraint="disable"/></option>
<worldbody><body><joint name="a" axis="0 1 0" armature="{0}" damping="{1}"/>
<inertial pos="0.1 0 0.2" mass="2" diaginertia="0.01 0.02 0.03"/>
<body pos="0.5 0 0"><joint name="b" type="slide" axis="1 0 0" armature="{2}" damping="{3}"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.01 0.01"/></body></body></worldbody></mujoco>"""


def test_rotors_and_damping_as_mujoco() -> None:
    numbers = 0.3, 1.7, 2.5, 4.0
    oracle = mujoco.MjModel.from_xml_string(MJCF.format(*numbers))
    data = mujoco.MjData(oracle)
    model = RobotModel(
        "two",
        [
            Link("base"),
            Link("one", 2.0, (0.1, 0.0, 0.2), np.diag([0.01, 0.02, 0.03])),
            Link("two", 1.0, (0.1, 0.0, 0.0), 0.01 * np.eye(3)),
        ],
        [
            Joint("a", "revolute", "base", "one", axis=(0, 1, 0), rotor_inertia=numbers[0], damping=numbers[1]),
            Joint(
                "b",
                "prismatic",
                "one",
                "two",
                placement=np.block([[np.eye(3), np.array([[0.5], [0.0], [0.0]])], [np.array([[0, 0, 0, 1.0]])]]),
                axis=(1, 0, 0),
                rotor_inertia=numbers[2],
                damping=numbers[3],
            ),
        ],
    )
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, v, a = rng.normal(size=(3, 2))
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(oracle, data)
        np.testing.assert_allclose(drive_effort(model, q, v, a), data.qfrc_inverse, rtol=1e-9, atol=1e-9)


def test_friction_is_against_the_way_and_mimics_count() -> None:
    """A follower at twice the speed: its damping counts four times, its dry friction twice."""
    model = RobotModel(
        "pair",
        [Link("base"), Link("one", 1.0), Link("two", 1.0)],
        [
            Joint("a", "revolute", "base", "one", friction=3.0),
            Joint(
                "b", "revolute", "base", "two", mimic=Mimic("a", -2.0), damping=0.5, friction=0.25, rotor_inertia=0.1
            ),
        ],
    )
    q = np.zeros(1)
    for v, a in ((2.0, 1.0), (-2.0, 1.0), (0.0, 0.0)):
        more = drive_effort(model, q, [v], [a]) - inverse_dynamics(model, q, [v], [a])
        assert more == pytest.approx(0.4 * a + 2.0 * v + 3.5 * np.sign(v))


def test_zero_moment_point() -> None:
    """A robot that stands still presses below its centre of mass; one that falls freely presses nowhere."""
    model = library_robot("puma560")
    still = Motion.of(model, [0.0, 1.0], [model.neutral()] * 2)
    found = MotionDynamics.of(still)
    np.testing.assert_allclose(found.zero_moment_point[:, :2], found.center_of_mass[:, :2], atol=1e-12)
    assert found.zero_moment_point[0, 2] == pytest.approx(0.0, abs=1e-12)
    free = library_robot("puma560").with_root("floating")
    t = 0.001 * np.arange(4)
    q = np.tile(free.neutral(), (4, 1))
    q[:, 2] -= 0.5 * 9.81 * t**2
    falling = MotionDynamics.of(Motion.of(free, t, q))
    assert np.isnan(falling.zero_moment_point[2:]).all()
    np.testing.assert_allclose(falling.effort[2:], 0.0, atol=1e-6)


def test_a_tilted_root_and_the_ground_below_it() -> None:
    """Gravity along another axis: the point is in the plane across it."""
    model = library_robot("puma560")
    found = MotionDynamics.of(motion(model), gravity=(9.81, 0.0, 0.0))
    np.testing.assert_allclose(found.zero_moment_point[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(found.base_wrench[0, :3] @ [1.0, 0.0, 0.0] / (model.total_mass * -9.81), 1.0, atol=0.5)


def test_bad_input() -> None:
    model = library_robot("puma560")
    with pytest.raises(ConfigurationError, match="a Motion is needed"):
        MotionDynamics.of(np.zeros((3, 6)))
    with pytest.raises(ConfigurationError, match="gravity"):
        MotionDynamics.of(motion(model), gravity=(0.0, 1.0))
    massless = RobotModel("light", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b")])
    with pytest.raises(ModelError, match="no link has a mass"):
        MotionDynamics.of(Motion.of(massless, [0.0], [[0.0]]))


def test_check_tells_of_efforts() -> None:
    """Over the limit by a hair, and under it by one; gravity counts as given."""
    model = load_urdf(robot("panda"))
    q = model.limits.middle(model.neutral())
    weight = inverse_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv))[1]
    still = Motion.of(model, [0.0, 1.0], [q, q])

    def limited(effort: float) -> Motion:
        joints = [replace(j, effort=effort if j.name == "panda_joint2" else np.inf) for j in model.joints[1:]]
        return replace(still, model=RobotModel("panda", model.links, joints))

    assert check_motion(limited(1.0000001 * abs(weight)), gravity=G).violations == ()
    assert check_motion(limited(0.1 * abs(weight))).violations == ()
    (first, second) = check_motion(limited(0.9999999 * abs(weight)), gravity=G).violations
    assert (first.frame, second.frame) == (0, 1)
    assert (first.kind, first.joint, first.unit) == ("effort", "panda_joint2", "N m")
    assert first.value == pytest.approx(weight, rel=1e-12)
    assert check_motion(limited(0.1 * abs(weight)), gravity=(0.0, 0.0, 0.0)).violations == ()


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_drives_of_every_joint_type_count(root: str) -> None:
    """Balls, slides, screws, mimics: Pinocchio's inverse dynamics, and each joint's own damping, friction and rotor."""
    plain, rng = random_robot(3, root=root), np.random.default_rng(1)
    own = [
        replace(joint, damping=rng.uniform(0, 3), friction=rng.uniform(0, 2), rotor_inertia=rng.uniform(0, 0.5))
        for joint in plain.joints
        if joint.parent is not None
    ]
    model = RobotModel("driven", plain.links, own, root)
    path, oracle = motion(model), Oracle.from_model(model)
    found = MotionDynamics.of(path)
    for k, (q, v, a) in enumerate(zip(path.q, path.v, path.a, strict=True)):
        wanted = oracle.inverse_dynamics(q, v, a)
        for joint in own:
            at, (ratio, _) = model.slot(joint.name).v, model.mimic_map(joint.name)
            force = joint.damping * ratio * v[at] + joint.friction * np.sign(ratio * v[at])
            wanted[at] += ratio * (force + joint.rotor_inertia * ratio * a[at])
        np.testing.assert_allclose(found.effort[k], wanted, atol=1e-9 * (1.0 + abs(wanted).max()))
        np.testing.assert_allclose(found.power[k], wanted * v, atol=1e-9 * (1.0 + abs(wanted * v).max()))


@pytest.mark.parametrize("name", ["panda", "talos_reduced", "every joint type"])
def test_links_move_as_pinocchio_says(name) -> None:
    model = random_robot(2, root="planar") if " " in name else load_urdf(robot(name), root="floating")
    oracle, path = Oracle.from_model(model), motion(model)
    links = [model.link_names[-1], model.link_names[len(model.link_names) // 2]]
    columns = MotionDynamics.of(path).columns({"joints", "links"}, links)
    rows = {kind: np.array([[columns[f"{link} {kind} {x}"][1] for x in "xyz"] for link in links]) for kind in KINDS}
    for k in range(len(path)):
        for i, link in enumerate(links):
            twist, rate = oracle.frame_motion(path.q[k], path.v[k], path.a[k], link)
            np.testing.assert_allclose([*rows[KINDS[0]][i, :, k], *rows[KINDS[1]][i, :, k]], twist, atol=1e-9)
            np.testing.assert_allclose([*rows[KINDS[2]][i, :, k], *rows[KINDS[3]][i, :, k]], rate, rtol=1e-9, atol=1e-7)
    joint = next(joint.name for joint in model.moving_joints if joint.nv == 1)
    own = model.slot(joint).v
    jerk = np.diff(path.a[:, own][:, 0]) / np.diff(path.times)
    np.testing.assert_allclose(columns[f"{joint} jerk"][1], [0.0, *jerk])
    assert columns[f"{joint} jerk"][0] == "rad/s\u00b3" and not any("effort" in name for name in columns)


def test_springs_of_joints_with_a_rest_position_count() -> None:
    """Pinocchio's inverse dynamics and k (q - rest) of each joint, and their energy is their work."""
    plain = library_robot("panda")
    joints = [
        replace(joint, stiffness=20.0 + i, rest_position=0.1 * i) if joint.nv == 1 else joint
        for i, joint in enumerate(plain.joints)
    ]
    model = RobotModel("sprung", plain.links, joints[1:] if joints[0].parent is None else joints)
    oracle, rng = Oracle.from_model(model), np.random.default_rng(0)
    for _ in range(20):
        q, v, a = random_configuration(model, rng), *rng.normal(size=(2, model.nv))
        wanted = oracle.inverse_dynamics(q, v, a)
        for joint in model.joints:
            if joint.rest_position is None:
                continue
            own, (ratio, offset) = model.slot(joint.name), model.mimic_map(joint.name)
            wanted[own.v] += ratio * joint.stiffness * (ratio * q[own.q] + offset - joint.rest_position)
        drives = Drives.of(model)
        rates = drives.rotor_inertia * a + drives.damping * v + drives.friction * np.sign(v)
        np.testing.assert_allclose(drive_effort(model, q, v, a), wanted + rates, rtol=1e-9, atol=1e-9)
        dq = 1e-6 * v
        gained = (drives.spring_energy(q + dq) - drives.spring_energy(q - dq)) / 2.0
        assert gained == pytest.approx(drives.spring_effort(q) @ dq, rel=1e-6)


def test_springs_bound_how_fast_a_path_may_be() -> None:
    """A path takes another time with them, and the limits on efforts hold."""
    plain, q = library_robot("planar_2r"), np.linspace([-0.2, 0.1], [1.2, 0.5], 9)
    durations = []
    for rest in (None, 0.0):
        joints = [replace(joint, stiffness=30.0, rest_position=rest, effort=40.0) for joint in plain.joints]
        model = RobotModel("arm", plain.links, joints[1:] if joints[0].parent is None else joints)
        found = retime(model, q, {"velocity": 10.0, "acceleration": 1e4}, gravity=np.zeros(3))
        states = zip(*found.sample(np.linspace(0.0, found.duration, 400)), strict=True)
        assert max(abs(drive_effort(model, *state, np.zeros(3))).max() for state in states) <= 40.0 * (1.0 + 1e-6)
        durations.append(found.duration)
    assert abs(durations[1] - durations[0]) > 0.01 * durations[0]
