"""SE(3) against its defining power series (in extended precision), Pinocchio, the group axioms, central differences."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin.spatial import se3
from test_so3 import ANGLES, NEAR_PI, directions, power_series


def twists(angle: float, seed: int = 0) -> np.ndarray:
    axes = directions(8)
    return np.hstack((np.random.default_rng(seed).uniform(-2, 2, axes.shape), angle * axes))


@pytest.mark.parametrize("angle", ANGLES + NEAR_PI + [math.pi, 4.0])
def test_exp_and_jacobians_are_their_power_series(angle):
    for x in twists(angle):
        assert se3.exp(x) == pytest.approx(power_series(se3.hat(x), 0), abs=5e-15)
        assert se3.left_jacobian(x) == pytest.approx(power_series(se3.bracket(x), 1), abs=1e-14)
        assert se3.right_jacobian(x) == pytest.approx(power_series(-se3.bracket(x), 1), abs=1e-14)
        assert se3.adjoint(se3.exp(x)) == pytest.approx(power_series(se3.bracket(x), 0), abs=1e-14)


@pytest.mark.parametrize("angle", ANGLES + NEAR_PI)
def test_inverses(angle):
    x = twists(angle)
    one = np.tile(np.eye(6), (len(x), 1, 1))
    assert se3.log(se3.exp(x)) == pytest.approx(x, abs=2e-13 if angle > 3.1 else 2e-14)
    assert se3.left_jacobian_inverse(x) @ se3.left_jacobian(x) == pytest.approx(one, abs=1e-12)
    assert se3.right_jacobian(x) @ se3.right_jacobian_inverse(x) == pytest.approx(one, abs=1e-12)
    assert se3.inverse(se3.exp(x)) == pytest.approx(se3.exp(-x), abs=1e-14)


def test_half_turns_have_a_logarithm():
    T = se3.exp(twists(math.pi))
    assert se3.exp(se3.log(T)) == pytest.approx(T, abs=1e-13)


def test_agrees_with_pinocchio():
    for angle in [a for a in ANGLES if a > 1e-10]:
        for x in twists(angle, 1):
            T = pin.exp6(pin.Motion(x))
            assert se3.exp(x) == pytest.approx(T.homogeneous, abs=1e-13)
            assert se3.adjoint(T.homogeneous) == pytest.approx(T.action, abs=1e-14)
            assert se3.log(T.homogeneous) == pytest.approx(pin.log6(T).vector, abs=1e-11)
            # Pinocchio's Jacobians lose digits at small angles; the power series above covers those.
            if angle >= 0.1:
                assert se3.right_jacobian(x) == pytest.approx(pin.Jexp6(pin.Motion(x)), abs=1e-9)
                assert se3.right_jacobian_inverse(x) == pytest.approx(pin.Jlog6(T), abs=1e-9)
            assert se3.bracket(x) == pytest.approx(pin.Motion(x).action, abs=1e-15)


@pytest.mark.parametrize("size", [1e-9, 1e-5, 0.3, 1.0, 2.0])
def test_group_axioms(size):
    rng = np.random.default_rng(2)
    a, b, c = (se3.exp(size * rng.normal(size=(20, 6))) for _ in range(3))
    assert (a @ b) @ c == pytest.approx(a @ (b @ c), abs=1e-13)
    assert a @ se3.inverse(a) == pytest.approx(np.tile(np.eye(4), (20, 1, 1)), abs=1e-14)
    assert se3.adjoint(a @ b) == pytest.approx(se3.adjoint(a) @ se3.adjoint(b), abs=1e-12)
    # T exp(x) T^-1 = exp(Ad(T) x)
    x = size * rng.normal(size=(20, 6))
    carried = (se3.adjoint(a) @ x[..., None])[..., 0]
    assert a @ se3.exp(x) @ se3.inverse(a) == pytest.approx(se3.exp(carried), abs=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-5, 0.4, 1.0 - 1e-7, 1.0 + 1e-7, 2.5])
def test_jacobians_are_derivatives_of_exp(angle):
    h = 1e-6
    for x in twists(angle)[:4]:
        for k, e in enumerate(np.eye(6)):
            plus, minus = se3.exp(x + h * e), se3.exp(x - h * e)
            assert se3.left_jacobian(x)[:, k] == pytest.approx(se3.log(plus @ se3.inverse(minus)) / (2 * h), abs=2e-9)
            assert se3.right_jacobian(x)[:, k] == pytest.approx(se3.log(se3.inverse(minus) @ plus) / (2 * h), abs=2e-9)


def test_packing_and_hat_round_trip():
    x = twists(0.7)
    T = se3.exp(x)
    assert (se3.vee(se3.hat(x)) == x).all()
    assert (se3.unpack(se3.pack(T)) == T).all()
    assert (se3.pack(T)[0, :9] == T[0, :3, :3].ravel()).all()
