"""The weighted sum of potentials that a pose is to make small: its value, its edges, and how it bends on the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ..kinematics.state import State
from . import Criterion, Potential
from .largest_eigenvalue import LargestEigenvalue

NEAR = 0.005  # relative: eigenvalues that close to the largest may be met in a step
NOISE = 1e-14  # relative: to which a sum of potentials is known


@dataclass(frozen=True, eq=False)
class Gradients:
    """Gradients of an objective at a configuration. smooth: (nv,) the gradient of what is smooth.   edges: of the rest,
    weighted. chosen: of each edge, columns w (r, k) that make the matrix W = sum of ww', which chooses one of its
    gradients."""

    smooth: Array
    edges: Sequence[LargestEigenvalue]
    chosen: Sequence[Array]

    @property
    def sharp(self) -> list[int]:
        """Which edges have several gradients; the others are smooth."""
        return [i for i, edge in enumerate(self.edges) if len(edge.A) > 1]

    @property
    def gradient(self) -> Array:
        """(nv,)"""
        return self.smooth + sum(edge.gradient(w @ w.T) for edge, w in zip(self.edges, self.chosen, strict=True))

    def in_frames_of(self, other: Gradients) -> Gradients:
        """In the frames of another configuration, with the gradients that are chosen there."""
        pairs = list(zip(self.edges, other.edges, strict=True))
        if any((own.A.shape, own.frames.shape) != (theirs.A.shape, theirs.frames.shape) for own, theirs in pairs):
            return self  # where there are other rows too, as beyond the end of a curve
        return Gradients(self.smooth, [own.in_frames_of(theirs) for own, theirs in pairs], other.chosen)


class Objective:
    """Potentials with weight times gain; criteria on velocities have no say. scale: (nv,) of displacements x."""

    def __init__(self, criteria: Sequence[Criterion], scale: Array) -> None:
        self.scale = scale
        self.potentials = [criterion for criterion in criteria if isinstance(criterion, Potential)]

    def value(self, state: State) -> float:
        return sum(each.weight * each.gain * each.potential(state) for each in self.potentials)

    def rounding(self, state: State) -> float:
        """To which the value is known."""
        return NOISE * sum(each.weight * each.gain * abs(each.potential(state)) for each in self.potentials)

    def gradients(self, state: State, like: Gradients | None = None, near: float = NEAR) -> Gradients:
        """Along x, of an edge the gradient of its largest eigenvalue chosen; of its eigenvalues, those that are as
        large up to `near`, relative. like: as many as there, in its frames, and with the gradients chosen there."""
        smooth = np.zeros(len(self.scale))
        edges: list[LargestEigenvalue] = []
        for each in self.potentials:
            factor, edge = each.weight * each.gain, each.largest_eigenvalue(state)
            if edge is None:
                smooth += factor * self.scale * each.gradient(state)
            else:
                count = edge.near(near) if like is None else len(like.edges[len(edges)].A)
                whole = LargestEigenvalue(factor * edge.A, factor * edge.derivative * self.scale, edge.frames)
                edges.append(whole.top(count))
        found = Gradients(smooth, edges, [np.linalg.eigh(edge.A)[1][:, -1:] for edge in edges])
        return found if like is None else found.in_frames_of(like)

    def metric(self, state: State) -> Array:
        """(nv,) the diagonal of a first guess at the Hessian."""
        return self.scale**2 * sum(each.weight * each.gain * each.metric(state) for each in self.potentials)
