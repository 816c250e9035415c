"""Links that stay away from one another and from obstacles at all frames and half frames of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import Reference
from ....robokin.collision import CollisionModel
from ....robokin.collision.model import Near
from ....robokin.collision.reference.distances import FAR
from ...tasks.clearance import TOLERANCE, ClearanceTask
from ..blocks import MOST_BENT, products
from ..discretization import DiscreteMotion, Discretization
from .row_blocks import RowBlock, RowSource

STEP = 1e-5  # [rad, L] of differences
ZONE = 0.1  # of the length: pairs that are farther apart than this and the margin ask for nothing


class ClearanceRows(RowSource):
    """Frames first .. first + len(targets), and the half frames between them, of a clearance. Rows n . (J_b - J_a) y >=
    wanted - d of all pairs that came near in any trajectory so far, with the distance d and the unit normal n.

    targets: per frame where obstacles are (obstacles, 4, 4), or None: where the model has them.   before: the same of
    the frame before, when another segment has it, for the half frame between.
    """

    reach = 1

    def __init__(
        self,
        grid: Discretization,
        first: int,
        clearance: ClearanceTask,
        targets: Sequence[Array | None],
        length: float,
        before: Sequence[Array | None] = (),
    ) -> None:
        self.grid, self.clearance, self.length = grid, clearance, length
        self.before, self.targets = len(before), [*before, *targets]
        self.first, self.frames = first - self.before, len(self.targets)
        model = clearance.collisions
        if self.frames and self.targets[0] is not None:
            placed = np.array(self.targets)
            own = [replace(each, placement=placed[:, i]) for i, each in enumerate(model.obstacles)]
            model = model.among(own)
        self.collisions = (model, model.halfway())
        self.near: set[int] = set()

    def part(self, begin: int, end: int) -> ClearanceRows | None:
        own = self.targets[max(begin - self.first, 0) : max(end - self.first, 0)]
        first = max(self.first - begin, 0)
        return ClearanceRows(self.grid, first, self.clearance, own, self.length) if own else None

    def block(self, here: DiscreteMotion) -> RowBlock:
        known = here.known.setdefault(self, [])
        if not known:
            known.append(self._block(here))
        return known[0]

    def is_missed(self, here: DiscreteMotion) -> bool:
        return bool((self.block(here).residual * self.length > TOLERANCE).any())

    def residuals(self, here: DiscreteMotion) -> Array:
        """(frames, 2) [m] by how much two are nearer than the margin, at each frame or half-way to it."""
        found = np.zeros((self.frames - self.before, 2))
        for frame, near in self.nearest(here, self.clearance.margin).items():
            found[frame, 0] = self.clearance.margin - near.distance
        return found

    def pressed(self, here: DiscreteMotion) -> dict[int, Near]:
        """The nearest two where the rows hold them apart, by frame of the segment."""
        return self.nearest(here, self.clearance.wanted + TOLERANCE)

    def nearest(self, here: DiscreteMotion, within: float) -> dict[int, Near]:
        """The nearest two that are nearer than `within` [m], by frame of the segment."""
        found: dict[int, Near] = {}
        for half, model in enumerate(self.collisions):
            values = self._distances(here, half)[0][..., 0]
            for k in np.flatnonzero((values < within).any(axis=1)).tolist():
                pair = int(values[k].argmin())
                if k + half not in found or values[k, pair] < found[k + half].distance:
                    found[k + half] = model.near(pair, float(values[k, pair]))
        return {frame - self.before: near for frame, near in found.items() if frame >= self.before}

    @property
    def _within(self) -> float:
        return self.clearance.wanted + ZONE * self.length

    def _distances(self, here: DiscreteMotion, half: int) -> tuple[Array, Array, Array]:
        """Distances (k, pairs, 10) at the frames, or the half frames, which of them are near (k, pairs), and q."""
        known = here.known.setdefault((self, half), [])
        if not known:
            q = here.q[self.first : self.first + self.frames]
            if half:
                q = here.halves[self.first : self.first + self.frames - 1]
            within, pairs = self._within, len(self.collisions[0].pairs)
            if len(q) and pairs:
                found, status = self.collisions[half].checked_distances(q, within, self.grid.backend_name)
            else:
                found, status = np.zeros((len(q), pairs, 10)), np.full((len(q), pairs), FAR)
            known.append((found, (status != FAR) & (found[..., 0] <= within), q))
        return known[0]

    def _block(self, here: DiscreteMotion) -> RowBlock:
        pairs = max(len(self.collisions[0].pairs), 1)
        both = [self._distances(here, half) for half in (0, 1)]
        for number, (_, near, _) in enumerate(both):
            at, which = np.nonzero(near)
            self.near.update(((2 * at + number) * pairs + which).tolist())
        key = np.array(sorted(self.near), np.int64)
        sample, pair = np.divmod(key, pairs)
        k, half = np.divmod(sample, 2)
        n = here.steps.shape[1]
        J, lower = np.zeros((len(key), 2, n)), np.full(len(key), -np.inf)
        for number, (found, near, q) in enumerate(both):
            own = np.flatnonzero(half == number)
            own = own[near[k[own], pair[own]]]
            if not len(own):
                continue
            lower[own] = (self.clearance.wanted - found[k[own], pair[own], 0]) / self.length
            rates = self._rates(self.collisions[number], q, k[own], pair[own], found) * self.grid.scale / self.length
            if number:
                J[own] = np.einsum("mi,msij->msj", rates, here.half_blocks[self.first + 1 + k[own]])
            else:
                J[own, 0] = rates
        frame = self.first + k + half
        bend = partial(self._bend, here, k, half, pair) if n <= MOST_BENT else None
        return RowBlock(J, frame, lower, np.full(len(key), np.inf), key, np.ones(len(key), bool), bend)

    def _bend(self, here: DiscreteMotion, k: Array, half: Array, pair: Array, H: Array, z: Array) -> None:
        """Add to H how the distances of pairs (m,) at samples k (m,), half or not, bend: by differences."""
        grid, n = self.grid, H.shape[-1]
        for number, model in enumerate(self.collisions):
            own = np.flatnonzero((half == number) & (z != 0.0))
            if not len(own):
                continue
            q, which, curved = self._distances(here, number)[2], (k[own], pair[own]), np.zeros((len(here), n, n))
            at = self.first + k[own] + number
            for j, size in enumerate(grid.scale):
                along = np.zeros(n)
                along[j] = STEP * size
                for sign in (1.0, -1.0):
                    moved = grid.backend.integrate(grid.model.tree, q, np.broadcast_to(sign * along, (len(q), n)))
                    found = model.checked_distances(moved, self._within, grid.backend_name)[0]
                    rates = self._rates(model, moved, *which, found) * grid.scale / self.length
                    np.add.at(curved[:, :, j], at, (sign * z[own] / (2.0 * STEP))[:, None] * rates)
            curved = 0.5 * (curved + np.swapaxes(curved, -1, -2))
            if number:
                H[:, :2] += products(here.half_blocks, curved[:, None] @ here.half_blocks)
            else:
                H[:, 0] += curved

    def _rates(self, model: CollisionModel, q: Array, k: Array, pair: Array, found: Array) -> Array:
        """(m, nv) how the distances of some pairs (m,) at samples k (m,) change with the velocity."""
        J, normals = np.zeros((len(k), self.grid.model.nv)), found[k, pair, 7:]
        placements = self.grid.backend.frame_placements(self.grid.model.tree, q)
        links = [model.links_of(number) for number in range(len(model.pairs))]
        for side, sign in ((0, -1.0), (1, 1.0)):
            names = [links[number][side] for number in pair.tolist()]
            for link in {name for name in names if name is not None}:
                own = np.array([name == link for name in names])
                index = self.grid.model.link_index(link)
                samples, which = np.unique(k[own], return_inverse=True)
                jacobians = self.grid.backend.frame_jacobian(
                    self.grid.model.tree, np.ascontiguousarray(q[samples]), index, Reference.LOCAL_WORLD_ALIGNED
                )[which]
                points = found[k[own], pair[own], 1 + 3 * side : 4 + 3 * side]
                arms = points - placements[k[own], index, :3, 3]
                forces = sign * np.hstack((normals[own], np.cross(arms, normals[own])))
                J[own] += np.einsum("mi,mij->mj", forces, jacobians)
        return J
