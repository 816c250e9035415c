"""Random hierarchies, degenerate and infeasible ones among them."""

from __future__ import annotations

import daqp
import numpy as np
import quadprog
from robokin_addon.solvers.qp.level import Level

Hierarchy = tuple[np.ndarray, np.ndarray, list[Level], np.ndarray, np.ndarray]


def random_hierarchy(seed: int, nearly: bool = True) -> Hierarchy:
    """lo, hi, levels, H, g. Up to four levels: equalities and bands, dependent rows within and between levels, zero
    rows, damping, fixed and free coordinates, boxes without zero. `nearly`: rows that are nearly dependent too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    lo, hi = -np.minimum(rng.exponential(0.5, n), 3.0), np.minimum(rng.exponential(0.5, n), 3.0)
    choice = rng.random(n)
    far = np.inf if rng.random() < 0.3 else 3.0
    lo[choice < 0.3], hi[(choice > 0.2) & (choice < 0.5)] = -far, far
    lo[choice > 0.9] = hi[choice > 0.9] = 0.0
    shift = (rng.random(n) < 0.1) * rng.normal(size=n)
    levels: list[Level] = []
    above = rng.normal(size=n)
    for _ in range(int(rng.integers(1, 5))):
        m = int(rng.integers(0, 7))
        J = rng.normal(size=(m, n))
        if m and rng.random() < 0.4:
            J[-1] = J[0] * rng.normal()
        if m and rng.random() < 0.4:
            J[0] = above + (rng.choice([0.0, 1e-4]) * rng.normal(size=n) if nearly else 0.0)
        if m > 1 and rng.random() < 0.2:
            J[1] = J[0] + (10.0 ** rng.uniform(-9, -2) * rng.normal(size=n) if nearly else 0.0)
        if m and rng.random() < 0.1:
            J[rng.integers(m)] = 0.0
        b = rng.normal(size=m) * 10.0 ** rng.uniform(-2, 0.5)
        width = rng.exponential(0.3, m) * (rng.random(m) < 0.4)
        lower = np.where((width > 0.0) & (rng.random(m) < 0.5), -np.inf, b - width)
        levels.append(Level(J, lower, b + width, float(rng.choice([0.0, 0.0, 1e-4, 1e-2]))))
        above = J[0] if m else above
    F = rng.normal(size=(n, n))
    return lo + shift, hi + shift, levels, F @ F.T + 0.1 * np.eye(n), rng.normal(size=n)


def cost(level: Level, x: np.ndarray) -> float:
    """What a level minimises."""
    values = level.J @ x
    residual = np.clip(values, level.lower, level.upper) - values
    return 0.5 * float(residual @ residual + level.damping * (x @ x))


def least_cost(lo: np.ndarray, hi: np.ndarray, above: list[Level], level: Level, x: np.ndarray) -> float:
    """By daqp or quadprog, infinite when neither can: of a level, when the rows above keep the values that they have
    at x, or stay inside their bands."""
    n, m = len(lo), len(level.J)
    rows, lower, upper = [level.J], [level.lower], [level.upper]
    for each in above:
        values = each.J @ x
        free = (each.lower < values - 1e-7) & (values + 1e-7 < each.upper)
        rows.append(each.J)
        lower.append(np.where(free, each.lower, values - 1e-9))
        upper.append(np.where(free, each.upper, values + 1e-9))
    A = np.vstack(rows)
    A = np.hstack((A, np.vstack((np.eye(m), np.zeros((len(A) - m, m))))))
    H = np.diag(np.concatenate((np.full(n, max(level.damping, 1e-10)), np.ones(m))))
    big = np.full(m, 1e30)
    high = np.concatenate((np.minimum(hi, 1e30), big, *upper))
    low = np.concatenate((np.maximum(lo, -1e30), -big, *lower))
    kind = np.where(low == high, 5, 0).astype(np.int32)
    found, _, flag, _ = daqp.solve(H, np.zeros(n + m), np.ascontiguousarray(A), high, low, kind)
    if flag <= 0:  # it takes narrow bands for infeasible at times
        found = _by_quadprog(H, np.vstack((np.eye(n + m), A)), low, high)
    return np.inf if found is None else cost(level, np.clip(found[:n], lo, hi))


def _by_quadprog(H: np.ndarray, rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
    equal, far = low == high, 1e29
    below, above = (low > -far) & ~equal, (high < far) & ~equal
    normals = np.vstack((rows[equal], rows[below], -rows[above]))
    sides = np.concatenate((low[equal], low[below], -high[above]))
    try:
        return quadprog.solve_qp(H, np.zeros(len(H)), normals.T.copy(), sides, int(equal.sum()))[0]
    except ValueError:
        return None
