"""A search for an optimum ends after so many poses: steps that are shortened again and again take long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.solvers import AimTask, PositionTask, solve_ik
from robokin_addon.solvers.criteria import Manipulability
from robokin_addon.solvers.optimum import sqp
from robokin_addon.solvers.optimum.pose_problem import PoseProblem
from support.robots import robot

TIP = "panda_link8"
READY = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.0])


def test_a_search_ends_after_so_many_poses(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as in the kernel."""
    kernel = Path(__file__).parents[3] / "kernel" / "src" / "optimum" / "optimum.c"
    assert f"MOST_POSES = {sqp.MOST_POSES}.0" in kernel.read_text()
    monkeypatch.setattr(sqp, "MOST_POSES", 5)
    counted = []

    def point(self: PoseProblem, q: np.ndarray, of: object = PoseProblem.point) -> object:
        counted.append(q)
        return of(self, q)  # type: ignore[operator]

    monkeypatch.setattr(PoseProblem, "point", point)
    model = load_urdf(robot("panda"))
    place = forward_kinematics(model, READY)[TIP][:3, 3] + (0.1, 0.2, -0.1)
    tasks = [AimTask(TIP, (0, 0, 1), np.add(place, (0.2, 0.3, -0.1))), PositionTask(TIP, place, priority=2)]
    found = solve_ik(model, tasks, READY, criteria=[Manipulability()], diagnose=False, backend="numpy")
    assert found.is_optimal is False and "the cost still falls" in found.reason
    assert len(counted) < 60
