"""Steps at limits whose border is curved: no level sees those below it, and what holds a level back is named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, difference, integrate
from robokin_addon.solvers import PositionTask, Tracker, VelocityProblem, VelocityStep
from robokin_addon.solvers.criteria import JointSprings
from support.few import rest_slow
from support.oracles.cone_oracle import excess
from support.problems.curved_cases import CurvedCase, curved_case

INSIDE = 1e-12  # shares of the cone, or radians
DT = 1.0 / 24.0


def _rates(problem: VelocityProblem, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """J_k v dt of each level, in the weighted rows."""
    levels = problem.levels
    state = levels.state(q, levels.targets, problem.dt)
    rows = levels.levels(state, levels.rows(state, levels.targets), 0.0)
    return [level.J @ (v * problem.dt / state.scale) for level in rows]


def _step(case: CurvedCase, backend: str, priority: int | None = None) -> tuple[VelocityProblem, VelocityStep]:
    """Of the tasks up to a priority, then without criteria; None: of all."""
    tasks = [task for task in case.tasks if priority is None or task.priority <= priority]
    criteria = case.criteria if priority is None else []
    problem = VelocityProblem(case.model, tasks, criteria, case.dt, case.damping, backend)
    return problem, problem.step(case.q, case.previous, case.constraints)


def _check_limits(model: RobotModel, q: np.ndarray, v: np.ndarray, dt: float, seed: int) -> None:
    assert np.isfinite(v).all() and (abs(v) <= model.velocity).all(), seed
    end = integrate(model, q, v * dt)
    assert model.limits.contain(end).all(), seed
    for joint in model.joints:
        if joint.type == "spherical":
            assert excess(joint, end[model.slot(joint.name).q]) <= INSIDE, (seed, joint.name)


def _check(seeds: range) -> tuple[int, int]:
    """Levels that were compared, and steps at a curved limit."""
    compared = curved = 0
    for seed in seeds:
        case = curved_case(seed)
        backend = "numpy" if seed % 4 == 0 else "native"
        whole, step = _step(case, backend)
        _check_limits(case.model, case.q, step.v, case.dt, seed)
        bent = {joint.name for joint in case.model.joints if joint.type in ("spherical", "floating")}
        curved += bool(bent & set(step.limits_active))
        rates = _rates(whole, case.q, step.v)
        for k, level in enumerate(step.levels):
            assert np.isfinite(level.residual).all()
            problem, own = _step(case, backend, level.priority)
            assert abs(_rates(problem, case.q, own.v)[k] - rates[k]).max() <= 1e-9, (seed, k)
            assert abs(own.levels[k].residual - level.residual).max() <= 1e-9, (seed, k)
            compared += 1
    return compared, curved


def test_levels_do_not_see_those_below_at_curved_limits() -> None:
    compared, curved = _check(range(8))
    assert compared > 20 and curved > 4


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 1000, 2000])
def test_levels_do_not_see_those_below_hundreds_of_times(first: int) -> None:
    _check(range(first, first + 100))


@pytest.mark.parametrize(
    "seeds",
    rest_slow([[*range(4000, 4006), 4109, 4217, 4377, 4493, 4601, 4679, 4787], range(4006, 4030)]),
    ids=["few", "many"],
)
def test_backends_take_the_same_steps_at_curved_limits(seeds: Sequence[int]) -> None:
    """Also where a base stands at its bounds, and where rounding is all that a level leaves of a bound."""
    for seed in seeds:
        case = curved_case(seed)
        native, numpy = (_step(case, backend)[1] for backend in ("native", "numpy"))
        assert abs(native.v - numpy.v).max() * case.dt <= 1e-7, seed
        assert abs(native.residuals - numpy.residuals).max(initial=0.0) <= 1e-7, seed
        assert native.limits_active == numpy.limits_active, seed
        assert native.unmet == numpy.unmet, seed


def test_motions_stay_inside_curved_limits() -> None:
    """Two levels and a criterion pull towards targets far away, frame by frame."""
    moved = 0
    for seed in (5, 20, 24, 25, 30):
        case = curved_case(seed)
        model, links = case.model, case.model.link_names
        tasks = [PositionTask(links[-1], [3.0, 0.0, 0.0]), PositionTask(links[1], [0.0, -3.0, 0.0], priority=2)]
        tracker = Tracker(model, tasks, DT, criteria=[JointSprings()])
        tracker.stand(case.q)
        q = np.vstack([case.q[None], tracker.run(tracker.check_targets([[t.target for t in tasks]] * 4)).q])
        v = np.array([difference(model, a, b) for a, b in pairwise(q)]) / DT
        assert (abs(v) <= model.velocity * (1.0 + 1e-9)).all(), seed
        assert model.limits.contain(q).all(), seed
        moved += abs(v).max() > 0.1
    assert moved == 5
