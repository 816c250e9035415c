"""One more unknown of a banded program, that meets all its frames."""

from __future__ import annotations

from dataclasses import dataclass

from ...robokin.arrays import Array


@dataclass(frozen=True, eq=False)
class LastUnknown:
    """border: (F, n) the column of H that couples it with the others, corner: its own entry, slope: its entry of g.
    across: (m,) its column of C."""

    border: Array
    corner: float
    slope: float
    across: Array
