"""How near levels have come to their goals, and so how long a robot goes on where targets stand still: as long as it
gains something. In NumPy, twin of kernel/src/track/patience.c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import reference
from ...descent.data import IKData
from ...limits.viability import StepLimits, frames_to_stand

IDLY = 8.0  # frames in which a robot may gain nothing
AGAIN = 2.0  # times as long as joints need may a robot move to a goal, and stop and turn back
BETTER = 1e-3  # relative: an error is less that is so by more


@dataclass(eq=False)
class Progress:
    """errors, times: (levels,) what each missed at the nearest, and the fewest frames that were left to its goal, since
    targets stand still.   are_by_arcs: (levels,) bool, where bases get to the goal by several arcs."""

    errors: Array
    times: Array
    are_by_arcs: Array

    @classmethod
    def of(cls, kept: Array) -> Progress:
        """kept: (levels, 3)"""
        errors, times, by_arcs = kept.T.copy()
        return cls(errors, times, by_arcs > 0.0)

    @property
    def kept(self) -> Array:
        return np.column_stack((self.errors, self.times, self.are_by_arcs))

    def forget(self) -> None:
        """Targets move."""
        self.errors[:], self.times[:] = np.inf, np.inf

    def patience(self, before: float, robot: Any, met: int) -> float:
        """The patience in a still frame: a frame costs one, and what it brings a level nearer to its goal than ever
        gives some back. robot: a `ReferenceTracking`.   met: levels that were so, from the first on."""
        fewer, nearer = before - 1.0, 0.0
        limits: StepLimits = robot.limits
        if not before > 0.0:
            return fewer
        for level, goal in enumerate(robot.goals[met:], met):
            gap = self._to_goal(robot.data, robot.q, goal, level)
            step = np.where(gap < 0.0, -robot.step, robot.step)
            frames = frames_to_stand(abs(gap), step, limits.max_step, limits.max_step_change)
            nearer = max(nearer, self.times[level] - frames)
            self.times[level] = min(self.times[level], frames)
        moves = robot.step != 0.0
        stop = (abs(robot.step[moves]) / limits.max_step_change[moves]).max(initial=0.0)
        longest = IDLY + AGAIN * float(stop)
        return max(fewer, min(fewer + AGAIN * nearer, longest)) if fewer < np.inf else longest

    def _to_goal(self, data: IKData, q: Array, goal: Array, level: int) -> Array:
        """(nv,) from q to the last goal of a level; of wheels that get there by several arcs, by all of these."""
        gap = reference.difference(data.tree, q, goal)
        for base in data.bases if self.are_by_arcs[level] else ():
            if found := base.drive(q, goal, data.lower, data.upper):
                turned, whole = found
                gap[list(base.wheel_v)], gap[base.v : base.v + 3] = np.copysign(whole, turned), 0.0
        return gap

    def is_nearest(self, errors: Array) -> bool:
        """Whether levels are nearer than ever since targets stand still: the first one that is not as near as then is
        nearer. errors: (levels,)"""
        changed = np.flatnonzero((errors < self.errors * (1.0 - BETTER)) | (errors > self.errors * (1.0 + BETTER)))
        if not len(changed) or errors[changed[0]] > self.errors[changed[0]]:
            return False
        self.errors[changed[0] :] = errors[changed[0] :]
        return True
