"""Spots of beams on curves: the first example of the main paper as it is stated there, two circles of unrelated timing
and size, by plain geometry of the beams."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, integrate, library_robot
from robokin_addon.robokin.errors import TaskError
from robokin_addon.solvers import (
    AlongCurveTask,
    Curve,
    MeshSurface,
    OnCurveTask,
    Plane,
    Status,
    solve_ik,
    track,
)
from robokin_addon.solvers.criteria import KineticEnergy
from robokin_addon.solvers.kinematics.state import State

WALL = Plane([1.6, 0.0, 0.0], [-1.0, 0.0, 0.0])
MOUTHS = (0.0, 0.03, 0.02), (0.0, -0.03, 0.02)
DIRECTIONS = (0.0, 0.29, 1.0), (0.02, -0.27, 1.0)
CIRCLES = ((0.3, 0.9), 0.2), ((-0.3, 1.0), 0.12)  # center on the wall, radius
SPEEDS = -0.087, 0.1
POSE = {"shoulder_pan": np.pi, "shoulder_lift": -1.2, "elbow": 1.3, "wrist_1": np.pi - 0.1, "wrist_2": -np.pi / 2}


def circle(center: tuple[float, float], radius: float) -> Curve:
    angle = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    y, z = center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)
    return Curve(np.column_stack((np.full(720, 1.6), y, z)), True)


def beam(i: int) -> dict:
    return {"point": MOUTHS[i], "direction": DIRECTIONS[i], "surface": WALL}


def spots(T: np.ndarray) -> np.ndarray:
    """(2, 2) y and z on the wall, by plain geometry."""
    found = []
    for mouth, direction in zip(MOUTHS, DIRECTIONS, strict=True):
        o, a = T[:3, :3] @ mouth + T[:3, 3], T[:3, :3] @ direction
        found.append((o + (1.6 - o[0]) / a[0] * a)[1:])
    return np.array(found)


@pytest.mark.slow
def test_two_spots_go_round_their_circles_at_their_speeds() -> None:
    """Each spot: a row across its circle with feedback, one along it with the speed. No drift in 5 s."""
    robot = library_robot("mobile_arm")
    dt, frames = 1.0 / 48.0, 241
    tasks = [AlongCurveTask("tool", circle(*CIRCLES[i]), SPEEDS[i], **beam(i)) for i in range(2)]
    result = track(robot, tasks, [SPEEDS] * frames, robot.configuration(POSE), dt=dt, criteria=[KineticEnergy()])
    assert (result.codes[1:] == 0).all()
    assert robot.limits.contain(result.q).all()
    halves = [integrate(robot, a, 0.5 * (b - a)) for a, b in zip(result.q, result.q[1:], strict=False)]
    at = np.array([spots(forward_kinematics(robot, q)["tool"]) for q in result.q])
    between = np.array([spots(forward_kinematics(robot, q)["tool"]) for q in halves])
    for i, (center, radius) in enumerate(CIRCLES):
        away = at[:, i] - center
        assert abs(np.linalg.norm(away, axis=1) - radius).max() < 2e-5
        assert abs(np.linalg.norm(between[:, i] - center, axis=1) - radius).max() < 1e-4
        turned = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
        np.testing.assert_allclose(np.diff(turned)[4:] * radius / dt, SPEEDS[i], rtol=2e-4)
    # no wheel slips sideways: from the double-precision poses of the base, by the middle heading
    x, y, heading = result.q[:, :3].T
    middle = 0.5 * (heading[1:] + heading[:-1])
    assert abs(np.cos(middle) * np.diff(y) - np.sin(middle) * np.diff(x)).max() < 1e-9


@pytest.mark.parametrize("surface", [WALL, MeshSurface([[1.6, -9, -9], [1.6, 9, -9], [1.6, 0, 9]], [[0, 1, 2]])])
def test_a_spot_finds_its_curve_also_from_where_it_misses_the_wall(surface: object) -> None:
    robot = library_robot("mobile_arm")
    task = OnCurveTask("tool", circle(*CIRCLES[0]), **{**beam(0), "surface": surface})
    for wrist in (np.pi - 0.1, 0.2):  # at the wall; away from it
        found = solve_ik(robot, [task], robot.configuration({**POSE, "wrist_1": wrist}))
        assert found.status == Status.CONVERGED
        spot = spots(forward_kinematics(robot, found.q)["tool"])[0]
        assert abs(np.linalg.norm(np.subtract(spot, CIRCLES[0][0])) - CIRCLES[0][1]) < 2e-5


def test_the_rows_are_central_differences() -> None:
    robot = library_robot("mobile_arm")
    q, h = robot.configuration(POSE), 1e-6
    task = OnCurveTask("tool", [[1.6, 5.0, 5.0], [1.6, 5.0, 6.0]], **beam(1))  # its end is the nearest: three rows
    J = task.rows(State(robot, q), task.target).J
    for k in range(robot.nv):
        v = np.zeros(robot.nv)
        v[k] = h
        ends = [spots(forward_kinematics(robot, integrate(robot, q, s * v))["tool"])[1] for s in (1.0, -1.0)]
        np.testing.assert_allclose(J[1:, k], (ends[0] - ends[1]) / (2.0 * h), atol=2e-7)
    assert abs(J[0]).max() < 1e-12


def test_a_beam_that_misses_moves_as_the_point_on_it_that_is_as_far_away_as_the_curve() -> None:
    """How far that is changes too; and a curve is never too far for a beam."""
    robot = library_robot("mobile_arm")
    q, h = robot.configuration({**POSE, "wrist_1": 0.2}), 1e-6
    curve = circle(*CIRCLES[0])
    task = OnCurveTask("tool", curve, **beam(0))
    found = task.place(State(robot, q), WALL, curve)

    def ray(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        T = forward_kinematics(robot, q)["tool"]
        return T[:3, :3] @ MOUTHS[0] + T[:3, 3], T[:3, :3] @ DIRECTIONS[0] / np.linalg.norm(DIRECTIONS[0])

    o, a = ray(q)

    def away(o: np.ndarray) -> float:
        i, s = curve.closest(o)
        return float(np.linalg.norm(curve.lines[i].at(s)[0] - o))

    np.testing.assert_allclose(found.at, o + away(o) * a, atol=1e-9)
    for k in range(robot.nv):
        v = h * np.eye(robot.nv)[k]
        ends = [ray(integrate(robot, q, sign * v)) for sign in (1.0, -1.0)]
        there = [o + away(o) * a for o, a in ends]
        np.testing.assert_allclose(found.J[:, k], (there[0] - there[1]) / (2.0 * h), atol=2e-7)
    assert task.distance_bound(task.target, np.array([-90.0, 0.0, 0.0]), 1.0) <= 0.0


def test_a_beam_is_whole() -> None:
    with pytest.raises(TaskError, match="a beam needs a direction in its link and a surface: give both"):
        OnCurveTask("tool", circle(*CIRCLES[0]), direction=(0, 0, 1))
    with pytest.raises(TaskError, match="surface must be a Plane or a MeshSurface, not 3"):
        AlongCurveTask("tool", circle(*CIRCLES[0]), 1.0, direction=(0, 0, 1), surface=3)
