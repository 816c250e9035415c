"""The hierarchy: levels that do not see those below, optimal levels, and bounds that always hold."""

from __future__ import annotations

import ctypes

import daqp
import numpy as np
import pytest
from robokin_addon.robokin.backend.library import load_library, pointer
from robokin_addon.solvers.qp.hierarchy import solve_hierarchy
from robokin_addon.solvers.qp.level import Level, kept_level
from robokin_addon.solvers.qp.native_hierarchy import LevelsStruct
from support.problems.hierarchies import cost, least_cost, random_hierarchy


def _fixed(level: Level, residual: np.ndarray) -> np.ndarray:
    """Rows that levels below must not change: equalities, and bands that are violated."""
    return (level.lower == level.upper) | (abs(residual) > 1e-8)


def test_kernel_equals_reference() -> None:
    """Field by field; of nearly dependent rows a difference counts in the digits that they have."""
    for nearly, tolerance in ((False, 1e-9), (True, 1e-5)):
        for seed in range(150):
            case = random_hierarchy(seed, nearly)
            native, numpy = (solve_hierarchy(*case, backend=backend) for backend in ("native", "numpy"))
            size = tolerance * max(1.0, abs(numpy.x).max())
            assert native.freedom == numpy.freedom, (seed, nearly)
            np.testing.assert_allclose(native.x, numpy.x, rtol=0, atol=size, err_msg=str((seed, nearly)))
            for own, other in zip(native.residuals, numpy.residuals, strict=True):
                np.testing.assert_allclose(own, other, rtol=0, atol=10 * size, err_msg=str((seed, nearly)))


def test_rows_before_the_first_level_have_no_say_whatever_the_workspace_holds() -> None:
    """A search for an optimum has such rows: x0 in 0 .. 0.1 is nobody's wish, x0 = 0.5 is."""
    library, lo, hi, x = load_library(), np.full(2, -1.0), np.ones(2), np.zeros(2)
    rows = np.array([1, 2], np.int32), np.eye(1, 2).repeat(2, axis=0), np.array([0.0, 0.5]), np.array([0.1, 0.5])
    damping, residuals, freedom = np.zeros(1), np.zeros(2), np.zeros(2, np.int32)
    levels = LevelsStruct(1, *(array.ctypes.data for array in (*rows, damping)))
    work = np.full(library.rk_hierarchy_workspace(2, 2), -1, np.int64).view(np.float64)
    bounds, results = map(pointer, (lo, hi)), (pointer(each) for each in (residuals, freedom))
    assert library.rk_hierarchy(2, *bounds, ctypes.byref(levels), None, None, pointer(work), pointer(x), None, *results)
    np.testing.assert_allclose(x, [0.5, 0.0], atol=1e-15)


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_no_level_sees_those_below(first: int) -> None:
    bounded = 0
    for seed in range(first, first + 100):
        lo, hi, levels, H, g = random_hierarchy(seed)
        whole = solve_hierarchy(lo, hi, levels, H, g)
        assert (whole.x >= lo).all() and (whole.x <= hi).all(), seed
        bounded += bool(((whole.x == lo) | (whole.x == hi))[lo < hi].any())
        for k, level in enumerate(levels):
            n = len(lo)
            alone = solve_hierarchy(lo, hi, levels[: k + 1], np.eye(n), np.zeros(n))
            rows = _fixed(level, alone.residuals[k])
            size = max(1.0, abs(whole.x).max())
            assert abs(level.J[rows] @ (whole.x - alone.x)).max(initial=0.0) <= 1e-9 * size, (seed, k)
            np.testing.assert_allclose(whole.residuals[k], alone.residuals[k], atol=1e-8 * size, err_msg=str((seed, k)))
    assert bounded > 50


