"""Derivatives of the matrices of a Denavit-Hartenberg table, and the state's Jacobian made of them (the lecture)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin import DHRow, TaskError
from ...robokin.arrays import Array


def dh_link(row: DHRow, q: float) -> tuple[Array, Array]:
    """T (4, 4) of a link in the one before, and its derivative by the joint's value [rad or m].

    Modified convention, after Craig: alpha and a of the link before, theta and d of this one.
    """
    turns = row.type.upper().startswith("R")
    angle = row.theta + (row.offset + q if turns else 0.0)
    d = row.d + (0.0 if turns else row.offset + q)
    c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(row.alpha), np.sin(row.alpha)
    T = [[c, -s, 0, row.a], [s * ca, c * ca, -sa, -sa * d], [s * sa, c * sa, ca, ca * d], [0, 0, 0, 1]]
    if turns:
        return np.array(T), np.array([[-s, -c, 0, 0], [c * ca, -s * ca, 0, 0], [c * sa, -s * sa, 0, 0], [0, 0, 0, 0]])
    return np.array(T), np.array([[0, 0, 0, 0], [0, 0, 0, -sa], [0, 0, 0, ca], [0, 0, 0, 0]])


def dh_state(rows: Sequence[DHRow], q: Array) -> tuple[Array, Array]:
    """s = (x, y, z, roll, pitch, yaw) of the last frame, R = Rz(yaw) Ry(pitch) Rx(roll), and J (6, n) = ds/dq.

    The derivative of the product by one joint is P dT/dq C, with P the matrices before and C those behind. Raises
    TaskError where the numbers of rows and values differ.
    """
    if len(rows) != len(q):
        raise TaskError(f"{len(rows)} rows of a table, but {len(q)} joint values")
    pairs = [dh_link(row, value) for row, value in zip(rows, q, strict=True)]
    M = np.linalg.multi_dot([np.eye(4), *(T for T, _ in pairs)])
    across = np.hypot(M[2, 1], M[2, 2])
    J = np.empty((6, len(q)))
    for i in range(len(q)):
        D = np.linalg.multi_dot([np.eye(4), *(T if k != i else dT for k, (T, dT) in enumerate(pairs))])
        J[:3, i] = D[:3, 3]
        J[3, i] = (D[2, 1] * M[2, 2] - D[2, 2] * M[2, 1]) / across**2
        J[4, i] = -D[2, 0] / across
        J[5, i] = (D[1, 0] * M[0, 0] - D[0, 0] * M[1, 0]) / (M[1, 0] ** 2 + M[0, 0] ** 2)
    roll, yaw = np.arctan2(M[2, 1], M[2, 2]), np.arctan2(M[1, 0], M[0, 0])
    return np.array([*M[:3, 3], roll, np.arctan2(-M[2, 0], across), yaw]), J
