"""The bounded step against an enumeration of all active sets, its optimality conditions, and the kernel."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from robokin_addon.robokin.backend.library import load_library
from robokin_addon.solvers.qp.bounded_step import bounded_step


def _random_case(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Rows fewer, as many or more than columns; zero-width, one-sided, infinite bounds, and boxes without zero."""
    J = rng.normal(size=(rng.integers(1, 2 * n + 1), n))
    H = J.T @ J + 10.0 ** rng.uniform(-6, 0) * np.eye(n)
    g = J.T @ rng.normal(size=len(J)) * 10.0 ** rng.uniform(-3, 2)
    lo, hi = -rng.exponential(0.3, n), rng.exponential(0.3, n)
    choice = rng.integers(6, size=n)
    lo[choice == 0], hi[choice == 1] = -np.inf, np.inf
    lo[choice == 2], hi[choice == 3] = 0.0, 0.0
    shift = np.where(choice == 4, rng.normal(size=n), 0.0)
    return H, g, lo + shift, hi + shift


def _optimality(H: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> float:
    """How far x is from the minimum: the length of x minus its projected gradient step, relative to the slope."""
    slope = H @ x - g
    return float(np.linalg.norm(x - np.clip(x - slope, lo, hi)) / max(1.0, np.linalg.norm(g)))


def test_equals_the_best_of_all_active_sets() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 5))
        H, g, lo, hi = _random_case(rng, n)
        best = np.inf
        for sides in itertools.product((0, -1, 1), repeat=n):
            side = np.array(sides)
            x = np.where(side < 0, lo, np.where(side > 0, hi, 0.0))
            if not np.isfinite(x).all():
                continue
            free = side == 0
            if free.any():
                x[free] = np.linalg.solve(H[np.ix_(free, free)], g[free] - H[np.ix_(free, ~free)] @ x[~free])
            if (x >= lo - 1e-12).all() and (x <= hi + 1e-12).all():
                best = min(best, 0.5 * x @ H @ x - g @ x)
        x, _ = bounded_step(H, g, lo, hi)
        assert 0.5 * x @ H @ x - g @ x == pytest.approx(best, rel=1e-9, abs=1e-12)


def test_random_steps_are_optimal_and_inside() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        H, g, lo, hi = _random_case(rng, int(rng.integers(1, 30)))
        x, side = bounded_step(H, g, lo, hi)
        assert (x >= lo).all() and (x <= hi).all()
        assert _optimality(H, g, lo, hi, x) < 1e-9
        assert (x[side < 0] == lo[side < 0]).all() and (x[side > 0] == hi[side > 0]).all()


def _native(H: np.ndarray, g: np.ndarray, lo: np.ndarray, hi: np.ndarray, fill: list[list[int]] | None = None):
    library = load_library()
    n = len(g)
    library.rk_bounded_step_workspace.restype = ctypes.c_int64
    x, side, work = np.empty(n), np.empty(n, np.int32), np.empty(library.rk_bounded_step_workspace(n))
    pattern = [None, None]
    if fill is not None:
        starts = np.cumsum([0, *map(len, fill)])
        pattern = [starts.astype(np.int32), np.array([column for own in fill for column in own], np.int32)]
    arrays = [np.tril(H), g, lo, hi, *pattern, work, x, side]
    library.rk_bounded_step(n, *(None if a is None else ctypes.c_void_p(a.ctypes.data) for a in arrays))
    return x, side


def test_kernel_equals_reference() -> None:
    rng = np.random.default_rng(2)
    for _ in range(400):
        case = _random_case(rng, int(rng.integers(1, 30)))
        (x, side), (expected, expected_side) = _native(*case), bounded_step(*case)
        np.testing.assert_array_equal(side, expected_side)
        np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)


def test_kernel_uses_the_branches_of_a_tree() -> None:
    """Columns of two branches behind a common stem: the same step, whether the zeros are known or not."""
    rng = np.random.default_rng(3)
    fill = [[], [0], [0, 1], [0, 1, 2], [0, 1], [0, 1, 4]]
    for _ in range(100):
        J = rng.normal(size=(8, 6))
        J[:4, 4:] = 0.0
        J[4:, 2:4] = 0.0
        H, g = J.T @ J + 1e-3 * np.eye(6), rng.normal(size=6)
        lo, hi = -rng.exponential(0.3, 6), rng.exponential(0.3, 6)
        np.testing.assert_allclose(_native(H, g, lo, hi, fill)[0], bounded_step(H, g, lo, hi)[0], rtol=1e-8, atol=1e-10)
