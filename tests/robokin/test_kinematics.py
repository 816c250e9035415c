"""The public functions: names, arguments, errors. Their numbers are compared in test_reference and test_real_robots."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    ModelError,
    RobotModel,
    UnknownNameError,
    bias_torque,
    center_of_mass,
    center_of_mass_jacobian,
    forward_kinematics,
    frame_jacobian,
    gravity_torque,
    inverse_dynamics,
    mass_matrix,
)
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_placement, random_robot


def pendulum() -> RobotModel:
    """A point mass of 2 kg on a rod of 0.5 m along x that turns about y, and a massless tip."""
    links = [Link("base"), Link("rod", 2.0, com=(0.5, 0.0, 0.0)), Link("tip")]
    tip = np.eye(4)
    tip[:3, 3] = (0.5, 0.0, 0.0)
    swing = Joint("swing", "revolute", "base", "rod", axis=(0, 1, 0))
    return RobotModel("pendulum", links, [swing, Joint("weld", "fixed", "rod", "tip", tip)])


def test_a_pendulum_as_in_the_textbook():
    model = pendulum()
    q, v, a = np.array([math.pi / 3]), np.array([2.0]), np.array([3.0])
    c, s = math.cos(q[0]), math.sin(q[0])
    assert forward_kinematics(model, q)["tip"][:3, 3] == pytest.approx([0.5 * c, 0.0, -0.5 * s])
    assert center_of_mass(model, q) == pytest.approx([0.5 * c, 0.0, -0.5 * s])
    assert center_of_mass_jacobian(model, q)[:, 0] == pytest.approx([-0.5 * s, 0.0, -0.5 * c])
    assert frame_jacobian(model, q, "tip")[:, 0] == pytest.approx([-0.5 * s, 0.0, -0.5 * c, 0.0, 1.0, 0.0])
    assert frame_jacobian(model, q, "tip", "local")[:, 0] == pytest.approx([0.0, 0.0, -0.5, 0.0, 1.0, 0.0])
    assert frame_jacobian(model, q, "tip", reference="world")[:, 0] == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    assert mass_matrix(model, q) == pytest.approx(np.array([[0.5]]))
    assert gravity_torque(model, q) == pytest.approx([-2.0 * 9.81 * 0.5 * c])
    assert bias_torque(model, q, v) == pytest.approx(gravity_torque(model, q))
    assert inverse_dynamics(model, q, v, a) == pytest.approx([0.5 * 3.0 - 2.0 * 9.81 * 0.5 * c])
    assert inverse_dynamics(model, q, v, a, gravity=(0, 0, 0)) == pytest.approx([1.5])
    assert gravity_torque(model, q, gravity=(1.62, 0, 0)) == pytest.approx([2.0 * 1.62 * 0.5 * s])


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias():
    model, rng = random_robot(4, root="floating"), np.random.default_rng(4)
    q, (v, a) = model.neutral(), rng.normal(size=(2, model.nv))
    expected = mass_matrix(model, q) @ a + bias_torque(model, q, v)
    assert inverse_dynamics(model, q, v, a) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert abs(bias_torque(model, q, v) - gravity_torque(model, q)).max() > 1.0


def test_placements_are_a_mapping_in_the_models_order():
    model = random_robot(1)
    placements = forward_kinematics(model, model.neutral())
    assert list(placements) == list(model.link_names)
    assert len(placements) == len(model.links) == len(placements.array)
    assert "link3" in placements and "nothing" not in placements
    assert (placements["link3"] == placements.array[model.link_index("link3")]).all()
    with pytest.raises(UnknownNameError, match=r"no link named 'lnik3'.*link3"):
        placements["lnik3"]
    assert placements.get("nothing", "nowhere") == "nowhere"
    assert placements.get("link3") is not None


def test_unnormalised_quaternions_are_normalised():
    model = random_robot(1, root="floating")
    q = model.neutral()
    q[3:7] = (2.0, 0.0, 0.0, 2.0)
    R = forward_kinematics(model, q)["link0"][:3, :3]
    assert pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15) == R


def test_wrong_names_are_refused_with_the_valid_ones():
    model = pendulum()
    with pytest.raises(UnknownNameError, match=r"no link named 'tool'.*base, rod, tip"):
        frame_jacobian(model, [0.0], "tool")
    with pytest.raises(UnknownNameError, match=r"no reference named 'body'.*local_world_aligned"):
        frame_jacobian(model, [0.0], "tip", reference="body")


def test_bad_arguments_are_refused():
    model = pendulum()
    for bad in ([0.0, 0.0], [math.nan], "zero", [[0.0]]):
        for function in (forward_kinematics, center_of_mass, center_of_mass_jacobian, mass_matrix, gravity_torque):
            with pytest.raises(ConfigurationError):
                function(model, bad)
        with pytest.raises(ConfigurationError):
            frame_jacobian(model, bad, "tip")
        with pytest.raises(ConfigurationError, match="v of 'pendulum'"):
            inverse_dynamics(model, [0.0], bad, [0.0])
        with pytest.raises(ConfigurationError, match="a of 'pendulum'"):
            inverse_dynamics(model, [0.0], [0.0], bad)
    with pytest.raises(ConfigurationError, match=r"gravity must have shape \(3,\), not \(\)"):
        gravity_torque(model, [0.0], gravity=-9.81)


def test_a_robot_without_mass_has_no_centre_of_mass():
    model = RobotModel("ghost", [Link("base"), Link("arm")], [Joint("turn", "revolute", "base", "arm")])
    for function in (center_of_mass, center_of_mass_jacobian):
        with pytest.raises(ModelError, match="robot 'ghost' has no center of mass: no link has a mass"):
            function(model, [0.0])
    assert mass_matrix(model, [0.0]) == pytest.approx(0.0)


def test_arguments_are_not_changed_and_results_are_new():
    model, rng = random_robot(6, root="floating"), np.random.default_rng(0)
    q = model.neutral()
    q[3:7] = (2.0, 0.0, 0.0, 0.0)
    q[:3] = rng.normal(size=3)
    before = q.copy()
    first = forward_kinematics(model, q).array
    first[:] = 0.0
    assert (q == before).all()
    assert forward_kinematics(model, q).array.any()


def test_placements_compose_along_the_tree():
    rng = np.random.default_rng(9)
    A, B = random_placement(rng), random_placement(rng)
    links = [Link(name) for name in "abc"]
    joints = [Joint("two", "fixed", "b", "c", B), Joint("one", "fixed", "a", "b", A)]
    placements = forward_kinematics(RobotModel("welded", links, joints), [])
    assert placements["c"] == pytest.approx(A @ B)


@pytest.mark.parametrize("off", [1e-7, 3e-8, 1e-9, 1e-12, 1e-16])
def test_an_axis_hardly_off_z_is_not_z(off):
    """A thousand metres out along it the direction shows, as Pinocchio says."""
    for axis in ([off, 0.0, 1.0], [0.0, -off, 1.0], [off, off, -1.0]):
        model = RobotModel(
            "slide", [Link("base"), Link("far")], [Joint("j", "prismatic", "base", "far", axis=np.array(axis))]
        )
        expected = Oracle.from_model(model).frames(np.array([1000.0]))["far"]
        assert forward_kinematics(model, [1000.0])["far"] == pytest.approx(expected, abs=1e-12)


def test_placements_that_are_no_rigid_motion_are_refused():
    """Their last row would scale what follows."""
    scaled = np.diag([1.0, 1.0, 1.0, 2.0])
    for last in (scaled, np.eye(4) + np.eye(4, k=-3)):
        with pytest.raises(ModelError, match="its last row is"):
            Joint("tilt", "revolute", "a", "b", last, lower=-1.0, upper=1.0)
