"""A banded quadratic program as it is given to a method."""

from __future__ import annotations

from dataclasses import dataclass

from ...robokin.arrays import Array
from .sparse_rows import SparseRows


@dataclass(frozen=True, eq=False)
class LastUnknown:
    """One more unknown, that meets all frames. border: (F, n) the column of H that couples it with the others, corner:
    its own entry, slope: its entry of g.   across: (m,) its column of C."""

    border: Array
    corner: float
    slope: float
    across: Array


@dataclass(frozen=True, eq=False)
class BandedQP:
    """Fields as the arguments of `solve_banded_qp`."""

    H: Array
    g: Array
    rows: SparseRows
    lower: Array
    upper: Array
    last: LastUnknown | None
