"""Linear keys of a ball keep its limit on speed between frames too."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobotModel
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.solvers import PoseTask, optimize_motion, track
from support.few import rest_slow

DT, FRAMES = 1 / 25, 12


def turning(kind: str, speed: object) -> RobotModel:
    return RobotModel(
        "r", [Link("base"), Link("l", 1.0, inertia=np.eye(3))], [Joint("j", kind, "base", "l", velocity=speed)]
    )


def fastest_between(q: np.ndarray) -> np.ndarray:
    """(3,) the largest speeds about each axis of quaternions (F, 4) that go straight from frame to frame, and are made
    unit: by differences of a two-hundredth of a frame."""
    found = np.zeros(3)
    for a, b in pairwise(q):
        b = b if a @ b > 0.0 else -b
        s = np.linspace(0.0, 1.0, 201)[:, None]
        between = a + s * (b - a)
        between /= np.linalg.norm(between, axis=1, keepdims=True)
        turned = quaternion.multiply(quaternion.conjugate(between[:-1]), between[1:])
        found = np.maximum(found, abs(2.0 * turned[:, 1:] / (DT / 200)).max(axis=0))
    return found


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
@pytest.mark.parametrize("speed", [0.3, 14.0, 60.0, [3.0, 20.0, 9.0], [10.0, np.inf, 10.0]])
@pytest.mark.parametrize("kind", ["spherical", "floating"])
def test_a_ball_that_follows(kind: str, speed: object, backend: str) -> None:
    speeds = np.broadcast_to(speed, 3)
    model = turning(kind, speeds if kind == "spherical" else [np.inf] * 3 + list(speeds))
    targets = np.tile(np.eye(4), (FRAMES, 1, 1))
    turns = np.arange(FRAMES)[:, None] * np.minimum(speeds, 30.0) * DT * np.array([1.1, 0.9, -1.05])
    targets[:, :3, :3] = quaternion.to_matrix(quaternion.exp(turns))
    found = track(model, [PoseTask("l", np.eye(4))], targets[:, None], model.neutral(), dt=DT, backend=backend)
    share = fastest_between(found.q[:, -4:]) / speeds
    assert share.max() <= 1.0 + 1e-6
    if np.ndim(speed) == 0 and speed < 60.0:
        assert share.max() >= 0.98, "as fast as it may"


def fastest_slide(q: np.ndarray) -> np.ndarray:
    """(3,) the largest speeds along its own axes of a floating joint q (F, 7) that goes straight from key to key."""
    found = np.zeros(3)
    for a, b in pairwise(q):
        s = np.linspace(0.0, 1.0, 101)[:, None]
        between = a[3:] + s * (np.copysign(1.0, a[3:] @ b[3:]) * b[3:] - a[3:])
        R = quaternion.to_matrix(between / np.linalg.norm(between, axis=1, keepdims=True))
        found = np.maximum(found, abs((b[:3] - a[:3]) / DT @ R).max(axis=0))
    return found


SLIDES = (0.4, [1.0, 0.8, 1.2], [0.2, 5.0, 5.0], [3.0, 0.1, 3.0], [0.4, 0.4, np.inf], [np.inf, np.inf, 0.05])
TURNS = (0.5, 8.0, [1.0, 0.2, 6.0], [3.0, 3.0, np.inf], np.inf)


@pytest.mark.parametrize(
    ("slide", "turn", "backend"),
    [
        *((*each, "native") for each in product(SLIDES, TURNS)),
        *rest_slow([(*each, "numpy") for each in zip(SLIDES, (*TURNS, 8.0), strict=True)], 3),
    ],
)
def test_a_floating_joint_that_slides_and_turns(slide: object, turn: object, backend: str) -> None:
    slides, turns = np.broadcast_to(slide, 3), np.broadcast_to(turn, 3)
    model = turning("floating", [*slides, *turns])
    rng, share = np.random.default_rng(3), np.zeros(3)
    for _ in range(4 if backend == "native" else 2):
        goal = np.eye(4)
        goal[:3, :3] = quaternion.to_matrix(quaternion.exp(rng.uniform(-2.0, 2.0, 3)))
        goal[:3, 3] = rng.uniform(-9.0, 9.0, 3)
        targets = np.tile(goal, (FRAMES, 1, 1, 1))
        targets[0] = np.eye(4)
        found = track(model, [PoseTask("l", np.eye(4))], targets, model.neutral(), dt=DT, backend=backend)
        share = np.maximum(share, fastest_slide(found.q) / slides)
    assert share.max() <= 1.0 + 1e-6


@pytest.mark.parametrize("speed", [0.3, 14.0])
def test_a_whole_motion_of_a_ball(speed: float) -> None:
    model = turning("spherical", speed)
    end = quaternion.exp(np.full(3, 0.97 * speed * (FRAMES - 1) * DT))
    goal = np.eye(4)
    goal[:3, :3] = quaternion.to_matrix(end)
    targets = np.tile(goal, (FRAMES, 1, 1, 1))
    found = optimize_motion(model, [PoseTask("l", np.eye(4))], targets, q0=model.neutral(), dt=DT, cost="animation")
    assert fastest_between(found.q).max() <= speed * (1.0 + 1e-6)
