"""SO(3) against its defining power series (in extended precision), Pinocchio and central differences."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin.spatial import quaternion, so3

# Both sides of every branch: 0, the series threshold (1 rad), half a turn, and the tiny angles between.
ANGLES = [0.0, 1e-200, 1e-14, 1e-8, 1e-5, 1e-3, 0.1, 0.5]
ANGLES += [so3.SERIES_BELOW * (1.0 - 1e-12), so3.SERIES_BELOW, so3.SERIES_BELOW * (1.0 + 1e-12), 1.5, 2.0, 2.5, 3.0]
NEAR_PI = [math.pi - d for d in (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-13)]


def directions(count: int = 12) -> np.ndarray:
    axes = np.random.default_rng(0).normal(size=(count, 3))
    axes = np.vstack((axes, np.eye(3), -np.eye(3), [[1.0, 1e-9, 0.0], [1.0, 1.0, 0.0]]))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


def power_series(matrix: np.ndarray, shift: int) -> np.ndarray:
    """sum of matrix^k / (k + shift)!: the exponential (shift 0) and the left Jacobian (shift 1)."""
    matrix = np.asarray(matrix, np.longdouble)
    total, power, factorial = np.zeros_like(matrix), np.eye(len(matrix), dtype=np.longdouble), np.longdouble(1)
    for k in range(60):
        total += power / factorial
        power = power @ matrix
        factorial *= k + 1 + shift
    return total.astype(float)


@pytest.mark.parametrize("angle", ANGLES + NEAR_PI + [math.pi, 4.0, 6.0])
def test_exp_and_left_jacobian_are_their_power_series(angle):
    for axis in directions():
        w = angle * axis
        assert so3.exp(w) == pytest.approx(power_series(so3.hat(w), 0), abs=2e-15)
        assert so3.left_jacobian(w) == pytest.approx(power_series(so3.hat(w), 1), abs=2e-15)
        assert so3.right_jacobian(w) == pytest.approx(power_series(-so3.hat(w), 1), abs=2e-15)


@pytest.mark.parametrize("angle", [*ANGLES, *NEAR_PI, math.pi, 4.0, 5.5])
def test_inverse_jacobians_invert(angle):
    w = angle * directions()
    one = np.tile(np.eye(3), (len(w), 1, 1))
    assert so3.left_jacobian_inverse(w) @ so3.left_jacobian(w) == pytest.approx(one, abs=1e-13)
    assert so3.right_jacobian(w) @ so3.right_jacobian_inverse(w) == pytest.approx(one, abs=1e-13)


@pytest.mark.parametrize("angle", ANGLES + NEAR_PI)
def test_log_is_the_inverse_of_exp(angle):
    w = angle * directions()
    tolerance = 5e-15 if angle < 3.1 else 5e-14
    assert so3.log(so3.exp(w)) == pytest.approx(w, rel=1e-14, abs=tolerance)
    if 0.0 < angle < 1e-4:
        # Small rotations keep their relative accuracy, which an arccos of the trace would lose entirely.
        assert np.linalg.norm(so3.log(so3.exp(w)), axis=1) == pytest.approx(angle, rel=1e-12)


def test_half_turns_have_a_logarithm():
    w = math.pi * directions()
    found = so3.log(so3.exp(w))
    assert so3.exp(found) == pytest.approx(so3.exp(w), abs=1e-14)
    assert np.linalg.norm(found, axis=1) == pytest.approx(math.pi, abs=1e-14)
    for exact in (np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        assert so3.exp(so3.log(exact)) == pytest.approx(exact, abs=1e-15)


def test_log_and_jacobians_agree_with_pinocchio():
    # Up to 3 rad: nearer to pi, the logarithm of Pinocchio 2.7 is off by 2e-8 about coordinate axes.
    for angle in [a for a in ANGLES if a > 1e-10]:
        for axis in directions():
            w = angle * axis
            assert so3.exp(w) == pytest.approx(pin.exp3(w), abs=1e-14)
            assert so3.log(pin.exp3(w)) == pytest.approx(pin.log3(pin.exp3(w)), abs=1e-12)
            assert so3.right_jacobian(w) == pytest.approx(pin.Jexp3(w), abs=1e-12)
            assert so3.right_jacobian_inverse(w) == pytest.approx(pin.Jlog3(pin.exp3(w)), abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.3, 1.0 - 1e-7, 1.0 + 1e-7, 2.0, math.pi - 1e-4])
def test_jacobians_are_derivatives_of_exp(angle):
    h = 1e-6
    for axis in directions(4):
        w = angle * axis
        for k, e in enumerate(np.eye(3)):
            change = so3.log(so3.exp(w + h * e) @ so3.exp(w - h * e).T) / (2 * h)
            assert so3.left_jacobian(w)[:, k] == pytest.approx(change, abs=1e-9)
            change = so3.log(so3.exp(w - h * e).T @ so3.exp(w + h * e)) / (2 * h)
            assert so3.right_jacobian(w)[:, k] == pytest.approx(change, abs=1e-9)


def test_coefficients_at_zero_are_their_limits():
    zero = np.zeros(2)
    assert so3.sinc(zero).tolist() == [1.0, 1.0]
    assert so3.cosc(zero).tolist() == [0.5, 0.5]
    assert so3.sinc3(zero).tolist() == [1 / 6, 1 / 6]


def test_hat_vee_cross():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 5, 4, 3))
    assert (so3.vee(so3.hat(a)) == a).all()
    assert (so3.hat(a) @ b[..., None])[..., 0] == pytest.approx(np.cross(a, b))
    assert so3.cross(a, b) == pytest.approx(np.cross(a, b))


def test_rpy_is_urdfs_convention():
    rng = np.random.default_rng(2)
    for rpy in rng.uniform(-math.pi, math.pi, (50, 3)):
        assert so3.from_rpy(rpy) == pytest.approx(pin.rpy.rpyToMatrix(rpy), abs=1e-15)
    rpy = rng.uniform([-math.pi, -math.pi / 2, -math.pi], [math.pi, math.pi / 2, math.pi], (50, 3))
    assert so3.to_rpy(so3.from_rpy(rpy)) == pytest.approx(rpy, abs=1e-12)


@pytest.mark.parametrize("away", [0.0, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rpy_at_gimbal_lock_still_gives_the_same_rotation(sign, away):
    angles = np.random.default_rng(3).uniform(-math.pi, math.pi, (40, 2))
    rpy = np.column_stack((angles[:, 0], np.full(40, sign * (math.pi / 2 - away)), angles[:, 1]))
    R = so3.from_rpy(rpy)
    assert so3.from_rpy(so3.to_rpy(R)) == pytest.approx(R, abs=1e-15)
    R = quaternion.to_matrix(quaternion.from_matrix(R))  # the same with other rounding
    assert so3.from_rpy(so3.to_rpy(R)) == pytest.approx(R, abs=1e-15)


def test_batches_equal_single_calls():
    w = np.random.default_rng(4).normal(size=(3, 2, 3)) * np.array([1e-9, 1.0, 2.0])[:, None, None]
    functions = (so3.hat, so3.exp, so3.left_jacobian, so3.left_jacobian_inverse, so3.right_jacobian, so3.from_rpy)
    for function in functions:
        together = function(w)
        assert together.shape == (3, 2, 3, 3)
        for index in np.ndindex(3, 2):
            assert together[index] == pytest.approx(function(w[index]), abs=1e-16)
    R = so3.exp(w)
    for function in (so3.log, so3.vee, so3.to_rpy):
        for index in np.ndindex(3, 2):
            assert function(R)[index] == pytest.approx(function(R[index]), abs=1e-16)
