"""Inverses of redundant Jacobians against Pinocchio's matrices and the identities that define them."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    extended_inverse,
    load_urdf,
    null_space,
    random_configuration,
    transversality,
    weighted_pseudo_inverse,
)
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot


def _panda() -> tuple[np.ndarray, np.ndarray]:
    model = load_urdf(robot("panda"))
    oracle = Oracle.from_urdf(model, robot("panda"))
    q = random_configuration(model, np.random.default_rng(3))
    J = oracle.frame_jacobian(q, "panda_hand", "local_world_aligned")[:, :7]
    return J, oracle.mass_matrix(q)[:7, :7]


def test_weighted_pseudo_inverse_gives_the_least_kinetic_energy() -> None:
    J, M = _panda()
    B = weighted_pseudo_inverse(J, M)
    naive = np.linalg.inv(M) @ J.T @ np.linalg.inv(J @ np.linalg.inv(M) @ J.T)
    np.testing.assert_allclose(B, naive, rtol=1e-9, atol=1e-10)
    t = np.arange(1.0, 7.0)
    v = B @ t
    np.testing.assert_allclose(J @ v, t, atol=1e-11)
    np.testing.assert_allclose(null_space(J).T @ M @ v, 0.0, atol=1e-10)  # no self-motion takes energy away


def test_weighted_pseudo_inverse_where_the_product_of_equation_14_fails() -> None:
    """Rows nearly parallel: the product squares the condition number, and loses all digits."""
    J = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-9]])
    W = np.diag([1.0, 2.0, 3.0])
    v = weighted_pseudo_inverse(J, W) @ [1.0, 1.0]
    np.testing.assert_allclose(J @ v, [1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(v, np.array([2.0, 1.0, 0.0]) / 3.0, atol=1e-6)


def test_rank_deficient_rows_are_met_as_nearly_as_possible() -> None:
    J = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]])
    W = np.diag([1.0, 1.0, 5.0])
    np.testing.assert_allclose(weighted_pseudo_inverse(J, W) @ [1.0, 3.0], [0.4, 0.8, 0.0], atol=1e-12)
    np.testing.assert_allclose(weighted_pseudo_inverse(J) @ [1.0, 3.0], [0.4, 0.8, 0.0], atol=1e-12)


def test_extended_inverse_is_a_generalized_inverse() -> None:
    J, _ = _panda()
    A = np.array([[0.0, 0.0, 1.0, 0.0, 0.5, 0.0, 0.0]])
    B = extended_inverse(J, A)
    np.testing.assert_allclose(J @ B, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(A @ B, 0.0, atol=1e-12)
    np.testing.assert_allclose((B @ J) @ (B @ J), B @ J, atol=1e-11)  # a projector, not the identity
    assert np.linalg.norm(B @ J - np.eye(7)) > 0.1


def test_transversality_is_the_sine_between_the_null_spaces() -> None:
    J = np.array([[1.0, 0.0, 0.0]])
    angle = 0.3  # the planes Null J and Null A would share a line; with two rows of A it is a line against a plane
    A = np.array([[0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])  # Null A: (cos, 0, sin)
    assert transversality(J, A) == pytest.approx(np.cos(angle))
    assert transversality(J, 1e6 * A) == pytest.approx(np.cos(angle))
    assert transversality(J, np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])) == pytest.approx(0.0, abs=1e-12)
    assert transversality(J, np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])) == 0.0
    assert transversality(np.eye(3), np.zeros((0, 3))) == 1.0


def test_what_cannot_be_inverted_is_reported() -> None:
    J = np.eye(3)[:1]
    with pytest.raises(ConfigurationError, match="extended Jacobian is singular"):
        extended_inverse(J, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    with pytest.raises(ConfigurationError, match="1 and 1 rows do not make a square extended Jacobian of 3"):
        extended_inverse(J, np.eye(3)[1:2])
    with pytest.raises(ConfigurationError, match="positive definite"):
        weighted_pseudo_inverse(J, -np.eye(3))
