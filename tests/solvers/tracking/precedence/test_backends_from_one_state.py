"""A frame of the kernel and of NumPy from the same state: the same end, goals and claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robokin_addon.solvers.descent.level_rows import SPARE, _are_as_they_were
from robokin_addon.solvers.limits.viability import StepLimits
from robokin_addon.solvers.qp.hierarchy import solve_hierarchy
from robokin_addon.solvers.qp.level import Level
from robokin_addon.solvers.tracking.level_engines import state_at
from robokin_addon.solvers.tracking.level_tracking import LevelTracking
from robokin_addon.solvers.tracking.native_level_tracking import NativeLevelTracking
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.engine.stacks import DT, engine_stack
from support.few import rest_slow

STACKS = (("ur5", 0), ("gripper", 1), ("ball bones", 0), ("ur5", 3), ("panda", 3))


@pytest.mark.parametrize(("robot", "seed"), rest_slow(STACKS))
def test_frames_from_one_state(robot: str, seed: int) -> None:
    """From each state that the kernel leads to, jumps and unreachable stretches among them."""
    stack = engine_stack(robot, seed)
    model, limits = stack.model, StepLimits.of(stack.model, DT)
    engines: list[Any] = [
        kind(TaskLevels(model, stack.tasks, backend), stack.criteria, limits)
        for kind, backend in ((NativeLevelTracking, "native"), (LevelTracking, "numpy"))
    ]
    levels = engines[1].levels
    state = state_at(stack.q0, len(levels.groups), np.zeros(model.nv), 0.0)
    for frame, targets in enumerate(levels.checked_frames([list(each) for each in stack.targets])):
        outcomes = []
        for engine in engines:
            engine.state = state
            engine.note(None)
            outcomes.append(engine.run([targets]))
        native, numpy = outcomes
        said = f"frame {frame}"
        assert native.codes.tolist() == numpy.codes.tolist(), said
        np.testing.assert_array_equal(native.iterations, numpy.iterations, err_msg=said)
        np.testing.assert_array_equal(native.behind, numpy.behind, err_msg=said)
        np.testing.assert_allclose(native.q, numpy.q, rtol=0.0, atol=1e-5, err_msg=said)
        np.testing.assert_allclose(engines[0].state, engines[1].state, rtol=0.0, atol=1e-4, err_msg=said)
        state = engines[0].state


@pytest.mark.parametrize("size", [0.0, 1e-13, 1e-11, 1e-10])
def test_a_direction_that_only_rounding_tells_is_left(size: float) -> None:
    """The third row of an aim is as long as its error is large: where that is nearly 0, it says nothing."""
    rng = np.random.default_rng(7)
    J = rng.normal(size=(3, 6))
    J[2] = 0.3 * J[0] - 0.2 * J[1] + size * J[2]
    below = rng.normal(size=(6, 6))
    b, c = J @ rng.normal(size=6), rng.normal(size=6)
    levels = [Level(J, b, b, 1e-9), Level(below, c, c, 1e-4)]
    lo, hi = np.full(6, -10.0), np.full(6, 10.0)
    found = [solve_hierarchy(lo, hi, levels, None, None, backend) for backend in ("native", "numpy")]
    assert [each.freedom for each in found] == [[6, 4, 0]] * 2
    np.testing.assert_allclose(found[0].x, found[1].x, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(J @ found[0].x, b, rtol=0.0, atol=1e-7)


def test_rounding_keeps_what_is_held() -> None:
    """A residual within its tolerance, but not by much, is as it was however it is rounded."""
    before, tolerance = np.array([[9.7e-6, 1e-5, 0.0]]), np.full((1, 3), 1e-5)
    assert _are_as_they_were(np.minimum(before * (1.0 + 1e-12), tolerance), before, tolerance, SPARE)
    assert not _are_as_they_were(before + np.array([[1e-7, 0.0, 0.0]]), before, tolerance, SPARE)
