"""Rotations SO(3): exponential, logarithm and their Jacobians. All functions take any leading batch axes.

A rotation vector w = angle * axis [rad] has R = exp([w]x). Left Jacobian: exp(w + dw) = exp(J_l(w) dw) exp(w);
right Jacobian: exp(w + dw) = exp(w) exp(J_r(w) dw). Source: Sola, Deray, Atchuthan, "A micro Lie theory", 2018.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from . import quaternion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Below this angle the coefficients that cancel are summed as power series. At 1 rad the closed forms lose at most
# two digits (their leading terms, about 1, cancel down to 1/6 .. 1/120) and nine terms of each series reach the last
# bit (the tenth is below 1e-16 of the sum), so both branches are exact there and no accuracy is lost in between.
SERIES_BELOW = 1.0
_TERMS = 9
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])  # of the three axes, after and before each


def hat(w: Array) -> Array:
    """(..., 3, 3) skew matrix of w (..., 3): hat(w) @ u = w x u."""
    w = np.asarray(w, float)
    matrix = np.zeros((*w.shape, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = w[..., 0], w[..., 1], w[..., 2]
    matrix[..., 1, 2], matrix[..., 2, 0], matrix[..., 0, 1] = -w[..., 0], -w[..., 1], -w[..., 2]
    return matrix


def vee(matrix: Array) -> Array:
    """(..., 3) vector of the skew part of a (..., 3, 3) matrix; inverse of `hat`."""
    m = np.asarray(matrix, float)
    differences = (m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1])
    return 0.5 * np.stack(differences, axis=-1)


def cross(a: Array, b: Array) -> Array:
    """(..., 3) a x b; a tenth of the overhead of `numpy.cross` on single vectors."""
    return a.take(_NEXT, -1) * b.take(_LAST, -1) - a.take(_LAST, -1) * b.take(_NEXT, -1)


def exp(w: Array) -> Array:
    """(..., 3, 3) rotation of a rotation vector (..., 3) [rad] (Rodrigues)."""
    W, theta = hat(w), _angle(w)
    return np.eye(3) + _scale(sinc(theta), W) + _scale(cosc(theta), W @ W)


def log(R: Array) -> Array:
    """(..., 3) rotation vector [rad] of a rotation matrix, |w| <= pi. Exact near 0 and near pi (via the quaternion)."""
    return quaternion.log(quaternion.from_matrix(R))


def left_jacobian(w: Array) -> Array:
    """(..., 3, 3) J_l(w) (Sola et al. 2018, Eq. 145)."""
    W, theta = hat(w), _angle(w)
    return np.eye(3) + _scale(cosc(theta), W) + _scale(sinc3(theta), W @ W)


def left_jacobian_inverse(w: Array) -> Array:
    """(..., 3, 3) inverse of J_l(w), |w| < 2 pi (Sola et al. 2018, Eq. 146)."""
    W, theta = hat(w), _angle(w)
    return np.eye(3) - 0.5 * W + _scale(_cotangent(theta), W @ W)


def right_jacobian(w: Array) -> Array:
    """(..., 3, 3) J_r(w) = J_l(-w)."""
    return left_jacobian(-np.asarray(w, float))


def right_jacobian_inverse(w: Array) -> Array:
    """(..., 3, 3) inverse of J_r(w), |w| < 2 pi."""
    return left_jacobian_inverse(-np.asarray(w, float))


def from_rpy(rpy: ArrayLike) -> Array:
    """(..., 3, 3) R = Rz(yaw) Ry(pitch) Rx(roll) of (..., 3) roll, pitch, yaw [rad]: URDF's fixed-axis angles."""
    rpy = np.asarray(rpy, float)
    cosine, sine = np.cos(rpy), np.sin(rpy)
    cr, cp, cy = (cosine[..., i] for i in range(3))
    sr, sp, sy = (sine[..., i] for i in range(3))
    R = np.empty((*rpy.shape, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = -sp, cp * sr, cp * cr
    return R


def to_rpy(R: Array) -> Array:
    """(..., 3) roll, pitch, yaw [rad] with `from_rpy` = R; |pitch| <= pi/2.

    Roll is read from Rz(-yaw) R, so the three angles fit R for any yaw: at pitch = +-pi/2 too, where only the
    sum or difference of roll and yaw is determined.
    """
    R = np.asarray(R, float)
    yaw = np.arctan2(R[..., 1, 0], R[..., 0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[..., 2, 0], c * R[..., 0, 0] + s * R[..., 1, 0])
    roll = np.arctan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)


# -- coefficients, each an even function of the angle ------------------------------------------------------------------


def sinc(theta: Array) -> Array:
    """sin(t) / t. No digits cancel, so only 0 needs care."""
    safe = np.where(theta == 0.0, 1.0, theta)
    return np.where(theta == 0.0, 1.0, np.sin(safe) / safe)


def cosc(theta: Array) -> Array:
    """(1 - cos t) / t^2, in the form that does not cancel."""
    return 0.5 * sinc(0.5 * theta) ** 2


def sinc3(theta: Array) -> Array:
    """(t - sin t) / t^3."""
    return with_series(theta, lambda t: (t - np.sin(t)) / t**3, _SINC3)


def _cotangent(theta: Array) -> Array:
    """(1 - (t/2) cot(t/2)) / t^2, t < 2 pi."""
    return with_series(theta, lambda t: (1.0 - 0.5 * t * np.cos(0.5 * t) / np.sin(0.5 * t)) / t**2, _COTANGENT)


def with_series(theta: Array, closed_form: Callable[[Array], Array], series: Sequence[float]) -> Array:
    """`closed_form` above SERIES_BELOW, the power series in theta^2 below."""
    small = theta < SERIES_BELOW
    t2 = np.where(small, theta, 0.0) ** 2
    total = np.zeros_like(t2)
    for coefficient in reversed(series):
        total = total * t2 + coefficient
    return np.where(small, total, closed_form(np.where(small, 1.0, theta)))


def alternating(first: int, numerator: Callable[[int], float] = lambda k: 1.0) -> tuple[float, ...]:
    """Coefficients (-1)^k numerator(k) / (2k + first)! of t^(2k)."""
    return tuple((-1) ** k * numerator(k) / math.factorial(2 * k + first) for k in range(_TERMS))


_SINC3 = alternating(3)
# |B_2k| / (2k)!, k = 1, 2, ... with the Bernoulli numbers B_2k.
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330)
_COTANGENT = tuple(b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, start=1))


def _angle(w: Array) -> Array:
    return np.linalg.norm(np.asarray(w, float), axis=-1)


def _scale(coefficient: Array, matrix: Array) -> Array:
    return coefficient[..., None, None] * matrix
