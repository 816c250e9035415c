"""A(q) v = c with factors that are expressions of where the joints stand."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel, library_robot
from robokin_addon.robokin.errors import RobokinError
from robokin_addon.solvers import LinearVelocityTask, track
from robokin_addon.solvers.tasks.whole_robot.factors import Factors

ROW = {"joint_1": "cos(joint_2) + 0.2", "joint_2": 0.5, "joint_4": 'min(1, q["joint_1"] ** 2)'}


def test_an_expression_is_the_function_that_it_says() -> None:
    """A whole motion equals that of A as a function of q, and keeps the rate along the curve of its poses."""
    puma = library_robot("puma560")

    def A(q: np.ndarray) -> np.ndarray:
        row = np.zeros((1, puma.nv))
        row[0, [0, 1, 3]] = np.cos(q[1]) + 0.2, 0.5, min(1.0, q[0] ** 2)
        return row

    found = [track(puma, [LinearVelocityTask(law, 0.3)], [[0.3]] * 25, np.full(6, 0.4)) for law in (ROW, A)]
    assert (found[0].codes == 0).all() and np.ptp(found[0].q[:, 0]) > 0.1
    np.testing.assert_allclose(found[0].q, found[1].q, atol=1e-12)


def test_a_base_that_drives_forward_only_as_the_arm_turns() -> None:
    """Of a joint with several coordinates: its forward speed, in the world, whatever its heading."""
    arm = library_robot("mobile_arm")
    row = {"root_joint": ["cos(root_joint[2])", "sin(root_joint[2])", 0], "elbow": "-0.5"}
    task = LinearVelocityTask(row)
    turn = LinearVelocityTask({"root_joint": [0, 0, 1]}, 0.4)
    elbow = LinearVelocityTask({"elbow": 1}, 0.3)
    result = track(arm, [task, turn, elbow], [[0.0, 0.4, 0.3]] * 30, arm.neutral())
    q = result.q[8:]
    assert (result.codes[8:] == 0).all()
    driven = np.linalg.norm(np.diff(q[:, :2], axis=0), axis=1)
    np.testing.assert_allclose(driven, 0.5 * np.diff(q[:, arm.slot("elbow").q].ravel()), rtol=2e-3)


def test_what_cannot_be_an_expression_is_refused_before_a_robot_is_known() -> None:
    for factor in ("2 +", "elbow" + "+1" * 120, "(" * 31 + "1" + ")" * 31):
        with pytest.raises(RobokinError, match="factor of joint 'joint_1': "):
            LinearVelocityTask({"joint_1": factor}, 0.3)


def test_a_joint_named_q_is_meant_by_its_name() -> None:
    joint = Joint("q", "revolute", "base", "arm", axis=(0, 0, 1), lower=-3.0, upper=3.0)
    model = RobotModel("one", [Link("base"), Link("arm")], [joint])
    assert Factors({"q": "q + 0.5"}, "row").row(model, np.array([0.25])).tolist() == [[0.75]]


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ({"joint_1": "joint_9"}, "factor 'joint_9' of joint 'joint_1': no joint or function named 'joint_9'"),
        ({"joint_1": "2 +"}, "factor of joint 'joint_1': '2 \\+': "),
        ({"joint_1": "'a'"}, "is 'a', not a number"),
        ({"joint_1": "1 < 2"}, "is True, not a number"),
        ({"joint_1": "1e31"}, "is 1e\\+31, not a number"),
        ({"joint_1": "sqrt(-1)"}, "factor 'sqrt\\(-1\\)' of joint 'joint_1'"),
        ({"joint_1": "open"}, "no joint or function named 'open'"),
        ({"joint_9": "1"}, "no joint with a motion of its own"),
        ({"joint_1": ["1", 2]}, "takes 1 factors, not 2"),
        ({"joint_1": 0}, "no joint has a factor"),
        ({"joint_1": "1+" * 999}, "not an expression at its end"),
        ({"joint_1": "1" + "+1" * 999}, "nested more than"),
    ],
)
def test_what_is_no_factor_is_said(factors: dict, message: str) -> None:
    puma = library_robot("puma560")
    with pytest.raises(RobokinError, match=message) as told:
        track(puma, [LinearVelocityTask(factors, 0.3, name="sum")], [[0.3]] * 2, puma.neutral())
    assert len(str(told.value)) < 300
