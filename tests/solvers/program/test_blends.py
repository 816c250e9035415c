"""Moves through points, at a stated speed of the tool, and blended into each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, forward_kinematics, library_robot
from robokin_addon.solvers import Move, program_motion, run_moves
from scipy.interpolate import CubicSpline
from support.few import rest_slow

PANDA = library_robot("panda")
TIP = PANDA.link_names[-1]
START = PANDA.limits.middle(PANDA.neutral())
HOME = forward_kinematics(PANDA, START)[TIP][:3, 3]
PLACES = HOME + np.array([[0.0, 0.1, -0.1], [0.05, 0.0, -0.2], [0.0, -0.1, -0.1]])


def tips(q: np.ndarray) -> np.ndarray:
    return np.array([forward_kinematics(PANDA, each)[TIP][:3, 3] for each in q])


def sampled(part, count: int = 501):
    t = np.linspace(0.0, part.duration, count)
    return t, *part.sample(t)


def off_lines(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How far points are from the nearest of the straight lines between corners."""
    found = []
    for a, b in pairwise(corners):
        share = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        found.append(np.linalg.norm(points - a - share[:, None] * (b - a), axis=1))
    return np.min(found, axis=0)


def test_blends_keep_to_their_radius_and_do_not_rest() -> None:
    radius = 0.03
    moves = [Move(f"to {i}", "line", tip=TIP, position=place, blend=radius) for i, place in enumerate(PLACES)]
    blended = run_moves(PANDA, moves, START)
    stopping = run_moves(PANDA, [Move(m.name, "line", tip=TIP, position=m.position) for m in moves], START)
    times = [sum(part.duration for _, part in done) for done in (blended, stopping)]
    assert times[0] < 0.9 * times[1]
    corners = np.vstack((HOME, PLACES))
    q, v, a = (np.concatenate([sampled(part)[k] for _, part in blended]) for k in (1, 2, 3))
    points = tips(q)
    away = np.array([np.linalg.norm(points - corner, axis=1) for corner in corners[1:-1]])
    outside = (away > radius * (1.0 + 1e-6)).all(axis=0)
    assert off_lines(points, corners)[outside].max() < 1e-3
    assert (1e-3 < away.min(axis=1)).all() and (away.min(axis=1) < radius).all()  # by the corner, not through it
    assert [part.sample(0.0)[1].any() for _, part in blended] == [False, True, True]
    assert np.linalg.norm(points[-1] - PLACES[-1]) < 1e-5
    bound = stopping[0][1].limits
    assert (abs(v) <= bound.velocity * (1.0 + 1e-6)).all() and (abs(a) <= bound.acceleration * (1.0 + 1e-6)).all()
    jerks = blended[0][1].whole.jerk(np.linspace(0.0, blended[0][1].whole.duration, 5001))
    assert (abs(jerks) <= bound.jerk * (1.0 + 1e-6)).all()
    motion = program_motion(blended, 100.0)
    assert motion.duration == pytest.approx(times[0]) and len(motion) == pytest.approx(100.0 * times[0], abs=4)


def test_joint_moves_blend_with_lines_each_at_its_speed() -> None:
    ready = {PANDA.moving_joints[0].name: 0.6}
    moves = [
        Move("ready", joints=ready, blend=0.05),
        Move("along", "line", tip=TIP, position=PLACES[0], speed=0.3, blend=0.02),
        Move("back", joints=ready),
    ]
    done = run_moves(PANDA, moves, START)
    bound = done[0][1].whole.limits
    fastest = [(abs(sampled(part)[2]) / bound.velocity).max() for _, part in done]
    assert fastest[1] <= 0.3 * (1.0 + 1e-6) < fastest[0]
    assert abs(sampled(done[1][1])[2][0]).max() > 0.01  # it goes on


def test_a_spline_passes_its_points_and_a_curve_is_followed_at_its_speed() -> None:
    (_, spline), (_, curve) = run_moves(
        PANDA,
        [
            Move("through", "spline", tip=TIP, points=PLACES),
            Move("along", "curve", tip=TIP, points=PLACES[::-1], tool_speed=0.05),
        ],
        START,
    )
    points = tips(sampled(spline)[1])
    wanted = np.vstack((HOME, PLACES))
    knots = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(wanted, axis=0), axis=1)))
    exact = CubicSpline(knots, wanted)(np.linspace(0.0, knots[-1], 20_001))
    assert max(np.linalg.norm(exact - point, axis=1).min() for point in points[::20]) < 1e-4
    assert all(np.linalg.norm(points - place, axis=1).min() < 2e-3 for place in PLACES)
    t, q, *_ = sampled(curve, 2001)
    along = tips(q)
    assert off_lines(along, PLACES[::-1]).max() < 1e-3
    speeds = np.linalg.norm(np.diff(along, axis=0), axis=1) / t[1]
    assert 0.0499 < speeds.max() <= 0.05 * (1.0 + 1e-6) and np.median(speeds) > 0.045


