"""`track` keeps the trackers of its last calls: a call again is as one of a new tracker, to the last bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics
from robokin_addon.robokin.errors import TaskError
from robokin_addon.solvers import PoseTask, Task, TrackResult, TwistTask, track
from robokin_addon.solvers.criteria import KineticEnergy
from robokin_addon.solvers.tracking import track as tracking_module
from support.engine.robots import engine_robot
from support.engine.stacks import DT, FRAMES, engine_stack

MODEL = engine_robot("panda")
Q = MODEL.limits.middle(MODEL.neutral())
HAND = "panda_hand"
T = forward_kinematics(MODEL, Q)[HAND]
PATH = np.tile(T, (FRAMES, 1, 1, 1))
PATH[:, 0, 1, 3] += np.linspace(0.0, 0.2, FRAMES)


def stack(seed: int) -> Callable[[], TrackResult]:
    return engine_stack("panda", seed).tracked


def plain() -> TrackResult:
    return track(MODEL, [PoseTask(HAND, T)], PATH, Q, DT)


def chosen_start() -> TrackResult:
    return track(MODEL, [PoseTask(HAND, T)], PATH, None, DT, criteria=[KineticEnergy()])


def twist() -> TrackResult:
    tasks: list[Task] = [TwistTask(HAND, (0.0, 0.05, 0.0, 0.0, 0.0, 0.1)), PoseTask(HAND, T, 0.0, 1.0, priority=2)]
    return track(
        MODEL, tasks, [[task.target for task in tasks]] * FRAMES, Q, DT, start_velocity=0.1 * np.ones(MODEL.nv)
    )


def fading() -> TrackResult:
    return track(MODEL, [PoseTask(HAND, T, influence=0.5)], PATH, Q, DT)


MOTIONS = {
    "plain": plain,
    "start": chosen_start,
    "twist": twist,
    "fade": fading,
    "stack 1": stack(1),
    "stack 6": stack(6),
}


def forget() -> None:
    tracking_module._recent.entries = []


def assert_same(one: TrackResult, other: TrackResult) -> None:
    for name in ("q", "residuals", "codes", "iterations", "behind"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("name", MOTIONS)
def test_a_motion_again(name: str) -> None:
    forget()
    first = MOTIONS[name]()
    assert len(tracking_module._recent.entries) == 1
    assert_same(MOTIONS[name](), first)
    assert len(tracking_module._recent.entries) == 1


def test_a_motion_within_another_one_like_it() -> None:
    """Whoever is told of the progress may track too."""
    forget()
    expected, inner = plain(), []

    def told(done: int, _: int) -> None:
        if len(inner) < 3:
            inner.append(plain())

    outer = track(MODEL, [PoseTask(HAND, T)], PATH, Q, DT, progress=told)
    for each in (outer, *inner):
        assert_same(each, expected)


def test_a_motion_after_one_that_failed_or_was_stopped() -> None:
    forget()
    expected = plain()
    bad = PATH.copy()
    bad[5, 0, 0, 0] = 2.0
    with pytest.raises(TaskError, match="frame"):
        track(MODEL, [PoseTask(HAND, T)], bad, Q, DT)
    assert_same(plain(), expected)
    track(MODEL, [PoseTask(HAND, T)], PATH, Q, DT, progress=lambda *_: False)
    assert_same(plain(), expected)


def test_other_time_steps_have_another_tracker() -> None:
    forget()
    plain()
    slower = track(MODEL, [PoseTask(HAND, T)], PATH, Q, 2.0 * DT)
    assert slower.dt == 2.0 * DT and len(tracking_module._recent.entries) == 2


def test_a_result_does_not_solve_with_what_later_calls_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be another thread's, and a problem's buffers are for one at a time."""
    forget()
    result = plain()
    assert plain().problem is result.problem
    whole = np.ones(len(result.targets[1]), bool)
    expected = result._solved(1, whole)
    monkeypatch.setattr(result.problem, "solve", None)
    np.testing.assert_array_equal(result._solved(1, whole).q, expected.q)
