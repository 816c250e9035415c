"""The kernel's postures and those of its NumPy twin are the same."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.robokin.backend.library import load_library
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import PoseTask, PositionTask, PostureProblem, Task
from robokin_addon.solvers.families.family import FAMILY_RECORD
from support.few import these_slow
from support.problems.family_robots import LIBRARY, RANDOM_FAMILIES, TABLES, family_robot, random_family


def compare(model: RobotModel, tip: str, count: int, kind: type[Task] = PoseTask) -> None:
    target = np.eye(4) if kind is PoseTask else np.zeros(3)
    ours, twin = (PostureProblem(model, [kind(tip, target)], backend) for backend in ("native", "numpy"))  # type: ignore[call-arg]
    assert ours.family == twin.family != ""
    rng = np.random.default_rng(7)
    lower, upper = np.maximum(model.lower, -4.0), np.minimum(model.upper, 4.0)
    for i in range(count):
        q, q0 = rng.uniform(lower, upper, (2, model.nq))
        T = forward_kinematics(model, q)[tip]
        if i % 5 == 4:
            T[:3, 3] *= 1.3  # often out of reach
        goal = [T if kind is PoseTask else T[:3, 3]]
        one, two = ours.solve(goal, q0), twin.solve(goal, q0)
        assert one.names == two.names
        assert one.q == pytest.approx(two.q, abs=1e-7)
        assert (one.complete, one.remark) == (two.complete, two.remark)
        assert (one.continuum == two.continuum).all()


@pytest.mark.parametrize("name", [*TABLES, *LIBRARY])
def test_named_robots(name: str) -> None:
    model = family_robot(name)
    compare(model, model.link_names[-1], 20)


@pytest.mark.parametrize("name", these_slow(RANDOM_FAMILIES, "shoulder and wrist"))
def test_random_families(name: str) -> None:
    compare(random_family(name, np.random.default_rng(11)), "tool", 10)


@pytest.mark.parametrize("name", ["planar_2r", "gantry"])
def test_positions(name: str) -> None:
    compare(library_robot(name), "tool", 20, PositionTask)


def test_the_record_is_the_kernels_struct() -> None:
    assert load_library().rk_sizeof_family() == FAMILY_RECORD.itemsize
