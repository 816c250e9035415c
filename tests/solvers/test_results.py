"""Results: fields, plain values, text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from robokin_addon import solvers
from robokin_addon.robokin import load_urdf
from robokin_addon.solvers import PositionTask, SolveResult, Status, solve_ik
from support.robots import robot


def _result() -> SolveResult:
    return solve_ik(load_urdf(robot("panda")), [PositionTask("panda_link8", [0.4, 0.1, 0.5])])


def test_a_status_is_its_own_name() -> None:
    assert Status("LIMIT") is Status.LIMIT
    assert f"{Status.TASK_CONFLICT}" == "TASK_CONFLICT"
    assert [str(status) for status in Status] == [
        "CONVERGED", "OUT_OF_REACH", "LIMIT", "TASK_CONFLICT", "SINGULAR", "COLLISION", "MAX_ITERATIONS", "EMPTY",
    ]  # fmt: skip


def test_every_status_is_one_that_a_solver_gives() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(solvers.__file__).parent.rglob("*.py"))
    assert [status for status in Status if f"Status.{status}" not in source] == []


def test_plain_values_survive_json() -> None:
    result = _result()
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["status"] == "CONVERGED"
    assert plain["residuals"] == result.residuals
    np.testing.assert_array_equal(plain["q"], result.q)
    assert set(plain) == {
        "status", "reason", "q", "residuals", "limits_active", "joints", "tasks", "iterations", "attempts",
    }  # fmt: skip


def test_a_result_owns_its_arrays() -> None:
    """A prepared problem reuses its buffers; results of earlier solves must not change."""
    first = _result()
    q = first.q.copy()
    first.q[:] = 7.0
    np.testing.assert_array_equal(_result().q, q)


def test_text_shows_the_status() -> None:
    assert "CONVERGED" in repr(_result())
