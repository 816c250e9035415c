"""Space, body and roll-pitch-yaw Jacobians: against their definitions by central differences, and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    RobotModel,
    UnknownNameError,
    body_jacobian,
    forward_kinematics,
    integrate,
    load_urdf,
    random_configuration,
    rpy_jacobian,
    space_jacobian,
)
from robokin_addon.robokin.spatial import se3, so3
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_robot
from support.robots import robot

STEP = 1e-6


def robots() -> list[RobotModel]:
    real = [load_urdf(robot("panda")), load_urdf(robot("solo12"), root="floating")]
    return [*real, *(random_robot(seed) for seed in range(6))]


def rates(model: RobotModel, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    """T_root_link at q and its derivatives (nv, 4, 4) by central differences."""

    def T(v: np.ndarray) -> np.ndarray:
        return forward_kinematics(model, integrate(model, q, v))[link]

    steps = STEP * np.eye(model.nv)
    return T(np.zeros(model.nv)), np.array([(T(v) - T(-v)) / (2.0 * STEP) for v in steps])


@pytest.mark.parametrize("model", robots(), ids=lambda m: m.name)
def test_definitions(model: RobotModel) -> None:
    rng = np.random.default_rng(7)
    for link in rng.choice(model.link_names, 3):
        q = random_configuration(model, rng)
        T, dT = rates(model, q, link)
        space = np.array([se3.vee(d @ se3.inverse(T)) for d in dT]).T
        body = np.array([se3.vee(se3.inverse(T) @ d) for d in dT]).T
        scale = 1.0 + abs(T).max()
        assert abs(space_jacobian(model, q, link) - space).max() < 1e-7 * scale
        assert abs(body_jacobian(model, q, link) - body).max() < 1e-7 * scale
        assert body_jacobian(model, q, link) == pytest.approx(
            se3.adjoint(se3.inverse(T)) @ space_jacobian(model, q, link), abs=1e-11 * scale
        )


@pytest.mark.parametrize("model", robots(), ids=lambda m: m.name)
def test_roll_pitch_yaw_against_differences_and_pinocchio(model: RobotModel) -> None:
    rng = np.random.default_rng(8)
    oracle = Oracle.from_model(model)
    for link in rng.choice(model.link_names, 3):
        q = random_configuration(model, rng)
        J = rpy_jacobian(model, q, link)
        rpy = so3.to_rpy(forward_kinematics(model, q)[link][:3, :3])
        steep = 1.0 / abs(np.cos(rpy[1]))

        def coordinates(v: np.ndarray) -> np.ndarray:
            T = forward_kinematics(model, integrate(model, q, v))[link]  # noqa: B023 (called at once)
            turned = so3.to_rpy(T[:3, :3]) - rpy  # noqa: B023
            return np.concatenate((T[:3, 3], np.remainder(turned + np.pi, 2.0 * np.pi) - np.pi))

        steps = STEP / steep * np.eye(model.nv)
        numeric = np.array([(coordinates(v) - coordinates(-v)) / (2.0 * STEP / steep) for v in steps]).T
        assert abs(J - numeric).max() < 1e-6 * steep**2 * (1.0 + abs(J).max())
        # Pinocchio's map from angle rates to angular velocity, for the world's axes.
        angular = pin.rpy.computeRpyJacobian(rpy, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED) @ J[3:]
        expected = oracle.frame_jacobian(q, link, "local_world_aligned")
        assert abs(np.vstack((J[:3], angular)) - expected).max() < 1e-11 * steep * (1.0 + abs(expected).max())


@pytest.mark.parametrize(("pitch", "said"), [(np.pi / 2, r"\+90"), (-np.pi / 2, "-90")])
def test_upright_has_no_rates(pitch: float, said: str) -> None:
    model = load_urdf(robot("solo12"), root="floating")
    q = model.neutral()
    half = pitch / 2.0
    q[3:7] = np.cos(half), 0.0, np.sin(half), 0.0
    with pytest.raises(ConfigurationError, match=f"pitch of 'base_link' is {said} degrees"):
        rpy_jacobian(model, q, "base_link")
    half -= np.sign(pitch) * 5e-4
    q[3:7] = np.cos(half), 0.0, np.sin(half), 0.0
    assert abs(rpy_jacobian(model, q, "base_link")[3:]).max() == pytest.approx(1000.0, rel=1e-3)


def test_wrong_links() -> None:
    model = load_urdf(robot("panda"))
    for function in (space_jacobian, body_jacobian, rpy_jacobian):
        with pytest.raises(UnknownNameError):
            function(model, model.neutral(), "panda_link99")
