"""Descending on the residuals of tasks, level by level: what the static solver and tracking share, in NumPy. Twin of
kernel/src/ik/ik_search.c and settle.c.

Levenberg-Marquardt with the damping proportional to the squared error (Sugihara, "Solvability-unconcerned inverse
kinematics by the Levenberg-Marquardt method", IEEE T-RO 27(5), 2011), inside position limits in every step. Tasks of
one level are one least-squares problem; of several, the first level that differs decides what is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...robokin.arrays import Array
from .steps import damping_for

DAMPING_LESS, DAMPING_MORE, DAMPING_LEAST, DAMPING_MOST = 0.3, 4.0, 1e-9, 1e6
SAME = 1e-9  # relative: errors of a level nearer to each other than this are equal
RESTORING = 2  # steps that bring levels above back to what they are to keep
IDLE = 1e-9  # of a row: what it hardly depends on
WELL_MET = 1e-18  # error of levels that no step need lessen: 1e-9 radians or L


@dataclass(frozen=True, eq=False)
class Iterate:
    """q (nq,) and its residuals. errors: (levels,) |e|^2 / 2.   met: (levels,) bool, within tolerances.
    residuals: (tasks, 2).   linear: what `LevelRows` needs of it."""

    q: Array
    errors: Array
    met: Array
    residuals: Array
    linear: Any


@dataclass(frozen=True, eq=False)
class KeptLevels:
    """The first levels, so many, are to keep what they have at an iterate: what is not met there is as near as it can
    be."""

    at: Iterate
    levels: int


class LevelRows(Protocol):
    """Tasks in levels at a configuration, and the damped step on the first of them."""

    levels: int
    are_velocities: Array  # (levels,) bool, those that ask for nothing but velocities
    is_exact: bool  # tasks on tips have the very steps that they have in levels, which take longer to make

    def measure(self, q: Array) -> Iterate: ...

    def step(self, at: Iterate, on: int, damping: float | None, as_one: bool, kept: KeptLevels | None) -> Array:
        """(nq,) one step on from `at`, on the first `on` levels. damping: of the last of them; None: each by its own
        error.   as_one: they are weighed against each other.   kept: these keep their residuals."""

    def needed(self, at: Iterate, levels: int) -> list[Array]:
        """(nv,) bool for each of the first levels, the columns that it needs. Bands that hold need none: levels below
        keep them."""

    def holds(self, kept: KeptLevels, at: Iterate, share: float = ...) -> bool:
        """Whether each task that is kept has its residual of there, up to this share of its tolerance, or is within
        that."""


class Descent:
    """on: how many levels count.   best: the best iterate.   kept: levels that steps leave.   iterations: so far."""

    def __init__(self, rows: LevelRows) -> None:
        self.rows, self.on, self.iterations = rows, rows.levels, 0
        self.best: Iterate | None = None
        self.kept: KeptLevels | None = None

    def error(self, at: Iterate) -> float:
        """Error of the levels that count and are not met."""
        return float(at.errors[: self.on][~at.met[: self.on]].sum())

    def is_met(self, at: Iterate) -> bool:
        return bool(at.met[: self.on].all())

    def offer(self, at: Iterate) -> None:
        """Keep it when it is the best so far."""
        if self.best is None or self.is_better(at, self.best):
            self.best = at

    def is_better(self, at: Iterate, best: Iterate) -> bool:
        if self.is_met(at) or self.on == 1:
            return self.is_met(at) or bool(at.errors[0] < best.errors[0])
        own, others = (np.where(each.met, 0.0, each.errors)[: self.on] for each in (at, best))
        differ = np.flatnonzero(abs(own - others) > SAME * np.maximum(own, others))
        return bool(len(differ) and own[differ[0]] < others[differ[0]])

    def step(self, at: Iterate, damping: float | None = None, as_one: bool = False) -> Array:
        self.iterations += 1
        return self.rows.step(at, self.on, damping, as_one, self.kept)

    def holds(self, at: Iterate) -> bool:
        return self.kept is None or self.rows.holds(self.kept, at)

    def _exact(self, at: Iterate, levels: int) -> Iterate:
        """The first levels, which are met, as well as they can be: how a tolerance is used up says nothing."""
        self.on = levels
        for _ in range(RESTORING):
            if not self.is_met(at) or at.errors[:levels].sum() <= WELL_MET:
                break
            better = self.rows.measure(self.step(at))
            if not self.is_met(better):
                break
            at = better
        self.on = levels + 1
        return at

    def settle(self, steps: int, settled: float) -> bool:
        """Descend from the best iterate to its minimum, only downwards, in at most so many steps; of several levels on
        the last that counts, while those above are kept. Ends when its error changes by less than the
        fraction `settled`. Whether all that counts is met."""
        assert self.best is not None
        here, last = self.best, self.on - 1
        if self.is_met(here):
            return True
        here = self.best = self._exact(here, last)
        self.kept = KeptLevels(here, last) if last else None
        damping, refused = damping_for(float(here.errors[last])), -math.inf
        for _ in range(steps):
            if damping >= DAMPING_MOST or here.met[last]:
                break
            error = float(here.errors[last])
            at = self.rows.measure(self.step(here, damping))
            for _ in range(RESTORING if last else 0):  # the path along what levels above keep is bent
                if at.errors[last] >= error or self.holds(at):
                    break
                self.on = last
                at = self.rows.measure(self.step(at))
                self.on = last + 1
            gain = float(here.errors[last] - at.errors[last]) if self.holds(at) else -math.inf
            if self.is_met(at) or gain > 0.0:
                self.best = here = at
            if self.is_met(at):
                break
            if abs(gain) < settled * at.errors[last]:
                break
            if last and gain < refused:  # a shorter step that is worse: levels above take back more than any step gains
                break
            refused = -math.inf if gain > 0.0 else gain
            damping = max(DAMPING_LESS * damping, DAMPING_LEAST) if gain > 0.0 else damping * DAMPING_MORE
        self.kept = None
        return self.is_met(here)
