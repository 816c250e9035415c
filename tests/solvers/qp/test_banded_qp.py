"""Banded quadratic programs against quadprog and Clarabel, and the kernel against its NumPy twin."""

from __future__ import annotations

import clarabel
import numpy as np
import pytest
from robokin_addon.robokin import TaskError
from robokin_addon.solvers.progress import finish
from robokin_addon.solvers.qp.banded import solve_banded_qp
from robokin_addon.solvers.qp.banded_qp import LastUnknown
from robokin_addon.solvers.qp.banded_reduced import FreeDirections
from robokin_addon.solvers.qp.dense import QPStatus
from robokin_addon.solvers.qp.sparse_rows import SparseRows
from scipy import sparse


def random_program(seed: int, degenerate: bool):
    """(H blocks, g, rows, lower, upper), and H and C dense. degenerate: rows twice, sides that just touch, a thin H."""
    rng = np.random.default_rng(seed)
    frames, n, band = int(rng.integers(4, 14)), int(rng.integers(1, 6)), int(rng.integers(0, 4))
    size, count = frames * n, int(rng.integers(1, 4))
    dense = (1e-3 if degenerate else 0.1) * np.eye(size)
    for k in range(frames):
        own = slice(max(0, k - band) * n, (k + 1) * n)
        part = rng.normal(size=(n * count, own.stop - own.start))
        part *= rng.random(part.shape) < (0.4 if degenerate else 1.0)
        dense[own, own] += part.T @ part
    H = np.zeros((frames, band + 1, n, n))
    for k in range(frames):
        for s in range(min(band, k) + 1):
            H[k, s] = dense[k * n : (k + 1) * n, (k - s) * n : (k - s + 1) * n]
    g = rng.normal(size=(frames, n)) * 10.0 ** rng.uniform(-2, 2)
    m, width = int(rng.integers(0, 2 * size)), (band + 1) * n
    first = rng.integers(0, max(frames - band, 1), size=m) * n
    blocks = rng.normal(size=(m, width)) * (rng.random((m, width)) < 0.5)
    blocks[:, size:] = 0.0
    C = np.zeros((m, size + width))
    for i in range(m):
        C[i, first[i] : first[i] + width] = blocks[i]
    C = C[:, :size]
    inside, kind = C @ rng.normal(size=size), rng.random(m)
    room = lambda: np.where(rng.random(m) < (0.6 if degenerate else 0.2), 0.0, rng.random(m))  # noqa: E731
    lower = np.where(kind < 0.4, inside - room(), -np.inf)
    upper = np.where((kind > 0.3) & (kind < 0.9), inside + room(), np.inf)
    lower, upper = np.where(kind >= 0.9, inside, lower), np.where(kind >= 0.9, inside, upper)
    if degenerate:
        for i in range(1, m, 5):
            first[i], blocks[i], C[i], lower[i], upper[i] = (
                first[i - 1],
                blocks[i - 1],
                C[i - 1],
                lower[i - 1],
                upper[i - 1],
            )
    return H, g, SparseRows.of(blocks, first, size), lower, upper, dense, C