@pytest.mark.slow
def test_finer_samples_of_a_smooth_curve_do_not_hinder_its_speed() -> None:
    turns = [np.linspace(0.0, 2.0 * np.pi, count + 1)[:, None] for count in (96, 400)]
    ring = [HOME + 0.08 * np.hstack((np.cos(turn) - 1.0, np.sin(turn), 0.0 * turn)) for turn in turns]
    moves = [Move("round", "curve", tip=TIP, points=points, tool_speed=0.15) for points in ring]
    found = [sampled(run_moves(PANDA, [move], START)[0][1], 2001) for move in moves]
    for t, q, *_ in found:
        along = tips(q)
        speeds = np.linalg.norm(np.diff(along[200:-200], axis=0), axis=1) / t[1]
        assert speeds.min() > 0.149
        assert off_lines(along, ring[0]).max() < 1e-4
    assert found[1][0][-1] == pytest.approx(found[0][0][-1], rel=1e-3)


@pytest.mark.parametrize("count", [2, 3])
def test_a_blend_into_a_move_that_goes_nowhere(count: int) -> None:
    joint = PANDA.moving_joints[1].name
    moves = [Move("a", joints={joint: 0.5}, blend=0.01), *(Move("b", joints={}, blend=0.01) for _ in range(count - 2))]
    found = run_moves(PANDA, [*moves, Move("last", joints={})], START)
    assert len(found) == count and found[0][1].duration > 0.1
    end = PANDA.joint_values(program_motion(found).q[-1])
    assert end == pytest.approx(PANDA.joint_values(START) | {joint: 0.5}, abs=1e-9)


@pytest.mark.parametrize("radius", rest_slow([0.002, 0.004], 0))
def test_small_blends_do_not_rest_either(radius: float) -> None:
    """Each way has 120 places, of a few millimetres here."""
    gantry = library_robot("gantry")
    tip, (low, high) = gantry.link_names[-1], (gantry.limits.lower, gantry.limits.upper)
    q0, span = low + 0.1 * (high - low), 0.8 * (high - low)
    here = forward_kinematics(gantry, q0)[tip][:3, 3]
    moves = [
        Move("along", "line", tip=tip, position=here + np.array([span[0], 0.0, 0.0]), blend=radius),
        Move("across", "line", tip=tip, position=here + np.array([span[0], span[1], 0.0])),
    ]
    found = run_moves(gantry, moves, q0, {"jerk": 1e3})
    _, _, v, _ = sampled(found[0][1], 4001)
    assert np.linalg.norm(v[2000:], axis=1).min() > 0.01


def test_what_is_no_list_of_moves_is_refused() -> None:
    for wrong in (None, ["a"], 3):
        with pytest.raises(ConfigurationError, match="moves must be a list of Move"):
            run_moves(PANDA, wrong, START)
    with pytest.raises(ConfigurationError, match="points must be a list"):
        Move("a", "spline", tip=TIP, points=np.array(3.0))
    assert Move("a", "line", tip=TIP, position=HOME, tool_speed=np.float32(0.5)).tool_speed == 0.5


@pytest.mark.parametrize("speeds", [(1.0, 1.0), (1.0, 0.3)])
def test_a_blend_costs_no_time(speeds: tuple[float, float]) -> None:
    """Where the joints turn about in a corner they rest there sooner than they go round it within a little radius."""
    ends = [(0.13, -0.1), (-0.1, 0.12)]
    joints = [joint.name for joint in PANDA.moving_joints[:2]]

    def duration(blend: float) -> float:
        moves = [
            Move(f"to {way}", joints=dict(zip(joints, way, strict=True)), blend=blend, speed=speed)
            for way, speed in zip(ends, speeds, strict=True)
        ]
        first, second = (part for _, part in run_moves(PANDA, moves, START, {"jerk": 5.0}))
        for ending, beginning in zip(first.sample(first.duration), second.sample(0.0), strict=True):
            assert abs(ending - beginning).max() < 1e-6
        return first.duration + second.duration

    assert duration(0.003) <= duration(0.0) * (1.0 + 1e-9)
