"""Quaternions (w, x, y, z) against rotation matrices and Pinocchio's (x, y, z, w)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin.spatial import quaternion, so3


def unit(count: int, seed: int) -> np.ndarray:
    return quaternion.normalize(np.random.default_rng(seed).normal(size=(count, 4)))


def test_matrices_equal_pinocchios():
    for q in unit(30, 0):
        assert quaternion.to_matrix(q) == pytest.approx(pin.Quaternion(*q).toRotationMatrix(), abs=1e-15)


def test_from_matrix_inverts_to_matrix_whatever_component_is_largest():
    rare = np.vstack((np.eye(4), [[1e-9, 1, 0, 0], [0, 1e-9, 1, 0], [1e-5, 0, 0, 1], [1, 1, 1, 1], [0, 1, -1, 0]]))
    q = np.vstack((unit(200, 1), quaternion.normalize(rare)))
    found = quaternion.from_matrix(quaternion.to_matrix(q))
    assert abs((found * q).sum(axis=1)) == pytest.approx(1.0, abs=1e-15)
    assert quaternion.to_matrix(found) == pytest.approx(quaternion.to_matrix(q), abs=4e-15)
    assert (found[:, 0] >= 0.0).all()


def test_multiplication_is_composition_and_the_conjugate_its_inverse():
    a, b = unit(50, 2), unit(50, 3)
    product = quaternion.multiply(a, b)
    assert quaternion.to_matrix(product) == pytest.approx(quaternion.to_matrix(a) @ quaternion.to_matrix(b), abs=1e-14)
    identity = np.tile([1.0, 0, 0, 0], (50, 1))
    assert quaternion.multiply(a, quaternion.conjugate(a)) == pytest.approx(identity, abs=1e-15)
    c = unit(50, 4)
    left = quaternion.multiply(quaternion.multiply(a, b), c)
    assert left == pytest.approx(quaternion.multiply(a, quaternion.multiply(b, c)), abs=1e-15)


@pytest.mark.parametrize(
    "angle", [0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, 0.5, 2.0, 3.0, math.pi - 1e-9, math.pi - 1e-13]
)
def test_log_is_the_inverse_of_exp_at_full_relative_accuracy(angle):
    axes = unit(20, 5)[:, 1:]
    w = angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    q = quaternion.exp(w)
    assert np.linalg.norm(q, axis=1) == pytest.approx(1.0, abs=1e-15)
    assert quaternion.log(q) == pytest.approx(w, rel=1e-14, abs=0.0)
    assert quaternion.log(-q) == pytest.approx(w, rel=1e-14, abs=0.0)
    assert quaternion.to_matrix(q) == pytest.approx(so3.exp(w), abs=1e-15)


def test_log_takes_the_shorter_way():
    w = np.array([0.0, 0.0, 2 * math.pi - 0.5])
    assert quaternion.log(quaternion.exp(w)) == pytest.approx([0.0, 0.0, -0.5])
