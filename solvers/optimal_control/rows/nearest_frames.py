"""Frames that miss a level and can come no nearer to it: there joints stay where they are.

At the least residual r the gradient J'r is zero, but for what limits of positions and the levels above hold. Rows that
let no residual grow then leave no room, and their multipliers are not bounded. Where the residual bends upwards along
all that is left (second-order sufficient conditions: Nocedal and Wright, "Numerical Optimization", 2006, section 12.5),
the minimum is a single point.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....robokin.arrays import Array
from ....robokin.generalized_inverses import RANK
from ..discretization import DiscreteMotion
from .row_blocks import RowBlock

FLAT = 1e-6  # relative: curvatures up to this are none
ASIDE = 0.1  # [rad, L] that is looked at along what does not bend upwards
NEARER, BESIDE = 1e-6, 1e-4  # [rad, L] by which a frame might come nearer that counts as nearest, or as beside it
TOUCHING = 1e-9  # [rad, m] from a limit


def nearest(
    here: DiscreteMotion, missed: Array, blocks: Sequence[RowBlock], above: Sequence[RowBlock], still: Array
) -> tuple[Array, Array, Array]:
    """(F, n) bool, what stays of the coordinates of the frames missed (F,): all that move a task, where only one place
    is as near as it can come; the step (F, n) of Newton's method to where it is nearest; and (F,) bool, frames that
    might come nearer.

    blocks: of the level.   above: of levels before it.   still: (F, n) coordinates that stay anyway."""
    found, (frames, n), index = np.zeros_like(still), still.shape, np.flatnonzero(missed)
    step = np.zeros(still.shape)
    above = [block for block in above if block.bend is not None and block.J.shape[1] == 1]
    if not len(index) or not n or any(block.bend is None or block.J.shape[1] > 1 for block in blocks):
        return found, step, missed
    g, H, moving = np.zeros((frames, n)), np.zeros((frames, 1, n, n)), np.zeros((frames, n), bool)
    for block in blocks:
        residual = np.where(block.is_whole, block.residual, 0.0)
        g -= block.gradient(residual, frames)
        block.squares(residual != 0.0, H)
        block.add_bend(H, -residual)
    for block in [*blocks, *above]:
        np.logical_or.at(moving, block.frame, block.J[:, 0] != 0.0)
    for first, count in here.grid.joined:
        moving[:, first : first + count] |= moving[:, first : first + count].any(axis=1, keepdims=True)
    moving &= ~still
    moves = moving[index]
    rows, forces = _equations_of(g, above, index, moves)
    for block, z in zip(above, forces, strict=True):
        g += block.gradient(z, frames)
        block.add_bend(H, z)
    size = np.sqrt(sum(block.lacking_squares(frames) for block in blocks))[index]
    bent, gradient = H[index, 0], g[index]
    top = abs(bent).max(axis=(1, 2))
    moves = moves & ~_pressed(here, g, FLAT * abs(H[:, 0]).max(axis=(1, 2))[:, None])[index]
    P = moves[:, :, None] * np.eye(n)
    if rows.shape[1]:
        fixed = np.concatenate((rows * moves[:, None], (~moves)[:, :, None] * np.eye(n)), axis=1)
        P = np.eye(n) - np.linalg.pinv(fixed, RANK) @ fixed
    values, V = np.linalg.eigh(P @ bent @ P + top[:, None, None] * (np.eye(n) - P))
    along = np.einsum("kji,kj->ki", V, np.einsum("kij,kj->ki", P, gradient))
    near = values > FLAT * top[:, None]
    newton = np.where(near, along, 0.0) / np.where(near, values, 1.0)
    gains = 0.5 * (along * newton).sum(axis=1)
    aside = np.where(near, 0.0, abs(along) * ASIDE + 0.5 * np.maximum(-values, 0.0) * ASIDE**2).sum(axis=1)
    is_least = aside <= NEARER * size
    found[index] = moving[index] & (is_least & near.all(axis=1) & (gains <= NEARER * size))[:, None]
    near_by = is_least & (gains <= BESIDE * size)
    step[index[near_by]] = -np.einsum("kij,kj->ki", P @ V, newton)[near_by]
    coming = missed.copy()
    coming[index] = ~is_least | (gains > NEARER * size)
    return found, step, coming


def _equations_of(g: Array, above: Sequence[RowBlock], index: Array, moves: Array) -> tuple[Array, list[Array]]:
    """Equations (k, m, n) of the levels above at frames index (k,), and what they push against g (F, n), (m,) of each
    block. moves: (k, n) bool"""
    forces, n = [np.zeros(len(block.lower)) for block in above], g.shape[1]
    at = np.full(len(g), -1)
    at[index] = np.arange(len(index))
    own = [np.flatnonzero((at[block.frame] >= 0) & (block.lower == block.upper)) for block in above]
    rows = np.zeros((len(index), 0, n))
    if not any(map(len, own)):
        return rows, forces
    frame = np.concatenate([at[block.frame[i]] for block, i in zip(above, own, strict=True)])
    order = np.argsort(frame, kind="stable")
    counts = np.bincount(frame, minlength=len(index))
    place = np.empty(len(frame), int)
    place[order] = np.arange(len(frame)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.zeros((len(index), counts.max(), n))
    rows[frame, place] = np.concatenate([block.J[i, 0] for block, i in zip(above, own, strict=True)])
    moved = rows * moves[:, None]
    pushing = -np.einsum("kjm,kj->km", np.linalg.pinv(moved, RANK), g[index])[frame, place]
    for z, i in zip(forces, own, strict=True):
        z[i], pushing = pushing[: len(i)], pushing[len(i) :]
    return rows, forces


def _pressed(here: DiscreteMotion, g: Array, least: Array) -> Array:
    """(F, n) bool, coordinates that a limit of their position keeps from following -g (F, n), which is more than
    `least` there: rounding presses nothing."""
    limits = here.grid.limits
    q, is_single = here.q[:, limits.coordinate], limits.coordinate >= 0
    return is_single & (
        ((q <= limits.lower + TOUCHING) & (g > least)) | ((q >= limits.upper - TOUCHING) & (g < -least))
    )
