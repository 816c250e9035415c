"""The timing of a path: nowhere faster than the frames ask for, and inside the limits."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ..motion.motion import Motion
from ..retiming.retime import retime
from ..retiming.timing import Retimed
from .postures_along import PosturesAlong, PostureSequence
from .tool_path import ToolPath

STILL = 1e-7  # [rad] postures that are nearer to each other are one
PAUSE = 0.5  # frames: what stands so long rests there
SLOW = 1e-6  # [m] a frame: where the tool turns in place, it is where the joints' path says
NEAR = 1e-6  # frames, of a difference


@dataclass(frozen=True, eq=False)
class _Segment:
    """A part of the motion from `start` [s] on. motion: None of a pause at q (nq,).   knots: (k,) of its path's
    parameter, at which the path is at s (k,)."""

    start: float
    duration: float
    motion: Retimed | None
    q: Array
    knots: Array
    s: Array


@dataclass(frozen=True, eq=False)
class Schedule:
    """Segments of motion and rest, one after another."""

    segments: Sequence[_Segment]

    @property
    def duration(self) -> float:
        """[s]"""
        return self.segments[-1].start + self.segments[-1].duration

    def sample(self, t: Array) -> Array:
        """(n, nq) at times (n,)."""
        found = np.empty((len(t), len(self.segments[0].q)))
        for each, own, times in self._split(t):
            found[own] = each.q if each.motion is None else each.motion.sample(times)[0]
        return found

    def places(self, path: ToolPath, t: Array, tips: Array) -> Array:
        """(n,) the parameters of the tool's path nearest to tips (n, 4, 4) at times (n,), frames and half-way between;
        those of frames increase."""
        s = np.empty(len(t))
        for each, own, times in self._split(t):
            at = times if each.motion is None else each.motion.places(times)
            s[own] = np.interp(at, each.knots, each.s)
        for _ in range(2):
            s0, s1 = np.maximum(s - NEAR, 0.0), np.minimum(s + NEAR, path.frames - 1.0)
            tangent = (path.at(s1) - path.at(s0))[:, :3, 3] / (s1 - s0)[:, None]
            size = (tangent**2).sum(axis=1)
            along = ((tips - path.at(s))[:, :3, 3] * tangent).sum(axis=1)
            step = np.divide(along, size, out=np.zeros(len(s)), where=size > SLOW**2)
            s = np.clip(s + np.clip(step, -0.5, 0.5), 0.0, path.frames - 1.0)
        s[::2] = np.maximum.accumulate(s[::2])
        return s

    def _split(self, t: Array) -> list[tuple[_Segment, Array, Array]]:
        """Each segment, (n,) bool which of the times are its own, and these since its start."""
        starts = np.array([each.start for each in self.segments])
        number = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
        found = []
        for i, each in enumerate(self.segments):
            own = number == i
            found.append((each, own, np.clip(t[own] - each.start, 0.0, each.duration)))
        return found


def scheduled(along: PosturesAlong, sequence: PostureSequence, limits: Mapping[str, Array], dt: float) -> Schedule:
    """The path from rest to rest, no faster than the frames are, see `retime`, and inside the
    limits. Pauses are kept."""
    moves = np.linalg.norm(np.diff(sequence.q, axis=0), axis=1) > STILL
    edges = [0, *(np.flatnonzero(np.diff(moves)) + 1).tolist(), len(moves)]
    parts: list[tuple[int, int, bool]] = []
    for first, last in itertools.pairwise(edges):
        is_moving = bool(moves[first]) or sequence.s[last] - sequence.s[first] < PAUSE
        if parts and parts[-1][2] == is_moving:
            first = parts.pop()[0]
        parts.append((first, last, is_moving))
    found: list[_Segment] = []
    start = 0.0
    for first, last, is_moving in parts:
        q, s = sequence.q[first : last + 1], sequence.s[first : last + 1]
        duration = dt * float(s[-1] - s[0])
        if is_moving:
            kept = np.append(True, np.linalg.norm(np.diff(q, axis=0), axis=1) > STILL)
            motion = retime(along.model, Motion.of(along.model, dt * s[kept], q[kept]), limits, as_animated=True)
            found.append(_Segment(start, motion.duration, motion, q[0], motion.path.knots, s[kept]))
        else:
            found.append(_Segment(start, duration, None, q[0], np.array([0.0, duration]), s[[0, -1]]))
        start += found[-1].duration
    return Schedule(found)
