"""A search for an optimum ends after so many poses: steps that are shortened again and again take long."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.solvers import AimTask, IKProblem, LoopClosureTask, PositionTask, solve_ik
from robokin_addon.solvers.criteria import GravityTorque, Manipulability
from robokin_addon.solvers.optimum import sqp
from robokin_addon.solvers.optimum.native import optimum_of
from robokin_addon.solvers.optimum.pose_problem import PoseProblem
from robokin_addon.solvers.progress import finish
from support.few import rest_slow
from support.robots import robot

TIP = "panda_link8"
READY = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.0])


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("limits", [{"MOST_POSES": 5}, {"FEW_POSES": 5, "POSES_EACH": 0}])
def test_a_search_ends_after_so_many_poses(
    limits: dict[str, int], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in limits.items():
        monkeypatch.setattr(sqp, name, count)
    counted = []

    def point(self: PoseProblem, q: np.ndarray, of: object = PoseProblem.point) -> object:
        counted.append(q)
        return of(self, q)  # type: ignore[operator]

    monkeypatch.setattr(PoseProblem, "point", point)
    model = load_urdf(robot("panda"))
    place = forward_kinematics(model, READY)[TIP][:3, 3] + (0.1, 0.2, -0.1)
    tasks = [AimTask(TIP, (0, 0, 1), np.add(place, (0.2, 0.3, -0.1))), PositionTask(TIP, place, priority=2)]
    found = solve_ik(model, tasks, READY, criteria=[Manipulability()], diagnose=False, backend=backend)
    assert found.is_optimal is False and "the cost still falls" in found.reason
    assert len(counted) < 60


@pytest.mark.parametrize(
    ("seed", "backend"), rest_slow([(2, "native"), (14, "native"), (2, "numpy"), (14, "numpy")], 2)
)
def test_steps_that_a_loop_lets_be_short_only_are_few(backend: str, seed: int) -> None:
    """A loop and a place that is not met keep a step from being long, and the next ones, too: each starts about where
    the last one ended, and after a dozen that gain next to nothing the rest are not taken."""
    model, rng = load_urdf(robot("panda")), np.random.default_rng(seed)
    T = forward_kinematics(model, model.limits.clamp(READY + 0.5 * rng.normal(size=model.nq)))
    loop = LoopClosureTask(TIP, "panda_link4", other_offset=np.linalg.inv(T["panda_link4"]) @ T[TIP])
    tasks = [loop, PositionTask(TIP, T[TIP][:3, 3] + rng.normal(size=3))]
    problem = IKProblem(model, tasks, backend=backend)
    start = problem.solve(q0=READY, diagnose=False).q
    levels = problem.search.levels
    poses = PoseProblem(levels, levels.targets, model.limits)
    optimum = optimum_of(poses, [GravityTorque()])
    found = finish(optimum.find(poses.point(start), sqp.most_poses(model.nv)))
    assert 0 < found.iterations <= 40 and model.limits.contain(found.point.q).all()
    assert found.poses < 1000
