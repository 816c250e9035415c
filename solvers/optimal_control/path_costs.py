"""Costs of a motion that look at its path: how long that of a tool is, and what criteria cost along it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ...robokin.structure.tool_links import tool_links
from ..criteria import Criterion
from ..criteria.base import Potential, Velocity
from ..kinematics.state import State
from .blocks import products, transposed
from .costs import MotionCost
from .discretization import DiscreteMotion, Discretization
from .rows.rows_of_frames import tip_bending
from .rows.segments import TaskSegment

SHORT = 1e-3  # of L: steps much shorter than this count by their square, not by their length
STIFF = 1e-6  # of the Hessian's largest entry: what changes no length stays where it is
STEP = 1e-5  # of differences over configurations


class PathLength(MotionCost):
    """The length of the path that a link's origin takes [m], the sum over frames of sqrt(|dp|^2 + s^2) - s with a small
    s. link: the tool unless given."""

    order = 1

    def __init__(self, link: str = "") -> None:
        self.link = link

    def check(self, grid: Discretization) -> None:
        self._index(grid.model)

    def value(self, at: DiscreteMotion) -> float:
        return float((self._lengths(at)[0] - SHORT * at.grid.length).sum())

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        lengths, d, J = self._lengths(at)
        units = d / lengths[:, None]
        blocks = np.zeros((len(at), 2, 3, J.shape[2]))
        blocks[1:, 0], blocks[1:, 1] = J[1:], -J[:-1]
        across = (np.eye(3) - units[:, :, None] * units[:, None, :]) / lengths[:, None, None]
        across[0] = 0.0
        H = products(blocks, across[:, None] @ blocks)
        H[:, 0] += STIFF * float(abs(H).max(initial=0.0)) * np.eye(J.shape[2])
        return transposed(blocks, units), H

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        lengths, d, _ = self._lengths(at)
        units = d / lengths[:, None]
        force = units - np.vstack((units[1:], np.zeros((1, 3))))
        H[:, 0] += tip_bending(at.grid, self._tip(at), np.hstack((force, np.zeros(force.shape))))

    def _lengths(self, at: DiscreteMotion) -> tuple[Array, Array, Array]:
        """(F,) the length of each step, (F, 3) the step, 0 at frame 0, and (F, 3, n) how the point moves along y."""
        if self not in at.known:
            placements = at.grid.backend.frame_placements(at.grid.model.tree, at.q)
            p = placements[:, self._index(at.grid.model), :3, 3]
            d = np.diff(p, axis=0, prepend=p[:1])
            J = self._tip(at)[:, :3] * at.grid.scale
            at.known[self] = np.sqrt((d * d).sum(axis=1) + (SHORT * at.grid.length) ** 2), d, J
        return at.known[self]

    def _tip(self, at: DiscreteMotion) -> Array:
        """(F, 6, nv) the velocity of the point in root axes."""
        tree = at.grid.model.tree
        return at.grid.backend.frame_jacobian(tree, at.q, self._index(at.grid.model), Reference.LOCAL_WORLD_ALIGNED)

    def _index(self, model: RobotModel) -> int:
        if self.link:
            return model.link_index(self.link)
        tools = tool_links(model)
        if not tools:
            raise TaskError(f"path_length: {model.name!r} has no tool")
        return model.link_index(tools[0])


class CriterionIntegral(MotionCost):
    """The integral of criteria over time, with their weights: potentials V(q), and what velocities cost. At each frame
    those of its segment, which see its tasks."""

    order = 1

    def __init__(self, parts: Sequence[tuple[TaskSegment, Sequence[Criterion]]]) -> None:
        self.parts = [(segment, [each for each in criteria if each.weight]) for segment, criteria in parts]

    def check(self, grid: Discretization) -> None:
        criteria = [each for _, own in self.parts for each in own]
        if not criteria:
            raise TaskError("criteria: there is none to integrate over the motion")
        for each in criteria:
            if not isinstance(each, Potential | Velocity):
                raise TaskError(
                    f"{each.name}: it is neither a potential nor a cost of velocities; "
                    "the costs torque and acceleration say the like of a whole motion"
                )
        start = DiscreteMotion(grid, np.tile(grid.model.neutral(), (self._frames, 1)))
        for segment, own in self.parts:
            for each in own:
                each.check(segment.states(start)(0))

    @property
    def _frames(self) -> int:
        return max(segment.first + len(segment.targets) for segment, _ in self.parts)

    def value(self, at: DiscreteMotion) -> float:
        total = 0.0
        for segment, criteria in self.parts:
            state = segment.states(at)
            for k in range(len(segment.targets)):
                v = at.v[segment.first + k]
                total += sum(each.weight * each.value(state(k), v) for each in criteria)
        return at.grid.dt * total

    def quadratic(self, at: DiscreteMotion) -> tuple[Array, Array]:
        gradient, H = self._derivatives(at)
        values, vectors = np.linalg.eigh(H)
        convex = np.einsum("kij,kj,klj->kil", vectors, np.maximum(values, 0.0), vectors)
        places, blocks, M = self._velocities(at)
        gradient = transposed(places, gradient) + transposed(blocks, np.einsum("kij,kj->ki", M, at.v))
        guess = products(blocks, M[:, None] @ blocks)
        guess[:, 0] += convex
        return gradient, guess

    def bend(self, at: DiscreteMotion, H: Array) -> None:
        own = self._derivatives(at)[1]
        values, vectors = np.linalg.eigh(own)
        H[:, 0] += np.einsum("kij,kj,klj->kil", vectors, np.minimum(values, 0.0), vectors)

    def _velocities(self, at: DiscreteMotion) -> tuple[Array, Array, Array]:
        """Blocks of q and of v (F, 2, n, n), and (F, nv, nv) dt H of what velocities cost."""
        n = at.steps.shape[1]
        places, M = np.zeros((len(at), 2, n, n)), np.zeros((len(at), n, n))
        places[:, 0] = np.eye(n)
        for segment, criteria in self.parts:
            state = segment.states(at)
            for each in criteria:
                if isinstance(each, Velocity):
                    for k in range(len(segment.targets)):
                        M[segment.first + k] += at.grid.dt * each.weight * each.matrix(state(k))
        return places, at.step_blocks * (at.grid.scale[:, None] / at.grid.dt), M

    def _derivatives(self, at: DiscreteMotion) -> tuple[Array, Array]:
        """(F, n) gradient along y at the same v, and (F, n, n) its derivative; of potentials, and of how what
        velocities cost changes with q."""
        if self not in at.known:
            n = at.steps.shape[1]
            gradient, H = np.zeros((len(at), n)), np.zeros((len(at), n, n))
            for segment, criteria in self.parts:
                state = segment.states(at)
                for k in range(len(segment.targets)):
                    frame = segment.first + k
                    for each in criteria:
                        g, own = _along(each, state(k), at.v[frame])
                        gradient[frame] += at.grid.dt * each.weight * g
                        H[frame] += at.grid.dt * each.weight * own
            at.known[self] = gradient, H
        return at.known[self]


def _along(criterion: Criterion, state: State, v: Array) -> tuple[Array, Array]:
    """Gradient (n,) of a criterion along y at the same v, and its derivative (n, n), 0 of velocities."""
    n, scale = len(v), state.scale
    steps = STEP * np.diag(scale)
    if isinstance(criterion, Potential):
        ends = [(criterion.gradient(state.moved(step)), criterion.gradient(state.moved(-step))) for step in steps]
        H = np.array([(up - down) * scale / (2.0 * STEP) for up, down in ends])
        return criterion.gradient(state) * scale, 0.5 * (H + H.T)
    ends_v = [(criterion.value(state.moved(step), v), criterion.value(state.moved(-step), v)) for step in steps]
    return np.array([(up - down) / (2.0 * STEP) for up, down in ends_v]), np.zeros((n, n))
