"""What moves along a path: its derivatives, those of tools on it, and what the drives give for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import Reference, get_backend
from ..motion.dynamics import Drives
from .path import Path
from .path_limits import PathLimits

Force = tuple[Array, Array, Array]

STEP = 1e-4  # [rad, m] by which a Jacobian is differentiated, by central differences


@dataclass(frozen=True, eq=False)
class PathRates:
    """Derivatives by the parameter s of a path at places (...): v = first ds/dt, a = first d²s/dt² + second (ds/dt)²,
    and the jerk first d³s/dt³ + 3 second ds/dt d²s/dt² + third (ds/dt)³.

    first, second, third: (..., nv).   tool_first, tool_second: (..., tools, 3) of the tools' origins, in root axes.
    force: what links and rotors need is force[0] d²s/dt² + force[1] (ds/dt)² + force[2], (..., nv) each; None where
    efforts do not count."""

    first: Array
    second: Array
    third: Array
    tool_first: Array
    tool_second: Array
    force: Force | None

    @classmethod
    def at(cls, path: Path, interval: Array, s: Array, limits: PathLimits) -> PathRates:
        """The rates at parameters s within those intervals of the path's knots."""
        q, first, second, third = path.at(interval, s)
        shape = (*s.shape, len(limits.tools), 3)
        tools = np.zeros(shape), np.zeros(shape)
        for i, tool in enumerate(limits.tools):
            for own, found in zip(tools, _tool_rates(path, tool.frame, q, first, second), strict=True):
                own[..., i, :] = found
        return cls(first, second, third, *tools, _force(path, q, first, second, limits.gravity))

    def warped(self, s1: Array, s2: Array, s3: Array) -> PathRates:
        """The rates by another parameter, of which s has the derivatives s1, s2, s3 (...)."""

        def second(x1: Array, x2: Array) -> Array:
            return x1 * by(s2, x1) + x2 * by(s1, x1) ** 2

        def by(s: Array, like: Array) -> Array:
            return s.reshape(s.shape + (1,) * (like.ndim - s.ndim))

        first, tool_first = (x * by(s1, x) for x in (self.first, self.tool_first))
        third = self.first * by(s3, self.first) + 3.0 * self.second * by(s1 * s2, self.first)
        third += self.third * by(s1, self.first) ** 3
        force = self.force
        if force is not None:
            a, b, c = force
            force = a * by(s1, a), second(a, b), c
        tool_second = second(self.tool_first, self.tool_second)
        return PathRates(first, second(self.first, self.second), third, tool_first, tool_second, force)


def _tool_rates(path: Path, frame: int, q: Array, first: Array, second: Array) -> tuple[Array, Array]:
    """(..., 3) J q', and J q'' + (dJ/ds) q'."""
    tree, backend = path.model.tree, get_backend()
    flat, v = q.reshape(-1, q.shape[-1]), first.reshape(-1, first.shape[-1])
    size = np.linalg.norm(v, axis=1, keepdims=True)
    unit = np.divide(v, size, out=np.zeros_like(v), where=size > 0.0)

    def along(at: Array, x: Array) -> Array:
        J = backend.frame_jacobian(tree, at, frame, Reference.LOCAL_WORLD_ALIGNED)
        return np.einsum("pij,pj->pi", J[:, :3], x)

    ends = (along(backend.integrate(tree, flat, sign * STEP * unit), v) for sign in (1.0, -1.0))
    turned = (next(ends) - next(ends)) / (2.0 * STEP) * size
    t1, t2 = along(flat, v), along(flat, second.reshape(v.shape)) + turned
    return t1.reshape(*q.shape[:-1], 3), t2.reshape(*q.shape[:-1], 3)


def _force(path: Path, q: Array, first: Array, second: Array, gravity: Array | None) -> Force | None:
    if gravity is None:
        return None
    backend, tree = get_backend(), path.model.tree
    still = np.zeros_like(first)
    weight = backend.inverse_dynamics(tree, q, still, still, gravity)
    drives = Drives.of(path.model)
    rotor = drives.rotor_inertia
    a = backend.inverse_dynamics(tree, q, still, first, gravity) - weight + rotor * first
    b = backend.inverse_dynamics(tree, q, first, second, gravity) - weight + rotor * second
    return a, b, weight + drives.spring_effort(q)


def peaks(values: Array) -> Array:
    """(cells, places, k) values, raised to the vertex of the parabola through each and those beside it."""
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    bend = before - 2.0 * here + after
    vertex = np.divide((after - before) ** 2, -8.0 * bend, out=np.zeros_like(here), where=bend < 0.0)
    is_top = abs(after - before) <= -2.0 * bend  # between the three
    raised = values.copy()
    raised[:, 1:-1] += np.where(is_top, vertex, 0.0)
    return raised
