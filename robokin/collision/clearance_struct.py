"""Which pairs of shapes of a robot and its surroundings keep apart, as the C kernel takes them
(kernel/include/robokin_clearance.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from ..arrays import Array
from ..backend.library import library_with
from ..model.tree import ROOT
from ..spatial.se3 import pack, unpack
from .model import CollisionModel
from .pairs import shape_structs


class ClearanceStruct(ctypes.Structure):
    """`rk_clearance` of the kernel. Keeps the arrays alive that it points to.

    wanted [m]: what a pair is to keep.   within [m]: pairs that are farther apart ask for nothing.   rows: of so many
    pairs.   spare [m]: beyond what is wanted, see `ClearanceTask`.   Raises BackendError for a kernel of another
    version.
    """

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("shapes", "node", "own", "pairs")),
        *((name, ctypes.c_double) for name in ("wanted", "within", "spare")),
        *((name, ctypes.c_int32) for name in ("n_shapes", "n_links", "n_pairs", "rows")),
    )

    def __init__(
        self, collisions: CollisionModel, wanted: float, within: float, rows: int = 0, spare: float = 0.0
    ) -> None:
        library_with(clearance=ClearanceStruct)
        tree, cores, placed = collisions.model.tree, collisions.cores, collisions.placed
        node, own = np.full(len(placed), ROOT, np.int32), np.zeros((len(placed), 12))
        for i, (link, T) in enumerate(placed):
            node[i], own[i] = tree.frame_node[link], pack(unpack(tree.frame_placement[link]) @ T)
        pairs = np.ascontiguousarray(collisions.pairs, np.int32)
        shapes = shape_structs(cores)
        self.kept = (collisions, cores, shapes, node, own, pairs)
        super().__init__(
            shapes=ctypes.addressof(shapes),
            node=node.ctypes.data,
            own=own.ctypes.data,
            pairs=pairs.ctypes.data,
            wanted=wanted,
            within=within,
            spare=spare,
            n_shapes=len(cores),
            n_links=len(placed),
            n_pairs=len(pairs),
            rows=rows,
        )

    @property
    def collisions(self) -> CollisionModel:
        return self.kept[0]

    def packed_obstacles(self, target: Array | None) -> Array:
        """(obstacles, 12) of (obstacles, 4, 4) where they are; None: where the model has them. Raises
        ConfigurationError where it has them in several frames."""
        return np.ascontiguousarray(pack(self.collisions.obstacle_placements(1, target)[0]))