def _lopsided_bands(seed: int) -> tuple[np.ndarray, list[Level]]:
    """Equations, bands of weights up to 10^12 apart that are far away, and equations below them, which leave out half
    of the coordinates."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))

    def rows(least: int, most: int, share: float = 0.5) -> np.ndarray:
        return rng.normal(size=(int(rng.integers(least, most)), n)) * (rng.random(n) < share)

    J = rows(2, 4, 1.0)
    near = J @ rng.normal(0.0, 0.3, n)
    levels = [Level(J, near, near)]
    for _ in range(2):
        size = 10.0 ** rng.uniform(-6, 6)
        J = rows(1, 3)
        wanted = 10.0 ** rng.uniform(-1, 3) * rng.normal(size=len(J))
        levels.append(Level(size * J, size * (wanted - 0.1), size * (wanted + 0.1)))
    wanted = rng.normal(size=3)
    levels.append(Level(rows(3, 4), wanted, wanted))
    return 10.0 ** rng.uniform(-2, 0.5, n), levels


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_no_level_sees_those_below_bands_of_any_weight(backend: str) -> None:
    """Where a band is far away, rounding pushes on bounds that it does not need."""
    for seed in (6, 64, 67, 195, 228, 243, 321, 331):
        most, levels = _lopsided_bands(seed)
        n = len(most)
        objective = np.eye(n), np.zeros(n)
        whole = solve_hierarchy(-most, most, levels, *objective, backend)
        for k, level in enumerate(levels[:-1]):
            alone = solve_hierarchy(-most, most, levels[: k + 1], *objective, backend)
            size = np.maximum(np.linalg.norm(level.J, axis=1), 1e-300)
            assert (abs(whole.residuals[k] - alone.residuals[k]) <= 1e-9 * size).all(), (seed, k)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_hierarchy_goes_on_from_the_point_of_any_level(backend: str) -> None:
    """What a level got is told bit by bit as without those below it, and held when the rest is solved from there."""
    for seed in range(150 if backend == "native" else 40):
        lo, hi, levels, H, g = random_hierarchy(seed, nearly=False)
        n = len(lo)
        whole = solve_hierarchy(lo, hi, levels, H, g, backend)
        np.testing.assert_array_equal(whole.points[-1], whole.x)
        for k, point in enumerate(whole.points[:-1]):
            alone = solve_hierarchy(lo, hi, levels[: k + 1], np.eye(n), np.zeros(n), backend)
            np.testing.assert_array_equal(alone.points[k], point)
            kept = [kept_level(level, point) for level in levels[: k + 1]]
            on = solve_hierarchy(lo, hi, [*kept, *levels[k + 1 :]], H, g, backend, point)
            np.testing.assert_allclose(on.points[k], point, rtol=0, atol=1e-12, err_msg=str((seed, k)))
            np.testing.assert_allclose(
                on.x, whole.x, rtol=0, atol=1e-7 * max(1.0, abs(point).max()), err_msg=str((seed, k))
            )


def test_first_level_is_the_bounded_least_squares_of_daqp() -> None:
    checked = 0
    for seed in range(300):
        lo, hi, levels, _, _ = random_hierarchy(seed, nearly=False)
        level = levels[0]
        equal = level.lower == level.upper
        if not (equal.all() and len(level.J) and np.isfinite(lo).all() and np.isfinite(hi).all()):
            continue
        n = len(lo)
        own = solve_hierarchy(lo, hi, [level], np.eye(n), np.zeros(n))
        damping = max(level.damping, 1e-10)
        x = daqp.solve(
            level.J.T @ level.J + damping * np.eye(n), -level.J.T @ level.lower, np.zeros((0, n)), hi, lo,
            np.where(lo == hi, 5, 0).astype(np.int32),
        )[0]  # fmt: skip
        if level.damping == 0.0:
            best = np.linalg.norm(level.J @ np.clip(x, lo, hi) - level.lower)
            assert np.linalg.norm(own.residuals[0]) <= best + 1e-7, seed
        checked += 1
    assert checked > 30


def _check_every_level(seeds: range) -> None:
    """Each level costs no more than daqp or quadprog find, when the levels above keep what they have: those take the
    same values for bands a little wide, which counts the more the more a level asks for. And the backends agree."""
    for seed in seeds:
        lo, hi, levels, H, g = random_hierarchy(seed, nearly=False)
        n = len(lo)
        for k, level in enumerate(levels):
            x = solve_hierarchy(lo, hi, levels[: k + 1], np.eye(n), np.zeros(n), "native").x
            assert (x >= lo).all() and (x <= hi).all(), (seed, k)
            least = least_cost(lo, hi, levels[:k], level, x)
            assert np.isfinite(least), (seed, k)
            assert cost(level, x) <= least + 1e-5 * max(1.0, least), (seed, k)
        native, numpy = (solve_hierarchy(lo, hi, levels, H, g, backend) for backend in ("native", "numpy"))
        assert native.freedom == numpy.freedom, seed
        np.testing.assert_allclose(
            native.x, numpy.x, rtol=0, atol=1e-9 * max(1.0, abs(numpy.x).max()), err_msg=str(seed)
        )


def test_every_level_is_the_best_that_those_above_leave() -> None:
    _check_every_level(range(150))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10_000, 2500))
def test_every_level_of_ten_thousand_hierarchies(first: int) -> None:
    _check_every_level(range(first, first + 2500))


def test_what_is_left_minimises_the_objective() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        n = 7
        J, b, F, g = rng.normal(size=(3, n)), rng.normal(size=3) * 0.2, rng.normal(size=(n, n)), rng.normal(size=n)
        H = F @ F.T + 0.1 * np.eye(n)
        lo, hi = -rng.uniform(0.3, 1.0, n), rng.uniform(0.3, 1.0, n)
        own = solve_hierarchy(lo, hi, [Level(J, b, b)], H, g)
        value = J @ own.x
        x = daqp.solve(
            H, g, J, np.concatenate((hi, value)), np.concatenate((lo, value)), np.array([0] * n + [5] * 3, np.int32)
        )[0]
        np.testing.assert_allclose(own.x, x, atol=1e-7)
    free = solve_hierarchy(np.full(n, -np.inf), np.full(n, np.inf), [], H, g)
    np.testing.assert_allclose(free.x, -np.linalg.solve(H, g), rtol=1e-9)


def test_bands_hold_still_what_is_inside_them() -> None:
    """A met band stays met, a violated one is as near as it can be, and both let the rest move."""
    eye, inf = np.eye(3), np.inf
    band = Level(eye[:2], np.array([-0.1, 2.0]), np.array([0.1, inf]))
    wish = Level(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    result = solve_hierarchy(-np.ones(3), np.ones(3), [band, wish], eye, np.zeros(3))
    np.testing.assert_allclose(result.x, [0.1, 1.0, -1.0], atol=1e-9)
    np.testing.assert_allclose(result.residuals[0], [0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(result.residuals[1], [0.9, 0.0], atol=1e-9)
    assert result.freedom == [3, 2, 0]


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_short_band_that_can_be_met_leaves_what_is_inside_it(backend: str) -> None:
    """Of several turned together, where the level reaches its edge but for what regularization leaves."""
    most, wide = np.full(4, 10.0), np.inf
    turned, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(4, 4)))
    for short in (1.0, 0.1, 0.01):
        above = Level(np.array([turned[0], short * turned[1]]), np.array([0.5, 2.0 * short]), np.array([wide, wide]))
        below = Level(turned[1:2], np.array([3.0]), np.array([3.0]))
        found = solve_hierarchy(-most, most, [above, below], np.eye(4), np.zeros(4), backend)
        assert (above.J @ found.x >= above.lower * (1.0 - 1e-6)).all()
        np.testing.assert_allclose(turned[1] @ found.x, 3.0, atol=1e-6)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_bounds_that_a_level_needs_are_held(backend: str) -> None:
    """Nothing in the box is as near to x0 + x1 = 4 as x0 = x1 = 1, so x2 is all that is left."""
    box, eye = np.ones(3), np.eye(3)
    sum_of_two = np.array([[1.0, 1.0, 0.0]])
    wish = Level(eye, np.array([-1.0, 1.0, 0.5]), np.array([-1.0, 1.0, 0.5]))
    for value, x, freedom in ((4.0, [1.0, 1.0, 0.5], [3, 1, 0]), (1.0, [0.0, 1.0, 0.5], [3, 2, 0])):
        level = Level(sum_of_two, np.array([value]), np.array([value]))
        found = solve_hierarchy(-box, box, [level, wish], eye, np.zeros(3), backend)
        np.testing.assert_allclose(found.x, x, atol=1e-9)
        assert found.freedom == freedom
    above = Level(sum_of_two, np.array([-np.inf]), np.array([1.0]))
    pull = Level(np.array([[1.0, 1.0, 1.0]]), np.array([9.0]), np.array([9.0]))
    found = solve_hierarchy(-box, box, [above, pull, wish], eye, np.zeros(3), backend)
    np.testing.assert_allclose(found.x, [0.0, 1.0, 1.0], atol=1e-9)
    assert found.freedom == [3, 3, 1, 0]


def test_directions_that_hardly_move_the_task_are_held_still() -> None:
    """Almost singular rows ask for no speed, and levels below may not use the direction."""
    J = np.array([[1.0, 0.0], [1.0, 1e-8]])
    level = Level(J, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    below = Level(np.array([[0.0, 1.0]]), np.array([0.5]), np.array([0.5]))
    result = solve_hierarchy(-np.full(2, 10.0), np.full(2, 10.0), [level, below], np.eye(2), np.zeros(2))
    np.testing.assert_allclose(result.x, [0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_an_objective_that_sees_nothing_of_what_is_left_moves_nothing(backend: str) -> None:
    """Of the objective only its rounding is left, which has any sign."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, seen = 12, int(rng.integers(1, 12))
        F = rng.normal(size=(n, seen)) * 10.0 ** rng.uniform(-1, 3)
        b = rng.normal(size=seen)
        free = np.full(n, np.inf)
        level = Level(F.T / np.linalg.norm(F), b, b)
        found = solve_hierarchy(-free, free, [level], F @ F.T, np.zeros(n), backend)
        np.testing.assert_allclose(level.J @ found.x, b, atol=1e-9 * np.linalg.norm(b))
        np.testing.assert_allclose(found.x, np.linalg.pinv(level.J) @ b, atol=1e-2 * np.linalg.norm(found.x))


def test_bands_that_no_step_leaves_have_no_part_in_the_other_levels() -> None:
    """As of the clearance of a robot that is near to nothing: the same digits as without them, so they cost little."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n, most = 40, np.full(40, 0.1)
        J = rng.normal(size=(6, n)) * (np.arange(n) < 12)
        level, H, g = Level(J, np.ones(6), np.ones(6)), np.eye(n), np.zeros(n)
        bands = Level(rng.normal(size=(16, n)), np.full(16, -100.0), np.full(16, np.inf))
        with_them, without = (solve_hierarchy(-most, most, own, H, g, "native").x for own in ([bands, level], [level]))
        np.testing.assert_array_equal(with_them, without)
