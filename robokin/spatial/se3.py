"""Rigid placements SE(3): exponential, logarithm, adjoint and Jacobians. All functions take any leading batch axes.

Placements are (..., 4, 4); twists are (..., 6), linear part first. Left Jacobian: exp(x + dx) = exp(J_l(x) dx) exp(x);
right Jacobian: exp(x + dx) = exp(x) exp(J_r(x) dx). Source: Sola, Deray, Atchuthan, "A micro Lie theory", 2018;
Barfoot, "State estimation for robotics", 2017.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array
from . import so3


def placement(R: ArrayLike, p: ArrayLike) -> Array:
    """(..., 4, 4) of a rotation (..., 3, 3) and a translation (..., 3)."""
    R, p = np.asarray(R, float), np.asarray(p, float)
    T = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def translation(p: ArrayLike) -> Array:
    """(..., 4, 4) of a translation (..., 3)."""
    return placement(np.eye(3), p)


def unpack(packed: Array) -> Array:
    """(..., 4, 4) of (..., 12): rotation row-major, then translation (the form of `Tree.placement`)."""
    packed = np.asarray(packed, float)
    return placement(packed[..., :9].reshape(*packed.shape[:-1], 3, 3), packed[..., 9:])


def pack(T: Array) -> Array:
    """(..., 12) of (..., 4, 4); inverse of `unpack`."""
    return np.concatenate((T[..., :3, :3].reshape(*T.shape[:-2], 9), T[..., :3, 3]), axis=-1)


def inverse(T: Array) -> Array:
    """(..., 4, 4) T_B_A of T_A_B."""
    T = np.asarray(T, float)
    R = np.swapaxes(T[..., :3, :3], -1, -2)
    return placement(R, -(R @ T[..., :3, 3:])[..., 0])


def hat(twist: Array) -> Array:
    """(..., 4, 4) matrix of a twist: d/dt T = T hat(body twist)."""
    twist = np.asarray(twist, float)
    matrix = np.zeros((*twist.shape[:-1], 4, 4))
    matrix[..., :3, :3], matrix[..., :3, 3] = so3.hat(twist[..., 3:]), twist[..., :3]
    return matrix


def vee(matrix: Array) -> Array:
    """(..., 6) twist of a (..., 4, 4) matrix; inverse of `hat`."""
    matrix = np.asarray(matrix, float)
    return np.concatenate((matrix[..., :3, 3], so3.vee(matrix[..., :3, :3])), axis=-1)


def exp(twist: Array) -> Array:
    """(..., 4, 4) placement reached by a constant body twist in unit time (Sola et al. 2018, Eq. 172)."""
    twist = np.asarray(twist, float)
    w = twist[..., 3:]
    return placement(so3.exp(w), (so3.left_jacobian(w) @ twist[..., :3, None])[..., 0])


def log(T: Array) -> Array:
    """(..., 6) twist with exp(twist) = T, rotation at most pi (Sola et al. 2018, Eq. 173)."""
    T = np.asarray(T, float)
    w = so3.log(T[..., :3, :3])
    return np.concatenate(((so3.left_jacobian_inverse(w) @ T[..., :3, 3:])[..., 0], w), axis=-1)


def adjoint(T: Array) -> Array:
    """(..., 6, 6) Ad of T_A_B: takes a twist expressed in B to the same twist expressed in A."""
    T = np.asarray(T, float)
    R = T[..., :3, :3]
    return _blocks(R, so3.hat(T[..., :3, 3]) @ R)


def bracket(twist: Array) -> Array:
    """(..., 6, 6) ad: bracket(a) @ b = a x b, the rate of change of b carried along with twist a."""
    twist = np.asarray(twist, float)
    return _blocks(so3.hat(twist[..., 3:]), so3.hat(twist[..., :3]))


def left_jacobian(twist: Array) -> Array:
    """(..., 6, 6) J_l(twist) (Barfoot 2017, Eq. 7.85)."""
    twist = np.asarray(twist, float)
    return _blocks(so3.left_jacobian(twist[..., 3:]), _coupling(twist))


def left_jacobian_inverse(twist: Array) -> Array:
    """(..., 6, 6) inverse of J_l(twist), rotation below 2 pi (Barfoot 2017, Eq. 7.95)."""
    twist = np.asarray(twist, float)
    J_inv = so3.left_jacobian_inverse(twist[..., 3:])
    return _blocks(J_inv, -J_inv @ _coupling(twist) @ J_inv)


def right_jacobian(twist: Array) -> Array:
    """(..., 6, 6) J_r(twist) = J_l(-twist)."""
    return left_jacobian(-np.asarray(twist, float))


def right_jacobian_inverse(twist: Array) -> Array:
    """(..., 6, 6) inverse of J_r(twist), rotation below 2 pi."""
    return left_jacobian_inverse(-np.asarray(twist, float))


_COUPLING_4 = so3.alternating(4)
_COUPLING_5 = so3.alternating(5, lambda k: k + 1.0)


def _coupling(twist: Array) -> Array:
    """(..., 3, 3) Q(twist), the upper right block of J_l (Barfoot 2017, Eq. 7.86)."""
    V, W = so3.hat(twist[..., :3]), so3.hat(twist[..., 3:])
    theta = np.linalg.norm(twist[..., 3:], axis=-1)
    a = so3.sinc3(theta)
    b = so3.with_series(theta, lambda t: (t**2 + 2.0 * np.cos(t) - 2.0) / (2.0 * t**4), _COUPLING_4)
    c = so3.with_series(theta, lambda t: (2.0 * t - 3.0 * np.sin(t) + t * np.cos(t)) / (2.0 * t**5), _COUPLING_5)
    a, b, c = a[..., None, None], b[..., None, None], c[..., None, None]
    WV, VW = W @ V, V @ W
    WVW = WV @ W
    return 0.5 * V + a * (WV + VW + WVW) + b * (W @ WV + VW @ W - 3.0 * WVW) + c * (WVW @ W + W @ WVW)


def _blocks(diagonal: Array, upper_right: Array) -> Array:
    matrix = np.zeros((*diagonal.shape[:-2], 6, 6))
    matrix[..., :3, :3] = matrix[..., 3:, 3:] = diagonal
    matrix[..., :3, 3:] = upper_right
    return matrix
