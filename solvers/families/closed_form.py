"""Every posture of a pose in closed form, where the joints that move the tip belong to a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import so3
from ..tasks import FrameTask, Task
from ..tasks.tips.frame import FrameKind, is_plain_task
from .chain import chain_of, placement
from .family import Family, FamilyKind
from .names import BranchNames
from .native import NativePostures
from .recognition import recognise
from .reference import ReferencePostures

LABELS = {
    FamilyKind.SPHERICAL_WRIST: "spherical wrist",
    FamilyKind.THREE_PARALLEL: "three parallel axes",
    FamilyKind.SPHERICAL_BOTH: "spherical shoulder and wrist",
    FamilyKind.PLANAR: "planar",
    FamilyKind.GANTRY: "gantry",
}
ROUNDING = 1e-11  # [sizes of the chain, rad]


class ClosedForm:
    """A task on the pose of a tip, or on its position alone (`oriented` is False), of a robot with nq coordinates.

    names: of branches, from their bits.   Raises BackendError.
    """

    def __init__(self, family: Family, task: FrameTask, oriented: bool, nq: int, backend: str) -> None:
        self.family, self.names = family, BranchNames(family)
        # No finer than rounding is.
        position = max(task.position_tolerance, ROUNDING * family.chain.size)
        orientation = max(task.orientation_tolerance, ROUNDING) if oriented else np.inf
        self._is_all = np.array_equal(family.chain.q_index, np.arange(nq))
        self._tolerance, chain = (position, orientation), family.chain
        kind: Any = ReferencePostures if backend == "numpy" else NativePostures
        self._solver = kind(family, oriented, self._tolerance)
        slack = np.where(chain.slides, position, min(position / chain.size, orientation))
        wide = replace(chain, lower=chain.lower - slack, upper=chain.upper + slack)
        self._wide = kind(replace(family, chain=wide), oriented, self._tolerance)

    @property
    def label(self) -> str:
        is_scara = self.family.kind is FamilyKind.PLANAR and self.family.chain.slides.any()
        return "SCARA" if is_scara else LABELS[self.family.kind]

    def postures(self, goals: Array, starts: Array, threads: int | None = None) -> tuple[Array, Array, Array]:
        """All postures of b targets (b, 4, 4), from starts (b, nq) inside the limits: q (b, POSTURES, nq), the nearest
        to its start first and NaN behind the last one, branch (b, POSTURES), and found (b, 2): how many, and bits of
        `SearchFlag`.

        Coordinates that do not move the tip are the start's.
        """
        index = self.family.chain.q_index
        own, branch, found = self._solver.postures(goals, starts[:, index], threads)
        missed = np.flatnonzero(found[:, 0] == 0)
        if len(missed):
            self._put_to_limits(missed, goals, starts[:, index], (own, branch, found))
        if self._is_all:
            return own, branch, found
        q = np.where(np.isnan(own[:, :, :1]), np.nan, starts[:, None])
        q[:, :, index] = own
        return q, branch, found

    def _put_to_limits(self, missed: Array, goals: Array, starts: Array, into: tuple[Array, Array, Array]) -> None:
        """Store, of missed targets, the postures at limits which meet them within the tolerance: those that
        rounding has put a little beyond."""
        lower, upper = self.family.chain.lower, self.family.chain.upper
        beyond, bits, counts = self._wide.postures(goals[missed], starts[missed])
        for i, own, branch, count in zip(missed, beyond, bits, counts[:, 0], strict=True):
            at_limits = np.clip(own[:count], lower, upper)
            kept = [k for k, x in enumerate(at_limits) if self._is_met(x, goals[i])]
            into[0][i, : len(kept)], into[1][i, : len(kept)] = at_limits[kept], branch[kept]
            into[2][i, 0] = len(kept)

    def _is_met(self, x: Array, goal: Array) -> bool:
        there = placement(self.family.chain, x)
        position, orientation = self._tolerance
        is_there = np.linalg.norm(goal[:3, 3] - self.family.chain.centre - there[:3, 3]) <= position
        turned = np.linalg.norm(so3.log(goal[:3, :3] @ there[:3, :3].T)) if orientation < np.inf else 0.0
        return bool(is_there and turned <= orientation)

    def nearest(self, target: Array, start: Array) -> Array | None:
        """(nq,) the posture nearest to a start (nq,) inside the limits; None when there is none at all."""
        q, _, found = self.postures(target[None], start[None])
        return q[0, 0] if found[0, 0] else None


def closed_form(model: RobotModel, tasks: Sequence[Task], limits: PositionLimits, backend: str) -> ClosedForm | None:
    """The closed form of these tasks: one of influence 1 on a whole pose, or on the position that is all the chain can
    choose. None when there is none. Raises UnknownNameError, BackendError."""
    task = tasks[0]
    if len(tasks) > 1 or not is_plain_task(task) or task.influence != 1.0:
        return None
    if task.record_kind is not FrameKind.POSE or not task.position_weights.all():
        return None
    oriented = bool(task.orientation_weights.any())
    if oriented and not task.orientation_weights.all():
        return None
    chain = chain_of(model, task.link, task.offset, limits)
    if chain is None or (chain.lower == chain.upper).any():  # what the other joints do alone is of another form
        return None
    family = recognise(chain, oriented)
    return None if family is None else ClosedForm(family, task, oriented, model.nq, backend)
