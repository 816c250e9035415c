"""Fewer keys for a motion, with a bound on what its tools are off.

Between two keys each coordinate goes along a cubic with the motion's own slopes at both (Hermite), as Bezier keys of
Blender do. A stretch of frames is left to such cubics when the tools are no farther off than allowed, at each frame and
half-way to the next, and no limit is passed at any time; stretches are taken as long as they can be, one after another.
Frames that are next to each other go straight where that does not help, as the motion itself does.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.configuration import unit_quaternions
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel
from ..limits.viability import dof_coordinates
from .motion import Motion
from .rolled import rolling

SPARE = 0.99  # of the bounds: the rest is for the rounding of what is written
ROUNDING = 1e-9  # relative, of limits
REPAIRS = 20


@dataclass(frozen=True, eq=False)
class ReducedKeys:
    """keys: (k,) frames, the first and the last among them.   straight: (k - 1,) bool, which go straight to the next.
    q: (2 F - 1, nq) at frames and half-way between.   position, rotation: [m], [rad] the most that a tool is off.
    unreduced: coordinates that keep a key a frame: of bases that roll, whose wheels would slip between fewer."""

    keys: Array
    straight: Array
    q: Array
    position: float
    rotation: float
    unreduced: Array


def reduce_keys(
    motion: Motion, tools: Sequence[str], position: float, rotation: float
) -> Generator[float, None, ReducedKeys]:
    """Yield the share of the work done (0..1) now and then; return the keys.

    motion: 2 F - 1 samples, at F frames and half-way between.   tools: names of links.   position [m], rotation [rad]:
    what each may be off. Limits on positions, velocities and accelerations that the motion keeps are kept. Wheeled
    bases that roll keep all their keys. Raises ConfigurationError for bounds that are not positive.
    """
    if not (0.0 < position < np.inf and 0.0 < rotation < np.inf):
        raise ConfigurationError(f"bounds must be positive, not {position:g} m and {rotation:g} rad")
    if len(motion) < 3 or len(motion) % 2 == 0:
        raise ConfigurationError("a motion of at least two frames is needed, and of what is half-way between")
    fit = _Fit(motion, tools, SPARE * position, SPARE * rotation)
    frames, keys, at = fit.frames, [0], 0
    while at < frames - 1:
        yield 0.9 * at / frames
        at = fit.farthest(at)
        keys.append(at)
    for _ in range(REPAIRS):
        keys, straight = fit.covered(keys)
        q = fit.evaluated(keys, straight)
        broken = fit.broken(q)
        if not len(broken):
            break
        beside = np.clip(broken[:, None] + [-1, 0, 1], 0, frames - 1)
        keys = sorted({*keys, *beside.ravel().tolist()})
    else:
        keys, straight = list(range(frames)), [True] * (frames - 1)
        q = fit.evaluated(keys, straight)
    off = tool_errors(motion.model, tools, q, fit.q)
    most = float(off[0].max(initial=0.0)), float(off[1].max(initial=0.0))
    return ReducedKeys(np.array(keys), np.array(straight, bool), q, *most, fit.unreduced)


class _Fit:
    def __init__(self, motion: Motion, tools: Sequence[str], position: float, rotation: float) -> None:
        self.motion, self.model = motion, motion.model
        self.bounds = position, rotation
        self.frames = (len(motion) + 1) // 2
        self.q = np.array(motion.unwrapped().q)
        self.at_frames = self.q[::2]
        self.dt = float(motion.times[2] - motion.times[0])
        self.slopes = frame_slopes(self.at_frames)
        self.tools, self.unreduced = tools, _unreduced(motion)
        own = dof_coordinates(self.model)
        self.dof, self.coordinate = np.flatnonzero(own >= 0), own[own >= 0]
        frames = Motion.of(self.model, motion.times[::2], self.at_frames, motion.v[0])
        self.allowed = [
            np.maximum(limit * (1.0 + ROUNDING), abs(x))
            for limit, x in ((self.model.velocity, frames.v), (self.model.acceleration, frames.a))
        ]

    def cubic(self, i: int, j: int) -> tuple[Array, Array]:
        """(4, nq) coefficients of powers of the share of the way from frame i to frame j, and the samples between."""
        h = j - i
        a, b = self.at_frames[i], self.at_frames[j]
        m, n = h * self.slopes[i], h * self.slopes[j]
        c = np.array([a, m, 3.0 * (b - a) - 2.0 * m - n, 2.0 * (a - b) + m + n])
        s = (np.arange(2 * h + 1) / (2.0 * h))[:, None]
        q = c[0] + s * (c[1] + s * (c[2] + s * c[3]))
        q[-1] = b
        q[:, self.unreduced] = self.q[2 * i : 2 * j + 1, self.unreduced]
        c[1:, self.unreduced] = 0.0
        return c, unit_quaternions(self.model, q)

    def fits(self, i: int, j: int) -> bool:
        c, q = self.cubic(i, j)
        if not self._inside(c, (j - i) * self.dt) or not self.model.limits.contain(q, 0.0).all():
            return False
        away, turned = tool_errors(self.model, self.tools, q, self.q[2 * i : 2 * j + 1])
        return bool((away <= self.bounds[0]).all() and (turned <= self.bounds[1]).all())

    def _inside(self, c: Array, time: float) -> bool:
        """Whether the cubic keeps limits at all times: positions at its turns, velocities, accelerations."""
        _, b, d, e = c
        root = np.sqrt(np.maximum(d * d - 3.0 * b * e, 0.0))
        far = -(d + np.copysign(root, d))
        for top, bottom in ((far, 3.0 * e), (b, far)):
            s = np.clip(np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0.0), 0.0, 1.0)
            turn = c[0] + s * (b + s * (d + s * e))
            outside = (turn < np.minimum(self.model.lower, self.q.min(axis=0))) | (
                turn > np.maximum(self.model.upper, self.q.max(axis=0))
            )
            if outside[self.coordinate].any():
                return False
        vertex = np.clip(np.divide(-d, 3.0 * e, out=np.zeros_like(d), where=e != 0.0), 0.0, 1.0)
        v = np.max([abs(b), abs(b + 2.0 * d + 3.0 * e), abs(b + vertex * (2.0 * d + vertex * 3.0 * e))], axis=0) / time
        a = np.maximum(abs(2.0 * d), abs(2.0 * d + 6.0 * e)) / time**2
        return not any(
            (x[self.coordinate] > most.max(axis=0)[self.dof]).any()
            for x, most in ((v, self.allowed[0]), (a, self.allowed[1]))
        )

    def farthest(self, i: int) -> int:
        """How far one cubic goes from frame i on."""
        step, last = 1, self.frames - 1
        while i + 2 * step <= last and self.fits(i, i + 2 * step):
            step *= 2
        low, high = i + step, min(i + 2 * step, last + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.fits(i, middle) else (low, middle)
        return min(low, last)

    def covered(self, keys: Sequence[int]) -> tuple[list[int], list[bool]]:
        """The keys, with more where a stretch does not fit, and which go straight."""
        found, straight = [keys[0]], []
        waiting = list(pairwise(keys))[::-1]
        while waiting:
            i, j = waiting.pop()
            fits = self.fits(i, j)
            if not fits and j > i + 1:
                middle = (i + j) // 2
                waiting += [(middle, j), (i, middle)]
                continue
            found.append(j)
            straight.append(not fits)
        return found, straight

    def evaluated(self, keys: Sequence[int], straight: Sequence[bool]) -> Array:
        """(2 F - 1, nq)"""
        q = self.q.copy()
        for i, j, is_straight in zip(keys[:-1], keys[1:], straight, strict=True):
            if is_straight:
                between = unit_quaternions(self.model, 0.5 * (self.at_frames[i] + self.at_frames[j])[None])
                between[:, self.unreduced] = self.q[2 * i + 1 : 2 * j, self.unreduced]
                q[2 * i + 1 : 2 * j] = between
            else:
                q[2 * i : 2 * j + 1] = self.cubic(i, j)[1]
        return q

    def broken(self, q: Array) -> Array:
        """Frames whose velocity or acceleration is over its limit, and over what it was."""
        made = Motion.of(self.model, self.motion.times[::2], q[::2], self.motion.v[0])
        pairs = zip((made.v, made.a), self.allowed, strict=True)
        over = [(abs(x) > most * (1.0 + ROUNDING) + 1e-12).any(axis=1) for x, most in pairs]
        return np.flatnonzero(over[0] | over[1])


def _unreduced(motion: Motion) -> Array:
    """Coordinates of the wheeled bases that roll, and of their wheels."""
    bases = motion.model.rolling_bases
    found: list[int] = []
    for base, rolls in zip(bases, rolling(motion.model, motion.q[::2]), strict=True):
        found += [*range(base.q, base.q + 3), *base.wheel_q] if rolls else []
    return np.array(found, int)


def tool_errors(model: RobotModel, tools: Sequence[str], q: Array, wanted: Array) -> tuple[Array, Array]:
    """(S, tools) [m] and [rad] how far links are at q (S, nq) from where they are at `wanted` (S, nq)."""
    links = [model.link_index(link) for link in tools]
    here, there = (
        get_backend().frame_placements(model.tree, np.ascontiguousarray(each))[:, links] for each in (q, wanted)
    )
    away = np.linalg.norm(here[..., :3, 3] - there[..., :3, 3], axis=-1)
    chord = np.linalg.norm(here[..., :3, :3] - there[..., :3, :3], axis=(-2, -1))  # sqrt(8) times sin of half the angle
    return away, 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))


def frame_slopes(values: Array) -> Array:
    """(F, ...) changes per frame of values at frames: by central differences, at the ends of the parabola there."""
    return np.gradient(values, axis=0, edge_order=1 if len(values) == 2 else 2)
