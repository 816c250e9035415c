"""Random quadratic programs, some degenerate and some infeasible, and what says that one is solved."""

from __future__ import annotations

import numpy as np
from robokin_addon.solvers.qp.dense import QPResult

Program = tuple[np.ndarray, ...]


def random_program(seed: int) -> Program:
    """H, g, lo, hi, C, lower, upper; one- and two-sided, equal and infinite sides."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    m = int(rng.integers(0, 2 * n + 1))
    F = rng.normal(size=(n, n))
    H = F @ F.T * 10.0 ** rng.uniform(-2, 2) + 10.0 ** rng.uniform(-4, 0) * np.eye(n)
    g = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2)
    C, inside = rng.normal(size=(m, n)), rng.normal(size=n)
    lo, hi = inside - _room(rng, n), inside + _room(rng, n)
    lo[rng.random(n) < 0.3], hi[rng.random(n) < 0.3] = -np.inf, np.inf
    if seed % 3 == 1:  # copies and sums of the first rows, and rows of zeros
        C[m // 2 :] = rng.integers(-1, 2, size=(m - m // 2, m // 2)) @ C[: m // 2]
    values = C @ inside
    lower, upper = values - _room(rng, m), values + _room(rng, m)
    equal = rng.random(m) < 0.2
    lower[equal] = upper[equal] = values[equal]
    lower[(rng.random(m) < 0.4) & ~equal] = -np.inf
    upper[(rng.random(m) < 0.3) & ~equal] = np.inf
    if seed % 3 == 2:
        shift = rng.normal(size=m) * rng.choice([0, 1, 3], m)
        lower, upper = lower + shift, upper + shift
    return H, g, lo, hi, C, lower, upper


def _room(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.exponential(1.0, size) * rng.choice([0, 1], size, p=[0.3, 0.7])


def optimality(program: Program, result: QPResult) -> float:
    """The largest of: slope left over, constraint violated, multiplier of a side that is not touched; relative."""
    H, g, lo, hi, C, lower, upper = program
    x = result.x
    size = max(1.0, abs(g).max(), abs(H @ x).max())
    slope = H @ x + g + result.bound_multipliers + C.T @ result.row_multipliers
    values, low, high = np.concatenate((x, C @ x)), np.concatenate((lo, lower)), np.concatenate((hi, upper))
    u = np.concatenate((result.bound_multipliers, result.row_multipliers))
    away = np.where(u > 0.0, high - values, np.where(u < 0.0, values - low, 0.0))
    loose = np.where(u != 0.0, np.where(np.isfinite(away), away, 1e9) * abs(u), 0.0)
    violated = max(0.0, (low - values).max(), (values - high).max())
    return float(max(abs(slope).max() / size, violated, abs(loose).max() / size))
