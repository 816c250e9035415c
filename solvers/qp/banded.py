"""Quadratic programs over a row of frames, each of which meets only those near it: a motion as a whole.

The unknowns are n numbers for each of F frames. A frame is coupled with the p before it, so that Newton's matrix is
block-banded and a step takes time linear in the frames.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from . import banded_reference, native_banded
from .banded_qp import BandedQP, LastUnknown
from .dense import QPStatus
from .sparse_rows import SparseRows

ITERATIONS = 100  # of the interior-point method, at most


@dataclass(frozen=True, eq=False)
class BandedQPResult:
    """x: (F, n); the minimum when OPTIMAL.   multipliers: (m,) positive where the upper side holds x back, negative
    where the lower one does: H x + g + C' multipliers = 0.   iterations: Newton steps.   last: the
    one more unknown."""

    status: QPStatus
    x: Array
    multipliers: Array
    iterations: int
    last: float = 0.0


def solve_banded_qp(
    H: Array,
    g: Array,
    rows: SparseRows,
    lower: Array,
    upper: Array,
    backend: str = "auto",
    guess: Array | None = None,
    last: LastUnknown | None = None,
) -> Generator[None, None, BandedQPResult | None]:
    """Yield after each factor; return x (F, n) that minimises 1/2 x'Hx + g'x with lower <= C x <= upper.

    H: (F, p + 1, n, n): H[k, s] couples frame k (rows) with frame k - s (columns); H[k, 0] is symmetric, blocks that
    reach before frame 0 do not count.   g: (F, n).   rows: C over the F n unknowns; no row reaches over more than p + 1
    frames.   lower, upper: (m,), infinite or equal.   guess: (m,) multipliers, whose sides are tried first.
    last: one more unknown, that meets all frames. Rows may
    depend on each other. H may be indefinite where equations and active sides hold x; None where Newton's matrix is not
    positive definite, so that x is no minimum.
    Raises TaskError for entries that are not numbers, BackendError.
    """
    if not (np.isfinite(H).all() and np.isfinite(g).all() and np.isfinite(rows.value).all()):
        raise TaskError("a quadratic program has entries that are not finite")
    if np.isnan(lower).any() or np.isnan(upper).any():
        raise TaskError("a quadratic program has bounds that are not numbers")
    known = np.zeros(len(rows)) if guess is None else guess
    solver = native_banded if get_backend(backend).name == "native" else banded_reference
    given = BandedQP(H, g, rows, lower, upper, last)
    status, x, multipliers, iterations = yield from solver.solve(given, ITERATIONS, known)
    if status == len(QPStatus):
        return None
    own = 0.0 if last is None else float(x[-1])
    return BandedQPResult(list(QPStatus)[status], x[: g.size].reshape(g.shape), multipliers, iterations, own)
