"""Rows reduced by Householder reflections, which says how many directions they use (in the kernel rk_reflectors.h)."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array


def reduced(W: Array, none: float) -> tuple[Array, Array, int]:
    """W (m, f) = [L 0] Q' but for rows of at most `none`: L (m, rank), Q (f, f) orthonormal, rank. The longest row of
    what is left gives the next reflection."""
    W, Q = W.copy(), np.eye(W.shape[1])
    waiting = list(range(len(W)))
    rank = 0
    while waiting and rank < len(Q):
        lengths = np.linalg.norm(W[waiting, rank:], axis=1)
        longest = int(np.argmax(lengths))
        if not lengths[longest] > none:
            break
        v = np.zeros(len(Q))
        v[rank:] = W[waiting[longest], rank:] / lengths[longest]
        v[rank] += -1.0 if v[rank] < 0.0 else 1.0
        for rows in (W, Q):
            rows -= np.outer(rows @ v, v / abs(v[rank]))
        del waiting[longest]
        rank += 1
    return W[:, :rank], Q, rank
