"""Sums over frames of products of derivative blocks (F, p + 1, n, n)."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array

MOST_BENT = 12  # degrees of freedom up to which second differences are worth their time


def gauss_newton(residual: Array, blocks: Array) -> tuple[Array, Array]:
    """Gradient and Gauss-Newton Hessian of 1/2 |residual|^2, residual (F, n) with derivative blocks."""
    return transposed(blocks, residual), products(blocks, blocks)


def transposed(blocks: Array, r: Array) -> Array:
    """(F, n) of the sum over frames of B'r."""
    found = np.zeros((len(r), blocks.shape[3]))
    for s in range(min(blocks.shape[1], len(r))):
        found[: len(r) - s] += np.einsum("kij,ki->kj", blocks[s:, s], r[s:])
    return found


def products(left: Array, right: Array) -> Array:
    """(F, p + 1, n, n) of the sum over frames of B'C, which is symmetric."""
    frames, width, n = len(left), min(left.shape[:2]), left.shape[3]
    H = np.zeros((*left.shape[:2], n, n))
    for s in range(width):
        for t in range(s, width):  # frame k - s against frame k - t
            H[: frames - s, t - s] += np.swapaxes(left[s:, s], -1, -2) @ right[s:, t]
    for k in range(width):
        H[k, k + 1 :] = 0.0
    return H


def symmetric_products(left: Array, right: Array) -> Array:
    """(F, p + 1, n, n) of the sum over frames of B'C + C'B."""
    frames, width, n = len(left), min(left.shape[:2]), left.shape[3]
    H = np.zeros((*left.shape[:2], n, n))
    for s in range(width):
        for t in range(s, width):
            one = np.swapaxes(left[s:, s], -1, -2) @ right[s:, t] + np.swapaxes(right[s:, s], -1, -2) @ left[s:, t]
            H[: frames - s, t - s] += one
    for k in range(width):
        H[k, k + 1 :] = 0.0
    return H
