"""Fewer keys for a motion, with a bound on what its tools are off.

Between two keys each coordinate goes along a cubic with given slopes at both (Hermite), as Bezier keys of Blender do. A
stretch of frames is left to such cubics when the links are no farther off than allowed, at each frame and half-way to
the next, and no limit is passed at any time. First the slopes are those of the motion, and stretches are taken as long
as they can be, one after another. Then keys are taken away one by one, while slopes of least squares at the keys beside
make up for them. Frames that are next to each other go straight where a cubic does not help, as the motion itself does.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
STRAIGHT = 1e-6  # [rad] by which a base may turn that goes straight: what is written in single precision


@dataclass(frozen=True, eq=False)
class ReducedKeys:
    """keys: (k,) frames, the first and the last among them.   straight: (k - 1,) bool, which go straight to the next.
    slopes: (k, nq) changes of q per frame at the keys.   q: (2 F - 1, nq) at frames and half-way between.
    position, rotation: [m], [rad] the most that a link is off.
    unreduced: coordinates that keep their motion from frame to frame: of bases that roll and turn, whose wheels would
    slip along cubics. `even_keys` are what they need."""

    keys: Array
    straight: Array
    slopes: Array
    q: Array
    position: float
    rotation: float
    unreduced: Array


def reduce_keys(
    motion: Motion, links: Sequence[str], position: float, rotation: float, slopes: Array | None = None
) -> Generator[float, None, ReducedKeys]:
    """Yield the share of the work done (0..1) now and then; return the keys.

    motion: 2 F - 1 samples, at F frames and half-way between.   links: their names.   position [m], rotation [rad]:
    what each may be off.   slopes: (F, nq) changes of q per frame, where they are known better than by the samples.
    Limits on positions, velocities and accelerations that the motion keeps are kept. Wheeled
    bases that roll and turn keep their motion as it is. Raises ConfigurationError for bounds that are not positive.
    """
    if not (0.0 < position < np.inf and 0.0 < rotation < np.inf):
        raise ConfigurationError(f"bounds must be positive, not {position:g} m and {rotation:g} rad")
    if len(motion) < 3 or len(motion) % 2 == 0:
        raise ConfigurationError("a motion of at least two frames is needed, and of what is half-way between")
    fit = _Fit(motion, links, SPARE * position, SPARE * rotation, slopes)
    frames, keys, at = fit.frames, [0], 0
    while at < frames - 1:
        yield 0.6 * at / frames
        at = _farthest(at, frames - 1, fit.fits)
        keys.append(at)
    keys = fit.begin(keys)
    count = len(keys) + 1
    while len(keys) < count:
        count, at = len(keys), 1
        while at < len(keys) - 1:
            yield 0.6 + 0.4 * keys[at] / frames
            if fit.goes_with(keys, at, 1):
                del keys[at]
                continue
            if at < len(keys) - 2 and fit.goes_with(keys, at, 2, [one := (keys[at] + keys[at + 1]) // 2]):
                keys[at : at + 2] = [one]
            at += 1
    off = tool_errors(motion.model, links, fit.made, fit.q)
    most = float(off[0].max(initial=0.0)), float(off[1].max(initial=0.0))
    return ReducedKeys(np.array(keys), fit.straight[keys[:-1]], fit.slopes[keys], fit.made, *most, fit.unreduced)


def even_keys(values: Array) -> Array:
    """(k,) rows, the first and the last among them: straight on between two of them all values (F, n) are what they
    are, but for rounding to single precision."""
    off = np.spacing(abs(values).max(axis=0).astype(np.float32))
    keys, last = [0], len(values) - 1

    def is_even(i: int, j: int) -> bool:
        share = np.linspace(0.0, 1.0, j - i + 1)[:, None]
        return bool((abs(values[i] + share * (values[j] - values[i]) - values[i : j + 1]) <= off).all())

    while keys[-1] < last:
        keys.append(_farthest(keys[-1], last, is_even))
    return np.array(keys)


def _farthest(i: int, last: int, fits: Callable[[int, int], bool]) -> int:
    """How far what fits goes from frame i on."""
    step = 1
    while i + 2 * step <= last and fits(i, i + 2 * step):
        step *= 2
    low, high = i + step, min(i + 2 * step, last + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(i, middle) else (low, middle)
    return min(low, last)


class _Fit:
    """made: (2 F - 1, nq) the motion with fewer keys.   slopes: (F, nq) changes per frame, at the keys those of the
    cubics.   straight: (F,) keys from which it goes straight to the next frame."""

    def __init__(
        self, motion: Motion, links: Sequence[str], position: float, rotation: float, slopes: Array | None = None
    ) -> None:
        self.motion, self.model = motion, motion.model
        self.bounds = position, rotation
        self.frames = (len(motion) + 1) // 2
        self.q = np.array(motion.unwrapped().q)
        self.at_frames, self.made = self.q[::2], self.q.copy()
        self.dt = float(motion.times[2] - motion.times[0])
        own = np.gradient(self.at_frames, axis=0, edge_order=1 if self.frames == 2 else 2)
        self.slopes, self.are_slopes_known = own if slopes is None else slopes.copy(), slopes is not None
        self.straight = np.zeros(self.frames, bool)
        self.links, self.unreduced = links, _unreduced(motion)
        bend = abs(np.diff(self.q, 2, axis=0)).max(axis=0, initial=0.0) / 8.0  # of what goes on between samples
        low, high, lower, upper = self.q.min(axis=0), self.q.max(axis=0), self.model.lower, self.model.upper
        self.lowest = np.where(low < lower, low - bend, lower)
        self.highest = np.where(high > upper, high + bend, upper)
        own = dof_coordinates(self.model)
        self.dof, self.coordinate = np.flatnonzero(own >= 0), own[own >= 0]
        frames = Motion.of(self.model, motion.times[::2], self.at_frames, motion.v[0])
        self.allowed = [
            np.where(abs(x) > limit, abs(x).max(axis=0), limit * (1.0 + ROUNDING))
            for limit, x in ((self.model.velocity, frames.v), (self.model.acceleration, frames.a))
        ]

    def cubic(self, i: int, j: int, m: Array, n: Array) -> Array | None:
        """(2 (j - i) + 1, nq) from frame i to frame j with the slopes m, n (nq,) there; None where it does not do."""
        h = j - i
        a, b = self.at_frames[i], self.at_frames[j]
        m, n = h * m, h * n
        c = np.array([a, m, 3.0 * (b - a) - 2.0 * m - n, 2.0 * (a - b) + m + n])
        s = (np.arange(2 * h + 1) / (2.0 * h))[:, None]
        q = c[0] + s * (c[1] + s * (c[2] + s * c[3]))
        wanted = self.q[2 * i : 2 * j + 1]
        q[-1] = b
        q[:, self.unreduced] = wanted[:, self.unreduced]
        c[1:, self.unreduced] = 0.0
        q = unit_quaternions(self.model, q)
        contain = self.model.limits.contain
        if not self._inside(c, h) or not (contain(q) | ~contain(wanted)).all():
            return None
        away, turned = tool_errors(self.model, self.links, q, wanted)
        return q if (away <= self.bounds[0]).all() and (turned <= self.bounds[1]).all() else None

    def fits(self, i: int, j: int) -> bool:
        """Whether a cubic with the motion's own slopes does from frame i to frame j."""
        return self.cubic(i, j, self.slopes[i], self.slopes[j]) is not None

    def _inside(self, c: Array, h: int) -> bool:
        """Whether the cubic over h frames keeps limits at all times: positions at its turns, velocities, accelerations;
        these not within one frame of known slopes, which may turn more sharply than the frames show."""
        _, b, d, e = c
        time = h * self.dt
        root = np.sqrt(np.maximum(d * d - 3.0 * b * e, 0.0))
        far = -(d + np.copysign(root, d))
        for top, bottom in ((far, 3.0 * e), (b, far)):
            s = np.clip(np.divide(top, bottom, out=np.zeros_like(top), where=bottom != 0.0), 0.0, 1.0)
            turn = c[0] + s * (b + s * (d + s * e))
            if ((turn < self.lowest) | (turn > self.highest))[self.coordinate].any():
                return False
        vertex = np.clip(np.divide(-d, 3.0 * e, out=np.zeros_like(d), where=e != 0.0), 0.0, 1.0)
        v = np.max([abs(b), abs(b + 2.0 * d + 3.0 * e), abs(b + vertex * (2.0 * d + vertex * 3.0 * e))], axis=0) / time
        a = np.maximum(abs(2.0 * d), abs(2.0 * d + 6.0 * e)) / time**2
        return not any(
            (x[self.coordinate] > most.max(axis=0)[self.dof]).any()
            for x, most in ((v, self.allowed[0]), (a, self.allowed[1]))[: 1 if h == 1 and self.are_slopes_known else 2]
        )

    def begin(self, keys: Sequence[int]) -> list[int]:
        """The keys, with more where a stretch does not do; all frames where their velocities or accelerations do not.
        They fill `made`."""
        found, waiting = [keys[0]], list(pairwise(keys))[::-1]
        while waiting:
            i, j = waiting.pop()
            q = self.cubic(i, j, self.slopes[i], self.slopes[j])
            if q is None and j > i + 1:
                middle = (i + j) // 2
                waiting += [(middle, j), (i, middle)]
                continue
            found.append(j)
            self._set(i, j, q)
        if self._keeps_rates(self.made, 0, self.frames - 1):
            return found
        for i in range(self.frames - 1):
            self._set(i, i + 1, None)
        return list(range(self.frames))

    def goes_with(self, keys: Sequence[int], at: int, gone: int, instead: Sequence[int] = ()) -> bool:
        """Whether other keys, or none, do for the keys from keys[at] on that are gone; then they are those of `made`,
        `slopes`, `straight`."""
        own = [keys[at - 1], *instead, keys[at + gone]]
        before, after = keys[at - 2 : at - 1], keys[at + gone + 1 : at + gone + 2]
        beside = [*pairwise(own), *((h, own[0]) for h in before if not self.straight[h])]
        beside += [(own[-1], k) for k in after if not self.straight[own[-1]]]
        slopes = self._least_squares(own, beside)
        found = {}
        for a, b in beside:
            q = self.cubic(a, b, slopes.get(a, self.slopes[a]), slopes.get(b, self.slopes[b]))
            if q is None:
                return False
            found[a, b] = q
        first, last = min(a for a, _ in beside), max(b for _, b in beside)
        low, high = max(first - 2, 0), min(last + 2, self.frames - 1)
        q = self.made[2 * low : 2 * high + 1].copy()
        for (a, b), between in found.items():
            q[2 * (a - low) : 2 * (b - low) + 1] = between
        if not self._keeps_rates(q, low, high):
            return False
        for (a, b), between in found.items():
            self._set(a, b, between)
        for frame, slope in slopes.items():
            self.slopes[frame] = slope
        return True

    def _least_squares(self, frames: Sequence[int], spans: Sequence[tuple[int, int]]) -> dict[int, Array]:
        """{frame: (nq,)} the slopes at the frames, others given, with which the spans of frames are nearest to the
        motion."""
        A, B = np.zeros((len(frames), len(frames))), np.zeros((len(frames), self.q.shape[1]))
        for a, b in spans:
            basis = _hermite(b - a)
            rest = self.q[2 * a : 2 * b + 1] - basis[:, ::2] @ self.at_frames[[a, b]]
            free = []
            for frame, column in ((a, basis[:, 1]), (b, basis[:, 3])):
                if frame in frames:
                    free.append((frames.index(frame), column))
                else:
                    rest = rest - column[:, None] * self.slopes[frame]
            for row, column in free:
                B[row] += column @ rest
                for other, beside in free:
                    A[row, other] += column @ beside
        return dict(zip(frames, np.linalg.solve(A, B), strict=True))

    def _set(self, i: int, j: int, q: Array | None) -> None:
        """Go along q from key i to key j, or straight."""
        at = slice(2 * i + 1, 2 * j)
        self.made[2 * j] = self.at_frames[j]
        self.straight[i] = q is None
        if q is not None:
            self.made[at] = q[1:-1]
            return
        self.made[at] = unit_quaternions(self.model, 0.5 * (self.at_frames[i] + self.at_frames[j])[None])
        self.made[at, self.unreduced] = self.q[at, self.unreduced]

    def _keeps_rates(self, q: Array, first: int, last: int) -> bool:
        """Whether velocities and accelerations between the frames first..last, with their halves, keep their limits, or
        at frames where the motion breaks one the most that it has."""
        made = Motion.of(self.model, self.motion.times[2 * first : 2 * last + 1 : 2], q[::2], self.motion.v[0])
        known = slice(2 if first else 0, None)  # before, the frames are needed that are not there
        pairs = zip((made.v, made.a), self.allowed, strict=True)
        return all((abs(x) <= most[first : last + 1] * (1.0 + ROUNDING) + 1e-12)[known].all() for x, most in pairs)


