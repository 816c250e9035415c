"""Inverses of a Jacobian that has more columns than rows: which of the motions of a redundant robot is chosen.

(Bruyninckx, "Blender for robotics and robotics for Blender", section 3, Eq. 4-15.) What is small is judged against the
largest singular value, so rows and columns should count in comparable units: divide lengths by the robot's size.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, float_array, shown
from .errors import ConfigurationError

RANK = 1e-12  # singular values below this, relative to the largest, count as 0


def weighted_pseudo_inverse(J: Array, W: Array | None = None) -> Array:
    """(n, m) B of J (m, n): v = B t has the least v'Wv of all v that come nearest to J v = t.

    W: (n, n) symmetric positive definite, the identity when None; the mass matrix gives the least kinetic energy.
    B = W^-1 J'(J W^-1 J')^-1 where J has full row rank (Eq. 14), computed from the singular values of J L'^-1 with
    W = L L', which does not square J's condition number. Raises ConfigurationError for a W that is not definite.
    """
    J = _matrix(J, "J")
    if W is None:
        return np.linalg.pinv(J, RANK)
    W = _matrix(W, "W")
    if W.shape != 2 * J.shape[1:]:
        raise ConfigurationError(f"the weight of {J.shape[1]} velocities must be square, not of shape {W.shape}")
    try:
        L = np.linalg.cholesky(W)
    except np.linalg.LinAlgError:
        raise ConfigurationError("the weight of a pseudo-inverse must be symmetric positive definite") from None
    return np.linalg.solve(L.T, np.linalg.pinv(np.linalg.solve(L, J.T).T, RANK))


def null_space(J: Array, least: float = RANK) -> Array:
    """(n, r) orthonormal basis of the velocities that J (m, n) does not see (Eq. 2). least: singular values up to this
    share of the largest count as 0."""
    _, s, Vt = np.linalg.svd(_matrix(J, "J"))
    return Vt[int((s > least * s.max(initial=0.0)).sum()) :].T


def extended_inverse(J: Array, A: Array) -> Array:
    """(n, m) B of J (m, n): v = B t has J v = t and A v = 0, A (n - m, n) (Eq. 4-7).

    J B = 1, and B J is the projector along Null J on Null A. Raises ConfigurationError when A is not transversal to
    J (`transversality` is 0), which is an algorithmic singularity, or J is singular itself.
    """
    J, A = _matrix(J, "J"), _matrix(A, "A")
    if J.shape[1] != A.shape[1]:
        raise ConfigurationError(f"J of {J.shape[1]} columns and A of {A.shape[1]} are not of one robot")
    extended = np.vstack((J, A))
    if extended.shape[0] != extended.shape[1]:
        raise ConfigurationError(f"{len(J)} and {len(A)} rows do not make a square extended Jacobian of {J.shape[1]}")
    s = np.linalg.svd(extended, compute_uv=False)
    if not s[-1] > RANK * s[0]:
        raise ConfigurationError("the extended Jacobian is singular: its added rows depend on the others")
    return np.linalg.inv(extended)[:, : len(J)]


def transversality(J: Array, A: Array) -> float:
    """Sine of the smallest principal angle between Null A and Null J: 1 at right angles, 0 when they share a motion,
    which is an algorithmic singularity. Does not depend on how A's rows are scaled. 1 when Null J is empty."""
    free = null_space(J)
    if not free.shape[1]:
        return 1.0
    A = _matrix(A, "A")
    if len(free) != A.shape[1]:
        raise ConfigurationError(f"J of {len(free)} columns and A of {A.shape[1]} are not of one robot")
    _, s, Vt = np.linalg.svd(A)
    row_space = Vt[: int((s > RANK * s.max(initial=0.0)).sum())]
    if len(row_space) < free.shape[1]:
        return 0.0
    return float(np.linalg.svd(row_space @ free, compute_uv=False)[-1])


def _matrix(value: object, what: str) -> Array:
    """Finite, of two axes. Raises ConfigurationError."""
    try:
        array = float_array(value)
    except ValueError:
        raise ConfigurationError(f"{what} must be a matrix of numbers, not {shown(value)}") from None
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ConfigurationError(f"{what} must be a matrix of finite numbers, not {shown(value)}")
    return array