def by_clarabel(dense, g, C, lower, upper):
    equal = lower == upper
    low, high = np.isfinite(lower) & ~equal, np.isfinite(upper) & ~equal
    A, b = np.vstack((C[equal], C[high], -C[low])), np.concatenate((lower[equal], upper[high], -lower[low]))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(len(b) - int(equal.sum()))]
    matrices = sparse.csc_matrix(np.triu(dense)), g.ravel(), sparse.csc_matrix(A), b
    return clarabel.DefaultSolver(*matrices, cones, settings).solve()


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize(("backend", "count"), [("native", 120), ("numpy", 12)])
def test_the_minimum_is_that_of_clarabel(backend, count, degenerate):
    compared = 0
    for seed in range(count):
        H, g, rows, lower, upper, dense, C = random_program(seed, degenerate)
        theirs = by_clarabel(dense, g, C, lower, upper)
        own = finish(solve_banded_qp(H, g, rows, lower, upper, backend))
        assert own is not None and own.status is QPStatus.OPTIMAL, seed
        x = own.x.ravel()
        force = dense @ x + g.ravel() + C.T @ own.multipliers
        assert abs(force).max() <= 1e-8 * max(1.0, abs(g).max(), abs(C.T @ own.multipliers).max(initial=0.0)), seed
        assert np.maximum(lower - C @ x, C @ x - upper).max(initial=0.0) <= 1e-8 * max(1.0, abs(x).max()), seed
        if str(theirs.status) == "Solved":
            compared += 1
            assert abs(x - theirs.x).max() <= 1e-8 * max(1.0, abs(x).max()), seed
    assert compared >= 0.8 * count


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_what_cannot_be_is_reported(backend):
    H, g = np.ones((3, 1, 1, 1)), np.zeros((3, 1))
    rows = SparseRows.of(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([0, 0]), 3)
    apart = finish(solve_banded_qp(H, g, rows, np.array([1.0, 2.0]), np.array([1.0, 2.0]), backend))
    assert apart is not None and apart.status is not QPStatus.OPTIMAL
    assert finish(solve_banded_qp(-H, g, rows, np.zeros(2), np.ones(2), backend)) is None
    with pytest.raises(TaskError, match="not finite"):
        finish(solve_banded_qp(H, g + np.nan, rows, np.zeros(2), np.ones(2), backend))


@pytest.mark.parametrize(("backend", "count"), [("native", 60), ("numpy", 6)])
def test_one_more_unknown_that_meets_all_frames(backend, count):
    compared = 0
    for seed in range(count):
        H, g, rows, lower, upper, dense, C = random_program(seed, False)
        rng = np.random.default_rng(seed)
        border, across = rng.normal(size=g.shape), rng.normal(size=len(rows)) * (rng.random(len(rows)) < 0.7)
        corner = float(border.ravel() @ np.linalg.solve(dense, border.ravel())) + 1.0
        last = LastUnknown(border, corner, float(rng.normal()), across)
        whole = np.block([[dense, border.reshape(-1, 1)], [border.reshape(1, -1), np.array([[corner]])]])
        wide, slopes = np.hstack((C, across[:, None])), np.append(g, last.slope)
        theirs = by_clarabel(whole, slopes, wide, lower, upper)
        own = finish(solve_banded_qp(H, g, rows, lower, upper, backend, last=last))
        if str(theirs.status) != "Solved":
            continue
        compared += 1
        assert own is not None and own.status is QPStatus.OPTIMAL, seed
        x = np.append(own.x, own.last)
        assert abs(x - theirs.x).max() <= 1e-8 * max(1.0, abs(x).max()), seed
        force = whole @ x + slopes + wide.T @ own.multipliers
        assert abs(force).max() <= 1e-8 * max(1.0, abs(wide.T @ own.multipliers).max(initial=0.0)), seed
    assert compared >= 0.8 * count


def test_a_side_that_is_far_away_loosens_no_other():
    H, g = np.ones((2, 1, 1, 1)), np.array([[1.0], [1.0]])
    rows = SparseRows.of(np.array([[1.0], [1.0], [1.0]]), np.array([0, 1, 1]), 2)
    for backend in ("native", "numpy"):
        sides = np.array([0.3, -1e12, -0.5]), np.array([0.3, 1e12, np.inf])
        own = finish(solve_banded_qp(H, g, rows, *sides, backend))
        assert own is not None and own.status is QPStatus.OPTIMAL
        assert abs(own.x.ravel() - [0.3, -0.5]).max() <= 1e-9


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_program_can_be_left_after_each_factor(backend):
    """So that one of many joints and frames holds up no window."""
    counted = 0
    for seed in range(6):
        H, g, rows, lower, upper, *_ = random_program(seed, False)
        looks = len(list(solve_banded_qp(H, g, rows, lower, upper, backend)))
        found = finish(solve_banded_qp(H, g, rows, lower, upper, backend))
        assert found is not None and looks >= found.iterations
        counted += found.iterations
    assert counted > 6


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_multipliers_that_cancel_excuse_no_gap(backend):
    """Two rows that leave each other no room: their multipliers grow without bound, as their sum does not."""
    H, g, rows, lower, upper, dense, C = random_program(1056, True)
    own = finish(solve_banded_qp(H, g, rows, lower, upper, backend))
    assert own is not None and own.status is QPStatus.OPTIMAL
    theirs = np.array(by_clarabel(dense, g, C, lower, upper).x)
    assert abs(own.x.ravel() - theirs).max() <= 1e-8 * max(1.0, abs(theirs).max())


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize(
    ("seed", "degenerate"), [(163, False), (163, True), (2224, True), (2324, True), (2897, True), (2946, True)]
)
def test_equations_that_nearly_follow_from_sides_are_met(backend, seed, degenerate):
    """They fall slowly while they give way; and a corrector that is taken whole goes round and round (2324)."""
    H, g, rows, lower, upper, dense, C = random_program(seed, degenerate)
    own = finish(solve_banded_qp(H, g, rows, lower, upper, backend))
    assert own is not None and own.status is QPStatus.OPTIMAL
    x, pushed = own.x.ravel(), C.T @ own.multipliers
    assert abs(dense @ x + g.ravel() + pushed).max() <= 1e-8 * max(1.0, abs(pushed).max())
    assert np.maximum(lower - C @ x, C @ x - upper).max() <= 1e-8 * max(1.0, abs(x).max())


