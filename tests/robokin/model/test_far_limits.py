"""Position limits that mean none: they change nothing, and are not lost."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import (
    Joint,
    Link,
    Mimic,
    RobotModel,
    forward_kinematics,
    in_limits,
    random_configuration,
    read_urdf_text,
    urdf_text,
)
from robokin_addon.robokin.limit_warnings import limit_warnings
from robokin_addon.solvers import IKProblem, PoseTask, solve_ik, track
from support.command import report
from support.oracles.compare import compare_models
from support.problems.carried import PANDA, carried
from support.problems.levels import in_levels

FAR = [1e4, 1e6, 1e16, 1e155, sys.float_info.max]


def targets(model: RobotModel, count: int, around: float = 0.0) -> np.ndarray:
    """(count, 1, 4, 4) of the tool, with the base within 2 of `around`."""
    rng = np.random.default_rng(0)
    Q = [np.concatenate(([around + rng.uniform(-2, 2)], random_configuration(PANDA, rng))) for _ in range(count)]
    return np.array([forward_kinematics(model, q)["tool"] for q in Q])[:, None]


def problem(model: RobotModel, backend: str = "native") -> IKProblem:
    return IKProblem(model, [PoseTask("tool", np.eye(4))], backend=backend)


def chain(length: float, *joints: Joint) -> RobotModel:
    """The joints one behind the other, links of a length apart."""
    step = np.eye(4)
    step[0, 3] = length / len(joints)
    placed = [replace(j, parent=f"l{i}", child=f"l{i + 1}", placement=step) for i, j in enumerate(joints)]
    return RobotModel("chain", [Link(f"l{i}") for i in range(len(joints) + 1)], placed)


def joint(kind: str, lower: object, upper: object, name: str = "j", **fields: object) -> Joint:
    return Joint(name, kind, "a", "b", lower=lower, upper=upper, **fields)


@pytest.mark.parametrize(
    ("made", "length", "lower", "upper"),
    [
        (joint("revolute", -1e4, 1e4), 1.0, [-np.inf], [np.inf]),
        (joint("revolute", -6200.0, 6200.0), 1.0, [-6200.0], [6200.0]),
        (joint("revolute", -2.0, 1e16), 1.0, [-2.0], [np.inf]),
        (joint("revolute", -1e155, 3.0), 1.0, [-np.inf], [3.0]),
        (joint("prismatic", -1e5, 1e6), 1.0, [-np.inf], [np.inf]),
        (joint("prismatic", -1000.0, 999.0), 1.0, [-np.inf], [999.0]),
        (joint("prismatic", -1e4, 1e4), 101.0, [-1e4], [1e4]),  # of a large robot
        (joint("prismatic", -1e5, 1e5), 101.0, [-np.inf], [np.inf]),
        (joint("prismatic", 5e5, 5e5 + 10.0), 1.0, [5e5], [5e5 + 10.0]),  # counted from far away
        (joint("revolute", -1e6, -1e6), 1.0, [-1e6], [-1e6]),
        (joint("revolute", 5e5, 1e16), 1.0, [5e5], [np.inf]),
        (joint("revolute", 1e150, 1e150), 1.0, [-np.inf], [np.inf]),
        (joint("screw", -5e4, 5e4, pitch=1e-4), 1.0, [-5e4], [5e4]),
        (joint("screw", -1e6, 1e6, pitch=1e-4), 1.0, [-np.inf], [np.inf]),
        (joint("cylindrical", [-2000.0, -2000.0], [2000.0, 0.5]), 1.0, [-2000.0, -np.inf], [2000.0, 0.5]),
        (joint("planar", [-1e9, -3.0, -1e9], [1e9, 3.0, 2.0]), 1.0, [-np.inf, -3.0, -np.inf], [np.inf, 3.0, 2.0]),
        (joint("gimbal", [-1.0, -1e9, -2.0], [1e9, 1.0, 2.0]), 1.0, [-1.0, -np.inf, -2.0], [np.inf, 1.0, 2.0]),
    ],
)
def test_what_is_far(made: Joint, length: float, lower: list[float], upper: list[float]) -> None:
    model = chain(length, made)
    np.testing.assert_array_equal(model.lower, lower)
    np.testing.assert_array_equal(model.upper, upper)
    np.testing.assert_array_equal(model.joint_limits("j"), (lower, upper))
    own = model.joint("j")
    np.testing.assert_array_equal((own.lower, own.upper), (made.lower, made.upper))  # the joint keeps its numbers
    is_far = bool(np.isinf([lower, upper]).any())
    assert model.far_limits == (("j",) if is_far else ()) and len(limit_warnings(model)) == is_far


def test_absent_limits_are_not_far() -> None:
    model = chain(1.0, joint("continuous", -np.inf, np.inf), joint("revolute", -np.inf, 2.0, "k"))
    assert model.far_limits == () and limit_warnings(model) == []


def test_warnings_name_joint_and_value() -> None:
    model = chain(1.0, joint("prismatic", -1e6, 1e5, "slide"), joint("revolute", 0.0, 1e16, "turn"))
    assert limit_warnings(model) == [
        "joint 'slide': -1e+06, 100000 are too far away for position limits: taken as none",
        "joint 'turn': 1e+16 is too far away for a position limit: taken as none",
    ]


def test_a_near_limit_of_a_mimic_joint_is_kept_however_far_its_leader_goes() -> None:
    leader = joint("revolute", -1e9, 1e9, "motor")
    follower = joint("revolute", -1.0, 2.0, "link", mimic=Mimic("motor", 1e-4))
    model = chain(1.0, leader, follower)
    np.testing.assert_allclose((model.lower[0], model.upper[0]), (-1e4, 2e4))
    far = chain(1.0, joint("revolute", -2.0, 2.0, "motor"), replace(follower, lower=-1e9, upper=1e9))
    assert (far.lower[0], far.upper[0]) == (-2.0, 2.0) and far.far_limits == ("link",)


@pytest.mark.parametrize("stroke", [1e5, 1e6, *FAR[2:]])
def test_an_arm_on_an_endless_rail(stroke: float) -> None:
    """Bit for bit the robot whose rail has no limits."""
    model, free = carried("prismatic", -stroke, stroke), carried("prismatic", -np.inf, np.inf)
    goals = targets(free, 1000)
    found, expected = (problem(each).solve_batch(goals) for each in (model, free))
    assert found.converged.mean() >= 0.999
    np.testing.assert_array_equal(found.q, expected.q)
    q0 = np.concatenate(([0.0], PANDA.limits.middle(PANDA.neutral())))
    path = np.repeat(forward_kinematics(model, q0)["tool"][None, None], 50, axis=0)
    path[:, 0, 0, 3] += np.linspace(0.0, 3.0, 50)
    assert track(model, problem(model).tasks, path, q0=q0, dt=0.1).converged.all()


@pytest.mark.parametrize("stroke", [30.0, 300.0, 990.0])
@pytest.mark.parametrize("place", [0.0, 0.9])
def test_an_arm_on_a_long_rail(stroke: float, place: float) -> None:
    """Real limits count, and the size of the robot remains that of its links."""
    model = carried("prismatic", -stroke, stroke)
    assert problem(model).search.data.length < 20.0
    found = problem(model).solve_batch(targets(model, 300, place * stroke))
    assert found.converged.mean() >= 0.999
    assert (abs(found.q[:, 0]) <= stroke).all()
    beyond = targets(carried("prismatic", -np.inf, np.inf), 20, stroke + 5.0)
    assert not problem(model).solve_batch(beyond).converged.any()


def test_a_rail_that_is_counted_from_far_away() -> None:
    model = carried("prismatic", 5e5, 5e5 + 100.0)
    found = problem(model).solve_batch(targets(model, 100, 5e5 + 50.0))
    assert found.converged.mean() >= 0.99 and problem(model).search.data.length < 20.0


@pytest.mark.parametrize("backend", ["native", pytest.param("numpy", marks=pytest.mark.slow)])
@pytest.mark.parametrize("end", FAR)
def test_an_arm_on_an_endless_turntable(end: float, backend: str) -> None:
    """The answer is within half a turn of the start, also many turns away."""
    model, free = carried("revolute", -end, end), carried("continuous", -np.inf, np.inf)
    for start in (0.0, 7.0, -200.0):
        q0 = np.concatenate(([start], PANDA.limits.middle(PANDA.neutral())))
        found, expected = (problem(each, backend).solve_batch(targets(free, 20), q0) for each in (model, free))
        assert found.converged.all() and abs(found.q[:, 0] - start).max() <= np.pi
        np.testing.assert_array_equal(found.q, expected.q)


@pytest.mark.parametrize("end", [12.0, 500.0, 6000.0])
def test_a_turntable_of_many_turns(end: float) -> None:
    """Its limits are real; restarts stay near the turn that it is at."""
    model = carried("revolute", -end, end)
    for start in (0.0, end, 1.0 - end):
        q0 = np.concatenate(([start], PANDA.limits.middle(PANDA.neutral())))
        found = problem(model).solve_batch(targets(model, 200), q0)
        assert found.converged.mean() >= 0.999
        assert abs(found.q[:, 0] - start).max() < 3.0 * np.pi and all(in_limits(model, q) for q in found.q)


def test_levels_keep_to_the_present_turn() -> None:
    model = carried("revolute", -1e6, 1e6)
    q0 = np.concatenate(([100.0], PANDA.limits.middle(PANDA.neutral())))
    for goal in targets(model, 10)[:, 0]:
        tasks = [PoseTask("tool", goal), PoseTask("link_4", np.eye(4), priority=2)]
        result = in_levels(model, tasks, attempts=6).solve(q0=q0, diagnose=False)
        assert abs(result.q[0] - 100.0) < 4.0 * np.pi
        assert result.residual_array[0].max() < 1e-4


@pytest.mark.parametrize("end", ["1e6", "1e16", "1e155", "1.8e308", "inf"])
def test_a_description_keeps_its_numbers(end: str, caplog: pytest.LogCaptureFixture, tmp_path, capsys) -> None:
    text = urdf_text(carried("prismatic", -8.5e5, 8.5e5)).replace("850000", end)
    assert text.count(f'"{end}"') == text.count(f'"-{end}"') == 1
    with caplog.at_level(logging.WARNING):
        model = read_urdf_text(text)
    value = min(float(end), sys.float_info.max)
    assert [f"joint 'base': {-value:g}, {value:g} are too far" in line for line in caplog.messages] == [True]
    assert (model.lower[0], model.upper[0]) == (-np.inf, np.inf)
    assert (model.joint("base").lower[0], model.joint("base").upper[0]) == (-value, value)
    assert compare_models(model, read_urdf_text(urdf_text(model)), 1e-9) == []
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    assert report(capsys, tmp_path, "info", path)["far_limits"] == ["base"]
    result = solve_ik(model, [PoseTask("tool", targets(model, 1)[0, 0])])
    assert result.converged and not result.limits_active
