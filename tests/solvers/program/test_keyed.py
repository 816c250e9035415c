"""Moves timed by hand: the path as ever, at the keyed shares, inside the limits or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobotModel, forward_kinematics, library_robot
from robokin_addon.solvers import Motion, MotionDynamics, Move, run_moves
from robokin_addon.solvers.program.run import run_moves_steps
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits
from scipy.interpolate import CubicSpline

PANDA = library_robot("panda")
TIP = PANDA.link_names[-1]
START = PANDA.limits.middle(PANDA.neutral())
HOME = forward_kinematics(PANDA, START)[TIP][:3, 3]
KEYS = np.array([[0.0, 0.0], [1.0, 0.1], [2.5, 0.7], [3.0, 0.72], [5.0, 1.0]])


def line(progress, **more):
    return Move("by hand", "line", None, TIP, HOME - [0.1, 0.0, 0.2], progress=progress, **more)


def test_the_tip_is_at_the_keyed_share_of_its_line() -> None:
    ((_, done),) = run_moves(PANDA, [line(KEYS)], START)
    oracle = CubicSpline(*KEYS.T, bc_type="clamped")
    t = np.linspace(0.0, 5.0, 400)
    q, v, a = done.sample(t)
    np.testing.assert_allclose(done.progress(t)[:3], [oracle(t, k) for k in range(3)], atol=1e-9)
    tips = np.array([forward_kinematics(PANDA, each)[TIP][:3, 3] for each in q])
    np.testing.assert_allclose(tips, HOME - oracle(t)[:, None] * [0.1, 0.0, 0.2], atol=2e-4)
    h = 1e-5
    later, earlier = done.sample(t[1:-1] + h), done.sample(t[1:-1] - h)
    np.testing.assert_allclose((later[0] - earlier[0]) / (2 * h), v[1:-1], atol=1e-6)
    np.testing.assert_allclose(np.median(abs((later[1] - earlier[1]) / (2 * h) - a[1:-1])), 0.0, atol=1e-5)
    assert abs(v[[0, -1]]).max() < 1e-9


def test_what_passes_a_limit_is_refused_with_the_time_it_needs() -> None:
    with pytest.raises(ConfigurationError, match=r"by hand.*too fast: .*needs .* times more time") as refused:
        run_moves(PANDA, [line(KEYS * [0.1, 1.0])], START)
    need = float(str(refused.value).split("needs ")[1].split()[0])
    assert run_moves(PANDA, [line(KEYS * [0.1 * need * 1.01, 1.0])], START)
    with pytest.raises(ConfigurationError, match=r"too fast"):
        run_moves(PANDA, [line(KEYS * [0.1 * need * 0.98, 1.0])], START)
    with pytest.raises(ConfigurationError, match=r"m/s at .* s, allowed 0.02 m/s"):
        run_moves(PANDA, [line(KEYS, tool_speed=0.02)], START)


@pytest.mark.parametrize(
    ("progress", "match"),
    [
        ([[0, 0]], "pairs of a time and a share"),
        ([[0, 0], [1, 0.5]], "must go from 0 to 1"),
        ([[0, 0], [0, 1]], "begin at 0 and increase"),
        ([[0, 0], [1, 1.2], [2, 1]], "from 0 to 1 and stay between"),
        ("slow", "pairs of a time"),
    ],
)
def test_bad_progress_is_named(progress, match) -> None:
    with pytest.raises(ConfigurationError, match=f"'by hand': progress.*{match}"):
        line(progress)


def test_progress_that_leaves_the_path_between_keys() -> None:
    with pytest.raises(ConfigurationError, match=r"leaves 0..1 between its keys"):
        run_moves(PANDA, [line([[0, 0], [1, 0.98], [20, 1]])], START)
    with pytest.raises(ConfigurationError, match=r"cannot blend"):
        line(KEYS, blend=0.1)


G = (0.0, 0.0, -9.81)


def test_drives_and_tools_are_held_against_what_the_motion_takes() -> None:
    """A limit a little above the most that the motion has is kept, one a little below is refused by its name."""
    ((_, done),) = run_moves(PANDA, [line(KEYS)], START)
    t = np.linspace(0.0, 5.0, 2001)
    q, v, a = done.sample(t)
    taken = MotionDynamics.of(Motion(PANDA, t, q, v, a), G)
    at = np.array([forward_kinematics(PANDA, each)[TIP][:3, 3] for each in q])
    speed = np.linalg.norm(np.gradient(at, t, axis=0), axis=1)
    acceleration = np.linalg.norm(np.diff(at, 2, axis=0), axis=1) / (t[1] - t[0]) ** 2
    for most, match, limited in (
        (abs(taken.power).max(), "power of .* W at", lambda x: ({"power": x}, G)),
        (speed.max(), "goes at", lambda x: ({"tools": {TIP: {"speed": x}}},)),
        (acceleration.max(), "accelerates at", lambda x: ({"tools": {TIP: {"acceleration": x}}},)),
    ):
        assert run_moves(PANDA, [line(KEYS)], START, *limited(1.02 * most))
        with pytest.raises(ConfigurationError, match=match):
            run_moves(PANDA, [line(KEYS)], START, *limited(0.98 * most))
    for share, is_kept in ((1.02, True), (0.98, False)):
        joints = [
            replace(joint, effort=share * float(most))
            for joint, most in zip(PANDA.moving_joints, abs(taken.effort).max(axis=0), strict=True)
        ]
        named = {joint.name: joint for joint in joints}
        weak = RobotModel("weak", PANDA.links, [named.get(joint.name, joint) for joint in PANDA.joints[1:]])
        if is_kept:
            assert run_moves(weak, [line(KEYS)], START, {}, G)
        else:
            with pytest.raises(ConfigurationError, match=r"effort of .* N m at"):
                run_moves(weak, [line(KEYS)], START, {}, G)
        assert run_moves(weak, [line(KEYS)], START)


def test_jerks_that_are_given_are_kept_and_assumed_ones_are_not_asked_for() -> None:
    ((_, done),) = run_moves(PANDA, [line(KEYS)], START)
    most = abs(done.rates(np.linspace(0.0, 5.0, 4001))[3]).max()
    assert run_moves(PANDA, [line(KEYS)], START, {"jerk": 1.05 * most})
    with pytest.raises(ConfigurationError, match=r"too fast: jerk of .* rad/s³ at"):
        run_moves(PANDA, [line(KEYS)], START, {"jerk": 0.95 * most})
    t = np.linspace(0.0, 5.0, 501)
    shaken = np.column_stack((t, (t / 5.0) ** 2 * (3.0 - 0.4 * t)))
    shaken[240:260:2, 1] += 3e-5
    ((_, done),) = run_moves(PANDA, [line(shaken)], START)
    assert (abs(done.rates(t + 0.005)[3]).max(axis=0) > MotionLimits.of(PANDA).jerk).any()


def test_a_long_look_at_limits_is_in_pieces() -> None:
    t = np.linspace(0.0, 60.0, 400)
    shares = (t / 60.0) ** 2 * (3.0 - t / 30.0)
    assert len([*run_moves_steps(PANDA, [line(np.column_stack((t, shares)))], START)]) > 8
