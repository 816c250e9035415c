"""What the kernel's differential step leads to."""

from __future__ import annotations

from typing import NamedTuple

from ...robokin.arrays import Array


class NativeResult(NamedTuple):
    """v: (nv,).   level_residuals: per level.   freedom: per level, what it leaves.   errors, residuals: of the native
    tasks (k, 2) before and after the step.   costs: of the native criteria.   active: indices of v at a limit.
    points: (levels + 1, nv) as in a HierarchyResult."""

    v: Array
    level_residuals: list[Array]
    freedom: list[int]
    errors: Array
    residuals: Array
    costs: list[float]
    active: list[int]
    points: Array
