"""The methods of the papers behind one function: what they find, that limits hold at every iterate, and what they
refuse."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from robokin_addon.robokin import (
    DHRow,
    RobokinError,
    clamp,
    forward_kinematics,
    library_robot,
    random_configuration,
    rpy_jacobian,
    save_urdf,
)
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers import OrientationTask, PositionTask, solve_by, solve_ik
from robokin_addon.solvers.methods.arm import ArmTip
from robokin_addon.solvers.methods.dh_derivatives import dh_state
from robokin_addon.solvers.methods.newton_raphson import NewtonRaphson
from robokin_addon.solvers.methods.roll_pitch_yaw import pseudo_inverse
from robokin_addon.solvers.methods.solve_by import METHODS


def reachable(model, rng, spread=0.4):
    """A start, and the pose of a configuration beside it."""
    q0 = random_configuration(model, rng)
    return q0, forward_kinematics(model, clamp(model, q0 + rng.uniform(-spread, spread, model.nq)))["tool"]


@pytest.mark.parametrize("method", METHODS)
def test_each_method_goes_to_targets_in_turn_inside_the_limits(method, tmp_path):
    model, rng = library_robot("puma560"), np.random.default_rng(5)
    save_urdf(model, tmp_path / "puma.urdf")
    oracle = pinocchio.buildModelFromUrdf(str(tmp_path / "puma.urdf"))
    data, met = oracle.createData(), 0
    for _ in range(12):
        q0, T = reachable(model, rng)
        result = solve_by(method, model, "tool", [T, T @ se3.translation([0.0, 0.0, 0.02])], q0)
        assert (result.path[0] == q0).all() and len(result.path) == len(result.errors) == len(result.targets)
        assert (model.lower <= result.path).all() and (result.path <= model.upper).all()
        first = result.path[result.targets == 0][-1]
        pinocchio.framesForwardKinematics(oracle, data, first)
        placed = data.oMf[oracle.getFrameId("tool")]
        away = np.linalg.norm(placed.translation - T[:3, 3])
        turned = np.linalg.norm(pinocchio.log3(T[:3, :3].T @ placed.rotation))
        assert np.allclose(result.errors[result.targets == 0][-1], (away, turned), atol=1e-9)
        if result.converged:
            assert away < 1e-3 and (turned < 0.02 or method == "goal_oriented")
            assert result.reason == f"met after {result.iterations} iterations"
        met += result.converged
    assert met >= {"newton_raphson": 11, "levenberg_marquardt": 9, "goal_oriented": 6, "roll_pitch_yaw": 8}[method]


def test_newton_takes_at_most_ten_steps_beside_the_start():
    model, rng = library_robot("desk_arm"), np.random.default_rng(11)
    for _ in range(100):
        q0 = rng.uniform(-0.9, 0.9, model.nq)
        T = forward_kinematics(model, q0 + rng.uniform(-0.6, 0.6, model.nq))["tool"]
        result = solve_by("newton_raphson", model, "tool", T, q0)
        assert result.converged and result.iterations <= 10


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ([-1.283, 1.131, -1.487, -0.057, -1.123], [-1.57, 0.865, -1.025, -0.602, -1.171]),
        ([-1.156, 0.432, -1.484, 0.767, -1.204], [-1.57, 0.607, -1.326, 0.204, -1.57]),
        ([-0.485, -1.439, -1.538, 0.879, -1.419], [0.046, -1.45, -1.4, 0.415, -0.985]),
        ([0.513, -0.595, -1.536, 0.035, -1.487], [-0.034, -0.798, -1.158, -0.39, -1.462]),
        ([-1.374, -0.938, -1.449, 0.694, 1.281], [-1.47, -1.473, -1.231, 0.12, 1.571 - 1e-3]),
        ([1.503, 0.514, 1.079, -0.789, 0.539], [1.468, 0.156, 1.54, -0.612, 0.133]),
        ([1.239, 1.113, 1.099, -0.124, -0.033], [1.57, 0.745, 1.535, 0.419, 0.106]),
        ([-0.592, 0.344, 1.325, -0.237, -0.82], [-0.147, 0.226, 1.546, -0.059, -0.648]),
    ],
)
def test_newton_goes_back_from_limits_that_hold_it(start, end):
    """The nearest posture of the pose is beyond a limit, or the elbow is straight on the way; another one is not."""
    model = library_robot("desk_arm")
    result = solve_by("newton_raphson", model, "tool", forward_kinematics(model, np.array(end))["tool"], start)
    assert result.converged and result.iterations <= 10
    assert all(model.limits.contain(q) for q in result.path)


def test_newtons_steps_are_no_longer_than_is_asked():
    model = library_robot("desk_arm")
    q0, T = np.full(model.nq, -0.8), forward_kinematics(model, np.full(model.nq, 0.8))["tool"]
    longest = [
        abs(np.diff(solve_by("newton_raphson", model, "tool", T, q0, **asked).path, axis=0)[:3]).max()
        for asked in ({}, {"max_step": 0.05})
    ]
    assert 0.05 < longest[0] <= 0.6 + 1e-12
    assert longest[1] == pytest.approx(0.05)


@pytest.mark.parametrize("limit", [1, 6, 8, 10])
def test_newton_takes_no_more_steps_than_is_asked_before_it_relaxes(monkeypatch, limit):
    """Also where it goes to the other posture, in pieces of no more than the longest step."""
    model, relaxed, counts = library_robot("desk_arm"), NewtonRaphson._relaxed, []
    monkeypatch.setattr(
        NewtonRaphson,
        "_relaxed",
        lambda self, arm, path, T: counts.append(len(path) - 1) or relaxed(self, arm, path, T),
    )
    for start, end in (
        ([0.513, -0.595, -1.536, 0.035, -1.487], [-0.034, -0.798, -1.158, -0.39, -1.462]),
        ([1.503, 0.514, 1.079, -0.789, 0.539], [1.468, 0.156, 1.54, -0.612, 0.133]),
    ):
        T, asked = forward_kinematics(model, np.array(end))["tool"], {"max_step": 0.1, "max_iterations": limit}
        counts.clear()
        result = solve_by("newton_raphson", model, "tool", T, start, **asked)
        assert (counts or [result.iterations])[0] <= limit


def test_damping_that_falls_away_leaves_a_matrix_that_can_be_solved():
    """A place needs few of seven joints: after many good steps the damping was nothing beside the matrix."""
    model = library_robot("panda")
    start = "2.8653975302079613 -0.5158635069109274 1.2473118445445093 -0.4663387744499836 -1.2047766997498757 "
    start += "2.463077541736823 -0.7874006846897252"
    end = "2.397057179596865 -1.0559355867663802 0.8095166734722454 -3.0193657321294505 -0.14383739999618284 "
    end += "0.6014359290852909 -1.4931780180120084"
    T = forward_kinematics(model, np.array(end.split(), float))["tool"]
    assert np.isfinite(solve_by("newton_raphson", model, "tool", T, np.array(start.split(), float)).path).all()


def test_a_rotation_that_is_not_feasible_relaxes_to_the_nearest():
    model, rng = library_robot("desk_arm"), np.random.default_rng(7)
    relaxed = 0
    for _ in range(8):
        q0 = rng.uniform(-0.9, 0.9, model.nq)
        T = forward_kinematics(model, q0 + rng.uniform(-0.4, 0.4, model.nq))["tool"]
        T = T @ se3.exp(np.concatenate((np.zeros(3), rng.normal(size=3) * 0.3)))
        result = solve_by("newton_raphson", model, "tool", T, q0)
        other = solve_ik(model, [PositionTask("tool", T[:3, 3]), OrientationTask("tool", T[:3, :3], priority=2)], q0)
        assert result.errors[-1, 0] < 1e-4
        assert result.errors[-1, 1] < other.residuals[1]["orientation"] + 2e-3 or result.converged
        assert result.converged or "relaxed to the nearest feasible one" in result.reason
        relaxed += not result.converged
    assert relaxed > 5


def test_a_rotation_that_is_not_feasible_leaves_the_place_from_any_start():
    """Where the steps end limits may hold the arm in a posture from which the place is not reached."""
    model, rng = library_robot("desk_arm"), np.random.default_rng(7)
    for _ in range(8):
        q0, end = (random_configuration(model, rng) for _ in range(2))
        T = forward_kinematics(model, end)["tool"] @ se3.exp(np.concatenate((np.zeros(3), rng.normal(size=3) * 0.5)))
        result = solve_by("newton_raphson", model, "tool", T, q0)
        assert result.errors[-1, 0] < 1e-4 and model.limits.contain(result.path).all()
        assert result.converged or "relaxed to the nearest feasible one" in result.reason


def test_robocomps_targets_weights_locks_and_stages():
    model, rng = library_robot("puma560"), np.random.default_rng(2)
    q0, T = reachable(model, rng)
    start = forward_kinematics(model, q0)["tool"]

    along = solve_by("levenberg_marquardt", model, "tool", T, q0, target="ADVANCEAXIS", axis=(1.0, 0.0, 0.0))
    end = forward_kinematics(model, along.q)["tool"]
    asked = start[:3, 0] @ (T[:3, 3] - start[:3, 3])
    assert along.converged and np.allclose(start[:3, :3].T @ (end[:3, 3] - start[:3, 3]), [asked, 0, 0], atol=1e-4)
    assert np.allclose(end[:3, :3], start[:3, :3], atol=1e-4)

    aligned = solve_by("levenberg_marquardt", model, "tool", T, q0, target="ALIGNAXIS")
    assert aligned.converged and np.allclose(forward_kinematics(model, aligned.q)["tool"][:3, :3], T[:3, :3], atol=1e-4)

    wrist = [joint.name for joint in model.moving_joints[3:]]
    staged = solve_by("levenberg_marquardt", model, "tool", T, q0, stiff=wrist)
    assert (staged.path[1, 3:] == q0[3:]).all() and (staged.path[1, :3] != q0[:3]).any()
    turned = np.flatnonzero((staged.path[:, 3:] != q0[3:]).any(axis=1))[0]
    assert staged.errors[turned - 1, 0] < 1e-6, "the wrist turns when the place is met"

    far, desk = T @ se3.translation([3.0, 0.0, 0.0]), library_robot("desk_arm")
    heavy, light = (
        solve_by("levenberg_marquardt", desk, "tool", far, weights=[1, 1, 1, w, w, w]) for w in (100.0, 1e-4)
    )
    assert heavy.errors[-1, 1] < light.errors[-1, 1] - 0.1 and heavy.errors[-1, 0] > light.errors[-1, 0] + 0.01
    assert not heavy.converged and "minimum" in heavy.reason

    home = model.limits.middle(model.neutral())
    once, again = [], []
    for _ in range(12):
        T = forward_kinematics(model, random_configuration(model, rng))["tool"]
        q0 = random_configuration(model, rng)
        once.append(solve_by("levenberg_marquardt", model, "tool", T, q0).converged)
        again.append(solve_by("levenberg_marquardt", model, "tool", T, q0, again=[home]).converged)
    assert sum(again) > sum(once) and all(b for a, b in zip(once, again, strict=True) if a)


def test_breens_descent_starts_at_a_limit_and_goes_around_an_obstacle():
    model = library_robot("puma560")
    q0 = model.limits.middle(model.neutral())
    T = forward_kinematics(model, q0 + np.array([0.8, 0.2, 0.1, 0.0, 0.2, 0.0]))["tool"]
    q0[4] = model.upper[4]
    result = solve_by("goal_oriented", model, "tool", T, q0)
    assert (result.path[0] == q0).all() and (result.path[1:] < model.upper).all() and result.converged
    ends = np.array([forward_kinematics(model, q)["tool"][:3, 3] for q in result.path])
    middle = ends[len(ends) // 2]
    around = solve_by("goal_oriented", model, "tool", T, q0, obstacles=[middle], radius=0.15)
    gaps = [np.linalg.norm(forward_kinematics(model, q)["tool"][:3, 3] - middle) for q in around.path]
    assert min(gaps) > 0.03 > np.linalg.norm(ends - middle, axis=1).min()


def test_the_lectures_matrices_and_pseudo_inverses():
    rng = np.random.default_rng(1)
    rows = [DHRow(type=k, alpha=b, a=a, d=d) for k, b, a, d in (("R", 0.3, 0.1, 0.4), ("P", -0.7, 0.2, 0.1))]
    q = rng.normal(size=2)
    J = dh_state(rows, q)[1]
    for i in range(2):
        step = 1e-6 * np.eye(2)[i]
        assert np.allclose(J[:, i], (dh_state(rows, q + step)[0] - dh_state(rows, q - step)[0]) / 2e-6, atol=1e-8)
    for shape in ((6, 4), (3, 5), (4, 4)):
        A = rng.normal(size=shape)
        assert np.allclose(pseudo_inverse(A), np.linalg.pinv(A))
    assert pseudo_inverse(np.zeros((2, 3))) is None

    model = library_robot("puma560")
    q = random_configuration(model, rng)
    offset = se3.exp(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]))
    arm = ArmTip(model, "tool", offset, "roll_pitch_yaw")
    for i in range(6):
        step = 1e-6 * np.eye(6)[i]
        change = (arm.pose(q + step)[:3, 3] - arm.pose(q - step)[:3, 3]) / 2e-6
        assert np.allclose(arm.jacobian(q)[:3, i], change, atol=1e-8)
    assert np.allclose(ArmTip(model, "tool", np.eye(4), "").jacobian(q)[:3], rpy_jacobian(model, q, "tool")[:3])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ({"method": "newton"}, r"no method named 'newton' .*newton_raphson"),
        ({"gain": 2.0}, r"no setting of newton_raphson named 'gain' .*valid: eps_w"),
        ({"tip": "hand"}, r"no link named 'hand'"),
        ({"T_target": np.eye(3)}, r"T_target must be \(4, 4\)"),
        ({"method": "levenberg_marquardt", "stiff": ["elbow"]}, r"no joint named 'elbow'"),
        ({"method": "levenberg_marquardt", "stiff": "joint_4"}, r"stiff must be a list of joints, not 'joint_4'"),
        ({"method": "levenberg_marquardt", "again": 10}, r"again must be a list of starts \(nq,\), not 10"),
        ({"method": "levenberg_marquardt", "weights": [np.nan] * 6}, r"weights is not finite"),
        ({"method": "levenberg_marquardt", "weights": ["a"] * 6}, r"weights must be numbers"),
        ({"method": "levenberg_marquardt", "weights": [-1.0] * 6}, r"weights must be six numbers that are not neg"),
        ({"method": "levenberg_marquardt", "axis": ["x", "y", "z"]}, r"axis must be numbers"),
        ({"method": "levenberg_marquardt", "axis": [0.0] * 3}, r"axis has no direction"),
        ({"method": "levenberg_marquardt", "target": "POSE"}, r"POSE6D"),
        ({"method": "roll_pitch_yaw", "rows": ["w"]}, r"no row named 'w' \(valid: x, y"),
        ({"method": "goal_oriented", "radius": -1.0}, r"radius must be greater than 0"),
        ({"method": "goal_oriented", "obstacles": [[0.0]]}, r"goal_oriented: "),
        ({"eps_w": "small"}, r"newton_raphson: eps_w must be a number greater than 0, not 'small'"),
        ({"model": library_robot("mobile_arm"), "tip": None}, r"joint '.*': a wheeled base rolls"),
        (
            {"model": library_robot("puppet"), "tip": None},
            r"joint '.*': a ball turns .* newton_raphson knows angles .*other",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_choices(call, says):
    model = call.pop("model", library_robot("puma560"))
    given = {"method": "newton_raphson", "model": model, "tip": "tool", "T_target": np.eye(4)} | call
    given["tip"] = given["tip"] or model.link_names[-1]
    with pytest.raises(RobokinError, match=says):
        solve_by(**given)
