"""Locked joints stay where they are, whatever the solvers do."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    ModelError,
    UnknownNameError,
    clamp,
    forward_kinematics,
    in_limits,
    integrate,
    library_robot,
    locked_model,
    random_configuration,
)
from robokin_addon.solvers import PoseTask, solve_ik
from support.command import report, run
from support.robots import robot

# A hinge, balls, a wheeled base (with its wheels).
LOCKS = {
    "panda": ("joint_4",),
    "puppet": ("neck", "left_shoulder", "left_elbow"),
    "mobile_arm": ("root_joint", "shoulder_lift"),
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_solve_moves_only_the_others(name: str) -> None:
    model, rng = library_robot(name), np.random.default_rng(1)
    tip = model.links[-1].name
    for _ in range(10):
        q = random_configuration(model, rng)
        held = locked_model(model, LOCKS[name], q)
        wanted = clamp(held, integrate(model, held.limits.clamp(q), rng.uniform(-0.3, 0.3, model.nv)))
        result = solve_ik(held, [PoseTask(tip, forward_kinematics(model, wanted)[tip])], q)
        assert result.converged and in_limits(model, result.q)
        for joint in LOCKS[name]:
            own, now = q[model.slot(joint).q], result.q[model.slot(joint).q]
            if len(own) == 4:  # a rotation has two quaternions
                assert abs(own @ now) == pytest.approx(1.0, abs=1e-14)
            else:
                np.testing.assert_array_equal(now, own)


def test_a_target_that_needs_the_locked_joint_is_not_reached() -> None:
    model = library_robot("panda")
    q = model.limits.middle(model.neutral())
    far = q.copy()
    far[3] -= 0.8
    task = PoseTask("link_7", forward_kinematics(model, far)["link_7"])
    assert solve_ik(model, [task], q).converged
    assert not solve_ik(locked_model(model, ["joint_4"], q), [task], q).converged


def test_wheels_are_held_with_their_base() -> None:
    model = library_robot("mobile_arm")
    held = locked_model(model, ["root_joint"], model.neutral())
    for wheel in (model.drive.left, model.drive.right):
        at = model.slot(wheel).q
        assert (held.lower[at] == held.upper[at]).all()


def test_what_cannot_be_locked_is_named() -> None:
    model = library_robot("panda").with_root("floating")
    with pytest.raises(ModelError, match="'root_joint' cannot be locked: it is floating"):
        locked_model(model, ["root_joint"], model.neutral())
    with pytest.raises(UnknownNameError, match="elbow"):
        locked_model(model, ["elbow"], model.neutral())


def test_the_command_line_locks_joints(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    given = "solve", robot("panda"), "--task", "kind=position,tip=panda_hand,target=0.4:0.2:0.5"
    start = {"panda_joint1": 0.3, "panda_joint4": -2.0, "panda_joint6": 1.5}
    given += "--q0", json.dumps(start)
    assert report(capsys, tmp_path, *given)["q"]["panda_joint1"] != 0.3
    assert report(capsys, tmp_path, *given, "--lock", "panda_joint1")["q"]["panda_joint1"] == 0.3
    assert run(capsys, *given, "--lock", "elbow").refused("no joint named 'elbow'")
