"""Optima on curves: most are at a corner or an end, where no slope vanishes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, clamp, forward_kinematics, integrate
from robokin_addon.solvers import IKProblem, OnCurveTask, Plane, PositionTask
from robokin_addon.solvers.criteria import JointSprings, Manipulability, Potential, RestPosture, SmallestSingularValue
from robokin_addon.solvers.criteria.objective import Objective
from robokin_addon.solvers.optimum.constraint_manifold import ConstraintManifold
from robokin_addon.solvers.optimum.pose_problem import PoseProblem
from support.few import rest_slow
from support.problems.optimum_problems import real

NEAR = 0.02  # metres along a curve, on both sides of an optimum
BACKENDS = ["native", "numpy"]


def _stage() -> RobotModel:
    """Three slides."""
    above = zip("xyz", ["base", "x", "y"], np.eye(3), strict=True)
    joints = [Joint(name, "prismatic", parent, name, axis=axis) for name, parent, axis in above]
    return RobotModel("stage", [Link("base"), *map(Link, "xyz")], joints)


def _bend(rng: np.random.Generator, corners: int) -> np.ndarray:
    """(corners, 3) a part of an ellipse in the plane z = 0."""
    angle = np.linspace(0.0, 4.0, corners)
    flat = np.stack((np.cos(angle), np.sin(angle), 0.0 * angle), axis=1)
    return flat * (0.3 + 0.2 * rng.random(3)) + 0.05 * rng.normal(size=3) * (1.0, 1.0, 0.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("corners", [2, 4, 9, 60])
@pytest.mark.parametrize("is_beam", [False, True])
def test_the_nearest_place_of_a_curve(corners: int, is_beam: bool, backend: str) -> None:
    """Springs pull a point, or a beam from 0.3 m above, towards a place beside the curve that it is to stay on: nothing
    near on the curve is nearer."""
    up = np.array([0.0, 0.0, 0.3 if is_beam else 0.0])
    for seed in range(4):
        rng = np.random.default_rng([seed, corners])
        curve, wanted = _bend(rng, corners), rng.normal(size=3) * (1.0, 1.0, 0.0)
        task = OnCurveTask("z", curve)
        if is_beam:
            task = OnCurveTask("z", curve, direction=(0.0, 0.0, -1.0), surface=Plane(np.zeros(3), (0.0, 0.0, 1.0)))
        result = IKProblem(_stage(), [task], [RestPosture(wanted + up)], backend).solve(q0=up, diagnose=False)
        assert result.converged and result.is_optimal, result.reason
        places = np.concatenate([a + np.linspace(0.0, 1.0, 400)[:, None] * (b - a) for a, b in pairwise(curve)])
        near = places[np.linalg.norm(places - (result.q - up), axis=1) < NEAR]
        assert np.linalg.norm(result.q - up - wanted) <= np.linalg.norm(near - wanted, axis=1).min() + 1e-6


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_curves_at_once(backend: str) -> None:
    """One tip is at a corner, another one within its line."""
    corner = OnCurveTask("x", [(-1, 0, 0), (0.2, 0, 0), (0.2, 1, 0)])
    tasks = [corner, PositionTask("z", np.zeros(3), (0.0, 1.0, 0.0)), OnCurveTask("z", [(-2, 0, 0), (2, 0, 0.4)])]
    result = IKProblem(_stage(), tasks, [RestPosture([1.0, 0.0, 1.0])], backend).solve(diagnose=False)
    assert result.converged and result.is_optimal, result.reason
    np.testing.assert_allclose(result.q, (0.2, 0.0, 0.22), atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("corners", rest_slow([6, 40]))
@pytest.mark.parametrize(
    "criteria",
    [[JointSprings()], [JointSprings(), Manipulability()], [SmallestSingularValue(), JointSprings()]],
    ids=["springs", "manipulability", "singular value"],
)
def test_an_arm_on_a_bend(criteria: list[Potential], corners: int, backend: str) -> None:
    """No short motion along the curve lessens the cost, to either side of a corner too."""
    model = real("panda", "fixed")
    tip, q = model.link_names[-1], model.limits.middle(model.neutral())
    for seed in range(8 if backend == "native" else 1):
        rng = np.random.default_rng([seed, corners])
        away = clamp(model, integrate(model, q, 0.6 * rng.normal(size=model.nv)))
        turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        curve = forward_kinematics(model, away)[tip][:3, 3] + _bend(rng, corners) @ turned
        problem = IKProblem(model, [OnCurveTask(tip, curve)], criteria, backend)
        result = problem.solve(q0=q, diagnose=False)
        assert result.converged and result.is_optimal, result.reason
        levels = problem.search.levels
        poses, objective = PoseProblem(levels, levels.targets, problem.limits), Objective(criteria, np.ones(model.nv))
        surface = ConstraintManifold(poses, poses.point(result.q))
        cost = objective.value(surface.start.state)
        for _ in range(40):
            x = 10.0 ** rng.uniform(-5.0, -3.0) * rng.normal(size=model.nv)
            point = surface.nearest(poses.moved(surface.start.q, x), surface.start)
            assert point is None or objective.value(point.state) > cost - 1e-7


def test_the_rows_of_criteria_are_others_beyond_an_end() -> None:
    """Of a place beyond the end of a curve they are three, of one on it two: NumPy goes on from either."""
    model = real("panda", "fixed")
    tip, q = model.link_names[-1], model.limits.middle(model.neutral())
    place = forward_kinematics(model, q)[tip][:3, 3]
    task = OnCurveTask(tip, place + np.outer((2e-6, 0.1), (0.0, 1.0, 0.0)))
    for backend in BACKENDS:
        result = IKProblem(model, [task], [SmallestSingularValue()], backend).solve(q0=q, diagnose=False)
        assert result.converged and result.is_optimal, result.reason


def test_a_piece_is_taken_where_there_is_one_first() -> None:
    """Beside an end no line is taken, and the next pose on the curve has the room that it has there."""
    problem = IKProblem(_stage(), [OnCurveTask("z", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])], [JointSprings()], "numpy")
    levels = problem.search.levels
    poses = PoseProblem(levels, levels.targets, problem.limits)
    poses.pieces.take(poses.point(np.array([-5e-6, 0.0, 0.0])))
    point = poses.point(np.array([0.25, 0.0, 0.0]))
    sides = np.array([-0.25, 0.75]) / levels.length
    for _ in range(2):
        (level,) = poses.pieces.levels(point)
        np.testing.assert_allclose([*level.lower, *level.upper], sides, atol=2e-8)
        assert len(poses.pieces.take(point).levels) == len(point.levels)
    assert poses.targets[0] is not levels.targets[0]
