"""Unit quaternions (w, x, y, z), Hamilton product. All functions take any leading batch axes."""

from __future__ import annotations

import numpy as np

from ..arrays import Array


def multiply(a: Array, b: Array) -> Array:
    """(..., 4) a * b: rotate by b, then by a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    aw, ax, ay, az = (a[..., i] for i in range(4))
    bw, bx, by, bz = (b[..., i] for i in range(4))
    return np.stack(
        (
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ),
        axis=-1,
    )


def conjugate(q: Array) -> Array:
    """(..., 4) the inverse of a unit quaternion."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def normalize(q: Array) -> Array:
    """(..., 4) q / |q|; q must not be zero."""
    q = np.asarray(q, float)
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def continuous(q: Array) -> Array:
    """(n, 4) the same rotations, each with the sign that is nearer to the one before."""
    turned = np.einsum("ij,ij->i", q[1:], q[:-1]) < 0.0
    return q * np.cumprod(np.append(1.0, np.where(turned, -1.0, 1.0)))[:, None]


def exp(w: Array) -> Array:
    """(..., 4) unit quaternion of a rotation vector (..., 3) [rad]."""
    w = np.asarray(w, float)
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    safe = np.where(half == 0.0, 1.0, half)
    return np.concatenate((np.cos(half), 0.5 * np.where(half == 0.0, 1.0, np.sin(safe) / safe) * w), axis=-1)


def turned(q: Array, w: Array) -> Array:
    """(..., 4) unit quaternions q turned by rotation vectors w (..., 3) in their own axes."""
    return normalize(multiply(q, exp(w)))


def log(q: Array) -> Array:
    """(..., 3) rotation vector [rad] of a unit quaternion, |w| <= pi.

    atan2 of the two parts is accurate at every angle: nothing cancels near 0 (where arccos does) nor near pi.
    """
    q = np.asarray(q, float)
    q = np.where(q[..., :1] < 0.0, -q, q)
    length = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    safe = np.where(length == 0.0, 1.0, length)
    return 2.0 * np.where(length == 0.0, 1.0, np.arctan2(length, q[..., :1]) / safe) * q[..., 1:]


def to_matrix(q: Array) -> Array:
    """(..., 3, 3) rotation matrix of a unit quaternion."""
    q = np.asarray(q, float)
    w, x, y, z = (q[..., i] for i in range(4))
    R = np.empty((*q.shape[:-1], 3, 3))
    R[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[..., 0, 1], R[..., 0, 2] = 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 2] = 2.0 * (x * y + w * z), 2.0 * (y * z - w * x)
    R[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[..., 2, 0], R[..., 2, 1] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
    R[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return R


def from_matrix(R: Array) -> Array:
    """(..., 4) unit quaternion with w >= 0 of a rotation matrix.

    Each row of 4 q q' can be read from R; the one with the largest diagonal is used, so that the division is never
    by a small number (Shepperd 1978).
    """
    R = np.asarray(R, float)
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    traces = (1.0 + xx + yy + zz, 1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz)
    best = np.argmax(np.stack(traces, axis=-1), axis=-1)
    if not best.any():  # small turns, as most are: w is largest, and above 0
        return normalize(np.stack((traces[0], wx, wy, wz), axis=-1))
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    rows = (
        (traces[0], wx, wy, wz),
        (wx, traces[1], xy, xz),
        (wy, xy, traces[2], yz),
        (wz, xz, yz, traces[3]),
    )
    outer = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    q = normalize(np.take_along_axis(outer, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., :1] < 0.0, -q, q)
