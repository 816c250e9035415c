"""Where each elementary motion of a robot's joints takes place: its frame before and after it has moved, Z its axis."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import get_backend
from ....robokin.model.tree import ROOT, Tree


def matrices(packed: Array) -> Array:
    """(n, 4, 4) of placements as `Tree` has them, (n, 12)."""
    T = np.zeros((len(packed), 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = packed[:, :9].reshape(-1, 3, 3), packed[:, 9:], 1.0
    return T


@lru_cache(maxsize=8)
def _at_zero(tree: Tree) -> Array:
    return matrices(tree.placement)


def motion_frames(tree: Tree, q: Array, world: Array) -> tuple[Array, Array]:
    """(n, 4, 4) before and (n, 4, 4) after the motions of the n nodes, at q (nq,). world: (4, 4) of the root frame."""
    frames = np.empty((tree.n_nodes + 1, 4, 4))
    after, frames[-1] = frames[:-1], world  # ROOT is the last one
    np.matmul(world, matrices(get_backend("auto").node_placements(tree, q)), out=after)
    return frames[tree.parent] @ _at_zero(tree), after


assert ROOT == -1  # which `motion_frames` takes as the last entry
