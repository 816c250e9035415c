"""The quadratic program against daqp, quadprog and its own optimality conditions."""

from __future__ import annotations

import daqp
import numpy as np
import pytest
import quadprog
from robokin_addon.robokin import TaskError
from robokin_addon.solvers.qp.dense import QPResult, QPStatus, solve_qp
from support.oracles.quadratic_programs import Program, optimality, random_program


def _daqp(program: Program) -> tuple[bool, float]:
    H, g, lo, hi, C, lower, upper = program
    low, high = np.concatenate((lo, lower)), np.concatenate((hi, upper))
    kind = np.where(low == high, 5, 0).astype(np.int32)
    big = 1e30
    _, cost, flag, _ = daqp.solve(
        H, g, np.ascontiguousarray(C), np.clip(high, -big, big), np.clip(low, -big, big), kind
    )
    return flag > 0, cost


def _quadprog(program: Program) -> tuple[bool, float]:
    """Takes dependent rows for infeasible ones at times: only its solutions count, not its refusals."""
    H, g, lo, hi, C, lower, upper = program
    rows = np.vstack((np.eye(len(g)), C))
    low, high = np.concatenate((lo, lower)), np.concatenate((hi, upper))
    equal = low == high
    below, above = np.isfinite(low) & ~equal, np.isfinite(high) & ~equal
    normals = np.vstack((rows[equal], rows[below], -rows[above]))
    sides = np.concatenate((low[equal], low[below], -high[above]))
    if not len(sides):
        return True, quadprog.solve_qp(H, -g)[1]
    try:
        return True, quadprog.solve_qp(H, -g, normals.T.copy(), sides, int(equal.sum()))[1]
    except ValueError:
        return False, np.nan


def _check(seeds: range, backend: str) -> dict[QPStatus, int]:
    counts = dict.fromkeys(QPStatus, 0)
    for seed in seeds:
        program = random_program(seed)
        result = solve_qp(*program, backend=backend)
        counts[result.status] += 1
        assert np.isfinite(result.x).all(), seed
        is_optimal = result.status is QPStatus.OPTIMAL
        H, g = program[:2]
        cost = 0.5 * result.x @ H @ result.x + g @ result.x
        feasible, least = _daqp(program)
        assert feasible == is_optimal, seed
        assert not feasible or cost == pytest.approx(least, rel=1e-6, abs=1e-6), seed
        solved, least = _quadprog(program)
        assert not solved or (is_optimal and cost == pytest.approx(least, rel=1e-6, abs=1e-6)), seed
        if is_optimal:
            assert optimality(program, result) < 1e-8, seed
    return counts


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_random_programs_as_daqp_and_quadprog_say(backend: str) -> None:
    count = 1200 if backend == "native" else 300
    counts = _check(range(count), backend)
    assert counts[QPStatus.OPTIMAL] > count // 1.5 and counts[QPStatus.INFEASIBLE] > count // 12
    assert counts[QPStatus.MAX_ITERATIONS] == 0


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "count"), [("native", 10_000), ("numpy", 3_000)])
def test_thousands_of_programs(backend: str, count: int) -> None:
    assert _check(range(count), backend)[QPStatus.MAX_ITERATIONS] == 0


def test_kernel_equals_reference() -> None:
    """Field by field; of dependent rows any may carry the multiplier, so there C'u is compared."""
    for seed in range(600):
        program = random_program(seed)
        native, numpy = (solve_qp(*program, backend=backend) for backend in ("native", "numpy"))
        assert native.status is numpy.status, seed
        if numpy.status is QPStatus.OPTIMAL:
            np.testing.assert_allclose(native.x, numpy.x, rtol=1e-9, atol=1e-10, err_msg=str(seed))
            for own, other in (
                (native.bound_multipliers, numpy.bound_multipliers),
                (native.row_multipliers, numpy.row_multipliers),
            ):
                if seed % 3 != 1:
                    np.testing.assert_allclose(own, other, rtol=1e-7, atol=1e-7, err_msg=str(seed))
            forces = [r.bound_multipliers + program[4].T @ r.row_multipliers for r in (native, numpy)]
            np.testing.assert_allclose(*forces, rtol=1e-7, atol=1e-7, err_msg=str(seed))


def test_bounds_hold_exactly() -> None:
    for seed in range(0, 300, 3):
        program = random_program(seed)
        result = solve_qp(*program, backend="native")
        if result.status is QPStatus.OPTIMAL:
            assert (result.x >= program[2]).all() and (result.x <= program[3]).all()


def test_sides_may_be_absent() -> None:
    H, g = np.diag([1.0, 4.0]), np.array([-1.0, 4.0])
    np.testing.assert_allclose(solve_qp(H, g).x, [1.0, -1.0])
    np.testing.assert_allclose(solve_qp(H, g, lo=np.zeros(2)).x, [1.0, 0.0])
    row = solve_qp(H, g, C=np.ones((1, 2)), upper=np.array([-1.0]))
    np.testing.assert_allclose(row.x, [0.2, -1.2])
    assert row.row_multipliers[0] == pytest.approx(0.8)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_hilbert_matrices_and_scales(scale: float) -> None:
    n = 6
    H = (1.0 / (np.arange(n)[:, None] + np.arange(n) + 1.0)) * scale
    g = -H @ np.linspace(-1, 1, n)
    free = solve_qp(H, g)
    np.testing.assert_allclose(free.x, np.linspace(-1, 1, n), atol=1e-6)
    held = solve_qp(H, g, -0.5 * np.ones(n), 0.5 * np.ones(n))
    assert held.status is QPStatus.OPTIMAL
    slope = H @ held.x + g
    assert abs(held.x - np.clip(held.x - slope / scale, -0.5, 0.5)).max() < 1e-9


def _infeasible(**sides: object) -> QPResult:
    arrays = {name: np.array(side, float) for name, side in sides.items()}
    native, numpy = (solve_qp(np.eye(2), np.ones(2), **arrays, backend=name) for name in ("native", "numpy"))
    assert native.status is numpy.status
    return native


def test_infeasible_programs_are_said_to_be() -> None:
    for result in (
        _infeasible(lo=[1.0, 0.0], hi=[0.0, 1.0]),
        _infeasible(hi=[0.0, 0.0], C=[[1.0, 1.0]], lower=[1e-6], upper=[np.inf]),
        _infeasible(C=[[1.0, 1.0], [2.0, 2.0]], lower=[1.0, 3.0], upper=[1.0, 3.0]),
        _infeasible(C=[[0.0, 0.0]], lower=[1.0], upper=[2.0]),
        _infeasible(lo=[2.0, -5.0], C=[[1.0, 0.0]], lower=[1.0], upper=[1.0]),
        _infeasible(hi=[-2.0, 5.0], C=[[1.0, 0.0]], lower=[-0.5], upper=[-0.5]),
    ):
        assert result.status is QPStatus.INFEASIBLE
        assert np.isfinite(result.x).all()


def test_bad_programs_are_refused() -> None:
    for backend in ("native", "numpy"):
        with pytest.raises(TaskError, match="positive definite"):
            solve_qp(np.diag([1.0, -1.0]), np.zeros(2), backend=backend)
    with pytest.raises(TaskError, match="not finite"):
        solve_qp(np.eye(2), np.array([np.nan, 0.0]))
    with pytest.raises(TaskError, match="not numbers"):
        solve_qp(np.eye(2), np.zeros(2), lo=np.array([np.nan, 0.0]))