@lru_cache(maxsize=1024)
def _hermite(h: int) -> Array:
    """(2 h + 1, 4) what the first value, its slope, the last value and its slope give at frames and half-way."""
    s = np.arange(2 * h + 1) / (2.0 * h)
    r = 1.0 - s
    return np.column_stack((r * r * (1.0 + 2.0 * s), h * s * r * r, s * s * (3.0 - 2.0 * s), -h * s * s * r))


def _unreduced(motion: Motion) -> Array:
    """Coordinates of the wheeled bases that roll and turn, and of their wheels. While a base goes straight, where it is
    is linear in how its wheels turn, and cubics of both roll as the motion does."""
    bases, q = motion.model.rolling_bases, motion.q[::2]
    found: list[int] = []
    for base, rolls in zip(bases, rolling(motion.model, q), strict=True):
        turns = np.ptp(q[:, base.q + 2]) > STRAIGHT
        found += [*range(base.q, base.q + 3), *base.wheel_q] if rolls and turns else []
    return np.array(found, int)


def tool_errors(model: RobotModel, links: Sequence[str], q: Array, wanted: Array) -> tuple[Array, Array]:
    """(S, links) [m] and [rad] how far links are at q (S, nq) from where they are at `wanted` (S, nq)."""
    at = [model.link_index(link) for link in links]
    here, there = (
        get_backend().frame_placements(model.tree, np.ascontiguousarray(each))[:, at] for each in (q, wanted)
    )
    away = np.linalg.norm(here[..., :3, 3] - there[..., :3, 3], axis=-1)
    chord = np.linalg.norm(here[..., :3, :3] - there[..., :3, :3], axis=(-2, -1))  # sqrt(8) times sin of half the angle
    return away, 2.0 * np.arcsin(np.minimum(chord / np.sqrt(8.0), 1.0))