@pytest.mark.parametrize(("backend", "count"), [("native", 120), ("numpy", 8)])
@pytest.mark.parametrize("times", [1e-9, 1e3, 1e6])
def test_a_gradient_of_any_size_leads_to_the_minimum(backend, count, times):
    """Larger than H by far it leads far away, where rows meet their sides to the rounding of what they add up."""
    for seed in range(count):
        H, g, rows, lower, upper, dense, C = random_program(seed, False)
        own = finish(solve_banded_qp(H, times * g, rows, lower, upper, backend))
        assert own is not None
        if own.status is QPStatus.OPTIMAL:
            x, pushed = own.x.ravel(), C.T @ own.multipliers
            size = max(times * abs(g).max(), abs(pushed).max(initial=0.0))
            assert abs(dense @ x + times * g.ravel() + pushed).max() <= 1e-8 * size, seed
            lack = np.maximum(lower - C @ x, C @ x - upper)
            assert (lack <= 1e-8 * (1.0 + abs(C) @ abs(x))).all(), seed
        else:  # Clarabel does not find it either
            assert str(by_clarabel(dense, times * g, C, lower, upper).status) != "Solved", seed


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_no_side_is_passed_for_a_minimum_that_is_nearer(backend):
    """Beside a minimum, with a tiny gradient: active sides that are tried and not right are passed, by 1e-8 here, where
    the point of the interior-point method keeps all and its multipliers are rougher."""
    H, g, rows, lower, upper, _, C = random_program(2719, True)
    there = finish(solve_banded_qp(H, g, rows, lower, upper, backend))
    sides = np.minimum(lower - C @ there.x.ravel(), 0.0), np.maximum(upper - C @ there.x.ravel(), 0.0)
    is_equal = lower == upper
    low, high = (np.where(is_equal, 0.0, side) for side in sides)
    tiny = 1e-8 * np.random.default_rng(2719).normal(size=g.shape)
    found = finish(solve_banded_qp(H, tiny, rows, low, high, backend))
    Cx = C @ found.x.ravel()
    assert np.maximum(low - Cx, Cx - high).max() <= 2e-9


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize(("seed", "degenerate"), [(795, False), (310, False), (17, True), (974, True), (664, True)])
def test_sides_that_are_steep_end_no_method_before_its_time(backend, seed, degenerate):
    """A gradient of 1e6 times H presses hard on sides: Newton's matrix needs more to stay definite to rounding."""
    H, g, rows, lower, upper, dense, C = random_program(seed, degenerate)
    own = finish(solve_banded_qp(H, 1e6 * g, rows, lower, upper, backend))
    assert own is not None and own.status is QPStatus.OPTIMAL
    x, pushed = own.x.ravel(), C.T @ own.multipliers
    assert abs(dense @ x + 1e6 * g.ravel() + pushed).max() <= 1e-8 * abs(pushed).max()
    assert (np.maximum(lower - C @ x, C @ x - upper) <= 1e-8 * (1.0 + abs(C) @ abs(x))).all()


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_equations_of_one_frame_come_true_to_rounding(backend):
    """They are solved for: that they are in each other's way, or in that of sides, takes none of it."""
    rng = np.random.default_rng(5)
    frames, n = 12, 4
    part = rng.normal(size=(frames * n, frames * n))
    dense = part.T @ part * (abs(np.subtract.outer(np.arange(frames * n) // n, np.arange(frames * n) // n)) <= 1)
    dense += frames * n * np.eye(frames * n)
    H = np.zeros((frames, 2, n, n))
    for k in range(frames):
        for s in range(min(1, k) + 1):
            H[k, s] = dense[k * n : (k + 1) * n, (k - s) * n : (k - s + 1) * n]
    A = rng.normal(size=(frames, 3, n))
    A[::2, 2] = A[::2, 0] - 2.0 * A[::2, 1]  # what follows from others
    b = np.einsum("kij,kj->ki", A, rng.uniform(-0.4, 0.4, (frames, n)))
    equations = SparseRows.of(A.reshape(-1, n), np.repeat(np.arange(frames) * n, 3), frames * n)
    bounds = SparseRows.of(np.ones((frames * n, 1)), np.arange(frames * n), frames * n)
    lower, upper = (np.append(b.ravel(), np.full(frames * n, side)) for side in (-0.4, 0.4))
    g = 30.0 * rng.normal(size=(frames, n))
    own = finish(solve_banded_qp(H, g, SparseRows.joined([equations, bounds]), lower, upper, backend))
    assert own is not None and own.status is QPStatus.OPTIMAL
    C = np.vstack([np.zeros((3 * frames, frames * n)), np.eye(frames * n)])
    for i in range(3 * frames):
        C[i, i // 3 * n : (i // 3 + 1) * n] = A[i // 3, i % 3]
    x = own.x.ravel()
    assert abs(C @ x - lower)[: 3 * frames].max() <= 1e-14
    assert abs(dense @ x + g.ravel() + C.T @ own.multipliers).max() <= 1e-9
    assert (np.isclose(abs(x), 0.4)).sum() > 3
    assert abs(x - by_clarabel(dense, g, C, lower, upper).x).max() <= 1e-8


def test_equations_of_one_frame_take_what_they_say_and_leave_the_rest():
    """Of three in the first frame one follows from the others; that of two frames takes nothing."""
    A = np.array([[0.6, 0.8, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0], [0.6, 2.0, 1.6, 0.0]])
    A[2] /= np.linalg.norm(A[2])
    one = SparseRows.of(A, np.zeros(3, int), 8)
    two = SparseRows.of(np.array([[0.0, 0.0, 0.0, 0.6, 0.8]]), np.zeros(1, int), 8)
    sides = np.append(A @ (0.1, -0.2, 0.3, 0.0), 0.1)
    free = FreeDirections(SparseRows.joined([one, two]), sides, sides, np.zeros(4), (2, 4))
    assert free.solved.tolist() == [True, True, False, False] and free.taken.sum(axis=1).tolist() == [2, 0]
    np.testing.assert_allclose(A @ free.origin[0], sides[:3], atol=1e-15)
    np.testing.assert_allclose(A @ free.Z[0], 0.0, atol=1e-15)
    np.testing.assert_allclose(free.Z[0].T @ free.Z[0], np.diag([0.0, 0.0, 1.0, 1.0]), atol=1e-15)
    np.testing.assert_array_equal(free.Z[1], np.eye(4))


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize(("seed", "degenerate"), [(183, False), (923, True)])
def test_sides_that_a_tiny_gradient_does_not_tell_of_are_come_to_in_few_steps(backend, seed, degenerate):
    """What is to push there begins as large as the way is long: a hundred short steps led nowhere."""
    H, g, rows, lower, upper, dense, C = random_program(seed, degenerate)
    own = finish(solve_banded_qp(H, 1e-9 * g, rows, lower, upper, backend))
    assert own is not None and own.status is QPStatus.OPTIMAL and own.iterations <= 20
    theirs = np.array(by_clarabel(dense, 1e-9 * g, C, lower, upper).x)
    assert abs(own.x.ravel() - theirs).max() <= 1e-8 * max(1.0, abs(theirs).max())
