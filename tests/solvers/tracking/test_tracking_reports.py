"""Tracking: what is reported is true, pieces give the bits of one run, both backends agree, bad input is named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, TaskError, forward_kinematics, random_configuration
from robokin_addon.solvers import PoseTask, PositionTask
from robokin_addon.solvers.results import Status
from robokin_addon.solvers.tracking.track import Tracker, track
from support.few import rest_slow
from support.problems.limits import with_rates
from support.problems.motions import wandering
from support.problems.tracked import (
    BACKENDS,
    PANDA_Q,
    assert_inside,
    assert_residuals_are_true,
    circle,
    panda,
    ur5,
)
from support.random_problems.random_trees import random_placement, random_robot


def test_limit_names_joints_whose_rates_are_the_reason():
    model, q, tasks = ur5()
    targets = circle(model, "tool0", q, 10)
    result = track(model, tasks, targets, q)
    late = [k for k, status in enumerate(result.status) if status is Status.LIMIT]
    assert late
    for k in late:
        diagnosis = result.diagnosis(k)
        assert diagnosis.status is Status.LIMIT and diagnosis.joints and diagnosis.joints[0] in diagnosis.reason
        freed = Tracker(with_rates(model, diagnosis.joints, velocity=np.inf), tasks)
        freed.stand(result.q[k - 1], result.motion.v[k - 1])
        assert freed.step(targets[k]).converged
    assert result.frame(late[0]).joints == result.diagnosis(late[0]).joints


def test_out_of_reach_and_back():
    model, q, tasks = ur5()
    targets = circle(model, "tool0", q, 60)
    targets[20:40, 0, 0, 3] += 5.0
    result = track(model, tasks, targets, q)
    assert_inside(result)
    assert all(status is Status.OUT_OF_REACH for status in result.status[20:40])
    assert result.diagnosis(25).status is Status.OUT_OF_REACH
    assert result.converged[:20].all() and result.converged[-5:].all()


def test_a_conflict_is_found_when_asked():
    model, q, _ = ur5()
    at = forward_kinematics(model, q)["tool0"][:3, 3]
    tasks = [PositionTask("tool0", at, name="here"), PositionTask("tool0", at + np.array([0, 0, 0.05]), name="there")]
    targets = np.tile([task.target for task in tasks], (5, 1, 1, 1))
    result = track(model, tasks, targets, q)
    assert result.status[3] is Status.MAX_ITERATIONS
    assert result.diagnosis(3).status is Status.TASK_CONFLICT and result.diagnosis(3).tasks == ("here", "there")
    assert_residuals_are_true(result)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tasks_and_tasks_on_what_cannot_move(backend):
    model, q, _ = panda()
    result = track(model, [], np.zeros((3, 0, 4, 4)), q, backend=backend)
    assert result.status == [Status.EMPTY] * 3 and (result.q == q).all()
    fixed = track(model, [PositionTask("panda_link0", np.zeros(3))], np.tile(np.eye(4), (3, 1, 1)), q, backend=backend)
    assert fixed.converged.all() and (fixed.q == q).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_pieces_and_single_frames_give_the_bits_of_one_run(backend):
    model = with_rates(panda()[0], acceleration=20.0)
    q, tasks = model.configuration(PANDA_Q), panda()[2]
    targets = circle(model, "panda_hand", q, 45, turns=2.5)  # too fast at times
    whole = track(model, tasks, targets, q, backend=backend)
    assert not whole.converged.all() and whole.converged.any()
    for cuts in ([1, 7, 30, 45], list(range(1, 46))):
        tracker = Tracker(model, tasks, backend=backend)
        parts = [tracker.start(targets[0], q)]
        parts += [tracker.run(targets[a:b]) for a, b in pairwise(cuts)]
        for name in ("q", "codes", "residuals", "iterations", "behind"):
            assert (np.concatenate([getattr(part, name) for part in parts]) == getattr(whole, name)).all()
    tracker = Tracker(model, tasks, backend=backend)
    tracker.start(targets[0], q)
    for k in range(1, 45):
        found = tracker.step(targets[k])
        assert (found.q == whole.q[k]).all() and found.status is whole.status[k]
        assert (found.residual_array == whole.residuals[k]).all() and (tracker.q == whole.q[k]).all()
    np.testing.assert_allclose(tracker.v, whole.motion.v[-1], atol=1e-12)


def test_progress_and_stopping():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 1000)
    seen: list[tuple[int, int]] = []
    whole = track(model, tasks, targets, q, progress=lambda done, frames: seen.append((done, frames)))
    assert len(whole) == 1000 and seen[0] == (1, 1000) and seen[-1] == (1000, 1000) and len(seen) > 3
    stopped = track(model, tasks, targets, q, progress=lambda done, frames: done < 500)
    assert 500 <= len(stopped) < 1000
    assert (stopped.q == whole.q[: len(stopped)]).all() and len(stopped.motion) == len(stopped)


def test_a_refused_target_leaves_the_tracker_where_it_was():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 30)
    broken = targets.copy()
    broken[20, 0, :3, :3] *= 1.1
    for backend in BACKENDS:
        tracker = Tracker(model, tasks, backend=backend)
        tracker.start(targets[0], q)
        with pytest.raises(TaskError, match="target of frame 20"):
            tracker.run(broken)
        again = Tracker(model, tasks, backend=backend)
        again.start(targets[0], q)
        assert (tracker.q == again.q).all() and (tracker.run(targets[1:]).q == again.run(targets[1:]).q).all()


def test_restarts_only_at_the_start():
    """From a start that needs restarts, the first frame converges; later frames never leave its posture."""
    model, _, tasks = ur5()
    rng = np.random.default_rng(5)
    goal = random_configuration(model, rng)
    targets = circle(model, "tool0", goal, 100, radius=0.01)
    result = track(model, tasks, targets, random_configuration(model, rng))
    assert result.converged[0] and abs(np.diff(result.q, axis=0)).max() <= np.pi / 24 + 1e-9


@pytest.mark.parametrize("seed", rest_slow(range(12), 4))
def test_the_kernel_equals_the_reference(seed):
    rng = np.random.default_rng(100 + seed)
    model = random_robot(seed, joints=8, root=("fixed", "planar", "floating")[seed % 3])
    rates = [{}, {"velocity": 1.0}, {"velocity": 2.0, "acceleration": 9.0}, {"acceleration": 4.0}][seed % 4]
    model = with_rates(model, **rates)
    links = [str(link) for link in rng.choice(model.link_names[4:], 2, replace=False)]
    tasks = [
        PoseTask(links[0], np.eye(4), offset=random_placement(rng, 0.1), frame="tip" if seed % 2 else "world"),
        PositionTask(links[1], np.zeros(3), weights=(1.0, 0.0, 2.0)),
    ]
    q = wandering(model, 12, seed, step=0.05)
    targets = np.array([[forward_kinematics(model, row)[link] for link in links] for row in q])
    targets[:, 0] = targets[:, 0] @ tasks[0].offset
    native, numpy = (track(model, tasks, targets, q[0], backend=backend) for backend in ("native", "numpy"))
    assert native.problem.backend == "native" and numpy.problem.backend == "numpy"
    assert (native.codes == numpy.codes).all() and (native.iterations == numpy.iterations).all()
    assert (native.behind == numpy.behind).all()
    # Least squares damped by 1e-9 magnify rounding to 1e-7 along ways that no task sees; they add up over frames.
    np.testing.assert_allclose(native.q, numpy.q, atol=1e-6)
    np.testing.assert_allclose(native.residuals, numpy.residuals, atol=1e-7)


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        (np.zeros((0, 1, 4, 4)), "no targets"),
        ([], "no targets"),
        (np.zeros((3, 2, 4, 4)), r"shape \(frames, 1, 4, 4\), not \(3, 2, 4, 4\)"),
        (np.zeros((3, 1, 4, 4)), "target"),
        (np.full((3, 1, 4, 4), np.nan), "finite"),
        ([[np.eye(4)], [np.eye(4), np.eye(4)]], "1 tasks but 2 targets in frame 1"),
        (7, "one set of targets per frame"),
        ([["here"]], "panda_hand"),
    ],
)
def test_bad_targets_are_named(targets, match):
    model, q, tasks = panda()
    with pytest.raises(TaskError, match=match):
        track(model, tasks, targets, q)


def test_other_bad_input():
    model, q, tasks = panda()
    targets = circle(model, "panda_hand", q, 3)
    for dt in (0.0, np.nan, -1.0):
        with pytest.raises(ConfigurationError, match="dt"):
            track(model, tasks, targets, q, dt=dt)
    with pytest.raises(ConfigurationError):
        track(model, tasks, targets, q[:-1])
    with pytest.raises(ConfigurationError, match="velocity"):
        track(model, tasks, targets, q, start_velocity=[1.0])
