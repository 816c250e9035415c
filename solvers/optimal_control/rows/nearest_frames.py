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
from ....robokin.generalized_inverses import null_space
from ..discretization import DiscreteMotion
from .row_blocks import RowBlock

FLAT = 1e-6  # relative: curvatures up to this are none
NEARER = 1e-6  # [rad, L] by which a frame might come nearer that counts as nearest
TOUCHING = 1e-9  # [rad, m] from a limit


def nearest(
    here: DiscreteMotion, missed: Array, blocks: Sequence[RowBlock], above: Sequence[RowBlock], still: Array
) -> tuple[Array, Array]:
    """(F, n) bool, what stays of the coordinates of the frames missed (F,): all that move a task, where it is as near
    as it can come; and the step (F, n) of Newton's method to where it is nearest.

    blocks: of the level.   above: of levels before it.   still: (F, n) coordinates that stay anyway."""
    found, (frames, n), index = np.zeros_like(still), still.shape, np.flatnonzero(missed)
    step = np.zeros(still.shape)
    above = [block for block in above if block.bend is not None and block.J.shape[1] == 1]
    if not len(index) or not n or any(block.bend is None or block.J.shape[1] > 1 for block in blocks):
        return found, step
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
    rows, forces = _equations_of(g, above, index, moving)
    for block, z in zip(above, forces, strict=True):
        g += block.gradient(z, frames)
        block.add_bend(H, z)
    size = np.sqrt(sum(block.lacking_squares(frames) for block in blocks))
    flat = FLAT * abs(H[:, 0]).max(axis=(1, 2))
    pressed = _pressed(here, g, flat[:, None])
    for k in index.tolist():
        own = np.flatnonzero(moving[k] & ~pressed[k])
        Z = null_space(rows[k][:, own])
        gradient, (values, V) = Z.T @ g[k, own], np.linalg.eigh(Z.T @ H[k, 0][np.ix_(own, own)] @ Z)
        along = V.T @ gradient
        if (values > flat[k]).all() and 0.5 * along @ (along / values) <= NEARER * size[k]:
            found[k], step[k, own] = moving[k], -Z @ V @ (along / values)
    return found, step


def _equations_of(
    g: Array, above: Sequence[RowBlock], index: Array, moving: Array
) -> tuple[dict[int, Array], list[Array]]:
    """Equations (m, n) of the levels above, by frame, and what they push against g (F, n), (m,) of each block."""
    forces, rows = [np.zeros(len(block.lower)) for block in above], {}
    for k in index.tolist():
        own = [(block.frame == k) & (block.lower == block.upper) for block in above]
        parts = [block.J[i, 0] for block, i in zip(above, own, strict=True)]
        rows[k] = np.concatenate([np.zeros((0, g.shape[1])), *parts])
        pushing = np.linalg.lstsq(rows[k][:, moving[k]].T, -g[k, moving[k]], rcond=None)[0]
        for z, i in zip(forces, own, strict=True):
            z[i], pushing = pushing[: i.sum()], pushing[i.sum() :]
    return rows, forces


def _pressed(here: DiscreteMotion, g: Array, least: Array) -> Array:
    """(F, n) bool, coordinates that a limit of their position keeps from following -g (F, n), which is more than
    `least` there: rounding presses nothing."""
    limits = here.grid.limits
    q, is_single = here.q[:, limits.coordinate], limits.coordinate >= 0
    return is_single & (
        ((q <= limits.lower + TOUCHING) & (g > least)) | ((q >= limits.upper - TOUCHING) & (g < -least))
    )
