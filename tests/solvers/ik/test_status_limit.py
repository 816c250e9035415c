"""LIMIT names the joints that, freed, would mend it."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.robokin.configuration import random_configuration
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.solvers import (
    IKProblem,
    OrientationTask,
    PoseTask,
    PositionTask,
    Status,
    solve_ik,
)
from support.problems.planar_arms import FULL, planar_arm
from support.random_problems.narrow_arms import narrow_stack
from support.random_problems.random_arms import random_arm

TIP = "panda_link8"


def test_limit_names_the_joint_to_free() -> None:
    model = planar_arm((-0.5, 0.5), FULL)
    result = solve_ik(model, [PositionTask("tip", [0.0, 1.2, 0.0])])
    assert result.status is Status.LIMIT
    assert result.joints == ("joint0",)
    assert solve_ik(planar_arm(FULL, FULL), [PositionTask("tip", [0.0, 1.2, 0.0])]).converged
    assert (
        solve_ik(planar_arm((-0.5, 0.5), (-100.0, 100.0)), [PositionTask("tip", [0.0, 1.2, 0.0])]).status
        is Status.LIMIT
    )


def test_limit_leaves_out_joints_that_happen_to_be_at_a_bound(panda: RobotModel) -> None:
    result = solve_ik(panda, [PositionTask(TIP, [0.0, 0.0, 0.33])])
    assert result.status is Status.LIMIT
    assert len(result.limits_active) > 1
    assert result.joints == ("panda_joint4",)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_free_joint_with_bounded_lengths(backend: str) -> None:
    """The box of its lengths is kept, and is the reach."""
    low, high = np.array([-0.1, -0.2, -0.3, *[-np.inf] * 3]), np.array([0.4, 0.5, 0.6, *[np.inf] * 3])
    model = RobotModel("box", [Link("a"), Link("b")], [Joint("free", "floating", "a", "b", lower=low, upper=high)])
    turned = np.diag([-1.0, -1.0, 1.0, 1.0])
    corner = turned.copy()
    corner[:3, 3] = high[:3]
    result = solve_ik(model, [PoseTask("b", corner)], backend=backend)
    assert result.converged and (result.q <= model.upper).all()
    corner[:3, 3] = 0.4, 0.0, 0.7
    assert solve_ik(model, [PoseTask("b", corner)], backend=backend).status is Status.LIMIT
    corner[:3, 3] = 0.4, 0.5, 1.0
    result = solve_ik(model, [PoseTask("b", corner)], backend=backend)
    assert result.status is Status.OUT_OF_REACH
    np.testing.assert_allclose(result.q[:3], high[:3], atol=1e-4)


def test_limits_that_are_blamed_are_to_blame() -> None:
    """Targets met only outside the limits: freeing the named joints, and only those, makes each converge."""
    seen = 0
    for seed in range(30):
        model = random_arm(seed)
        rng = np.random.default_rng(seed)
        tip = model.links[-1].name
        q = random_configuration(model, rng)
        wide = q + np.where(rng.random(model.nq) < 0.5, 1.5, 0.0) * (model.upper - model.lower)
        result = solve_ik(model, [PoseTask(tip, forward_kinematics(model, wide)[tip])])
        if result.status is not Status.LIMIT:
            continue
        seen += 1
        assert not result.converged and result.joints
        joints = [
            Joint(j.name, j.type, j.parent, j.child, j.placement, j.axis) if j.name in result.joints else j
            for j in model.joints[1:]
        ]
        freed = RobotModel("freed", model.links, joints)
        assert (
            IKProblem(freed, [PoseTask(tip, forward_kinematics(model, wide)[tip])], attempts=200)
            .solve(q0=result.q)
            .converged
        )
    assert seen >= 5


@pytest.mark.parametrize("play", [0.0, 1e-12, 1e-3])
def test_a_joint_without_play_is_a_limit(play: float) -> None:
    """It moves the tip across, to first order, but at its stop the tip never goes along x."""
    lift = Joint("lift", "prismatic", "base", "carriage", axis=(0, 0, 1), lower=-1.0, upper=1.0)
    turn = Joint("turn", "revolute", "carriage", "arm", axis=(0, 0, 1), lower=-play, upper=play)
    model = RobotModel("crane", [Link("base"), Link("carriage"), Link("arm")], [lift, turn])
    out = np.eye(4)
    out[0, 3] = 1.0
    result = solve_ik(model, [PositionTask("arm", (0.0, 1.0, 0.2), offset=out)])
    assert result.status is Status.LIMIT and result.joints == ("turn",)


def test_a_pose_inside_that_was_missed_is_no_limit() -> None:
    """The target was taken from a pose inside narrow limits; from one beyond them the search finds it after all."""
    rng, joints = np.random.default_rng(3905), []
    count, place = int(rng.integers(4, 8)), np.eye(4)
    for i in range(count):
        middle, play = rng.uniform(-1.5, 1.5), 10 ** rng.uniform(-4, 0.5)
        axis, bounds = np.eye(3)[rng.integers(3)], {"lower": middle - play, "upper": middle + play}
        joints.append(Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", place, axis, **bounds))
        place = np.eye(4)
        place[0, 3] = 0.4
    arm = RobotModel("arm", [Link(f"l{i}") for i in range(count + 1)], joints)
    q = random_configuration(arm, rng)
    q = np.where(rng.random(count) < 0.5, rng.choice([arm.lower, arm.upper]), q)
    target, tip = forward_kinematics(arm, q)[f"l{count}"] @ place, f"l{count}"
    tasks = [
        PositionTask(tip, target[:3, 3], offset=place),
        OrientationTask(tip, target[:3, :3], priority=2),
    ]
    result = solve_ik(arm, tasks)
    assert result.converged or (result.status is Status.MAX_ITERATIONS and "inside the limits" in result.reason)


def test_limits_active_names_joints_at_a_bound() -> None:
    result = solve_ik(planar_arm((-0.5, 0.5), (-0.1, 0.1)), [PositionTask("tip", [0.0, 1.5, 0.0])])
    assert set(result.limits_active) == {"joint0", "joint1"}


@pytest.mark.parametrize("seed", [20879, 21620, 21866, 21992, 22660, 26311, 26869, 27733, 28455, 29135])
def test_no_limit_is_named_where_the_search_of_levels_missed_a_pose_inside(seed: int) -> None:
    model, tasks, start, q = narrow_stack(seed)
    assert solve_ik(model, tasks, q).converged
    missed = solve_ik(model, tasks, start)
    assert missed.status is Status.MAX_ITERATIONS and not missed.joints
    assert "a pose inside the limits meets it" in missed.reason
