"""Starts: where a motion inside the limits exists, one is found; the rest is given up soon; a given start is kept."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, clamp, forward_kinematics, library_robot, load_urdf
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import OnPlaneTask, OrientationTask, PinTask, PoseTask, PositionTask, Task
from robokin_addon.solvers.criteria import JointSprings
from robokin_addon.solvers.ik.problem import IKProblem
from robokin_addon.solvers.motion.check import check_motion, task_residuals
from robokin_addon.solvers.tracking import relaxed_segments as relaxed_legs
from robokin_addon.solvers.tracking.result import TrackResult
from robokin_addon.solvers.tracking.starts import ITERATIONS, Segment, follow, follow_from_best
from robokin_addon.solvers.tracking.track import Tracker, track
from support.few import rest_slow
from support.random_problems.random_arms import random_arm
from support.robots import robot

DT = 1 / 24
TIPS = {
    "panda": "panda_hand",
    "ur5_robot": "tool0",
    "ur10_robot": "tool0",
    "xarm7": "link7",
    "kinova": "j2s6s200_end_effector",
}


def smooth_motion(model: RobotModel, seed: int, frames: int = 120) -> np.ndarray:
    """(frames, nq) a motion inside the limits of position and velocity: it proves that its path can be followed."""
    rng = np.random.default_rng(seed)
    lower, upper = np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi)
    lower, upper = (
        np.where(np.isfinite(model.lower), model.lower, lower),
        np.where(np.isfinite(model.upper), model.upper, upper),
    )
    size, speed, phase = (
        rng.uniform(0, 1, (3, model.nq)),
        rng.uniform(0.3, 1.2, (3, model.nq)),
        rng.uniform(0, 6, (3, model.nq)),
    )
    t = np.linspace(0, 2 * np.pi, frames)[:, None]
    waves = sum(size[k] * np.sin(speed[k] * t + phase[k]) for k in range(3)) / size.sum(axis=0)
    centre = rng.uniform(0.2, 0.8, model.nq)
    q = lower + (upper - lower) * (centre + 0.8 * np.minimum(centre, 1 - centre) * waves)
    fastest = max(1.0, (abs(np.diff(q, axis=0)) / DT / (0.9 * model.velocity)).max())
    return q[0] + (q - q[0]) / fastest


def path_of(model: RobotModel, q: np.ndarray, tip: str) -> np.ndarray:
    """(frames, 1, 4, 4)"""
    return np.array([[forward_kinematics(model, each)[tip]] for each in q])


def loose(tip: str) -> list[Task]:
    return [PoseTask(tip, np.eye(4), position_tolerance=1e-4, orientation_tolerance=1e-3)]


def middle_of(model: RobotModel) -> np.ndarray:
    return Tracker(model, []).problem.middle


def assert_true_and_inside(result: TrackResult) -> None:
    model = result.problem.model
    assert check_motion(result.motion).violations == ()
    residuals = task_residuals(model, result.q, result.problem.tasks, result.targets)
    met = (residuals <= result.problem.search.data.records["tolerance"]).all(axis=(1, 2))
    assert (result.converged == met).all()


def run(steps):
    """What a generator returns, and how often it yielded."""
    yields = 0
    while True:
        try:
            next(steps)
            yields += 1
        except StopIteration as done:
            return done.value, yields


@pytest.mark.parametrize(
    ("name", "seed"), [("ur5_robot", 4), ("ur10_robot", 4), ("xarm7", 6), ("xarm7", 13), ("panda", 0), ("panda", 28)]
)
def test_a_path_that_mid_range_misses_is_met_from_another_start(name, seed):
    model = load_urdf(robot(name))
    targets = path_of(model, smooth_motion(model, seed), TIPS[name])
    from_middle = track(model, loose(TIPS[name]), targets, middle_of(model), dt=DT)
    assert not from_middle.converged.all()
    result = track(model, loose(TIPS[name]), targets, dt=DT)
    assert result.converged.all()
    assert_true_and_inside(result)
    assert (abs(np.diff(result.q, axis=0)) <= model.velocity * DT).all()


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_turns_are_chosen_so_that_there_is_room(backend):
    """A UR5 joint turns from -2 pi to +2 pi; a path that winds it up by 1.5 turns starts well below zero."""
    model = load_urdf(robot("ur5_robot"))
    q = np.tile([0.3, -1.2, 1.5, -1.0, -1.5, 0.2], (120, 1))
    q[:, 5] = np.linspace(-4.0, 5.4, 120)
    targets = path_of(model, q, "tool0")
    given = q[0] + (0, 0, 0, 0, 0, 2 * np.pi)  # the same pose, no room left
    assert not track(model, loose("tool0"), targets, given, dt=DT, backend=backend).converged.all()
    result = track(model, loose("tool0"), targets, dt=DT, backend=backend)
    assert result.converged.all() and result.q[0, 5] < -3.5
    assert_true_and_inside(result)


@pytest.mark.slow
def test_the_choice_is_the_seeds_and_the_same_on_both_backends():
    model = load_urdf(robot("ur5_robot"))
    targets = path_of(model, smooth_motion(model, 5), "tool0")[:40]
    first, again, numpy = (
        track(model, loose("tool0"), targets, dt=DT, seed=3, backend=b) for b in ("native", "native", "numpy")
    )
    assert (first.q == again.q).all()
    np.testing.assert_allclose(first.q, numpy.q, atol=1e-5)
    assert not np.allclose(first.q[0], track(model, loose("tool0"), targets, middle_of(model), dt=DT).q[0], atol=1e-2)


def test_a_given_start_is_kept():
    model = load_urdf(robot("ur5_robot"))
    q = smooth_motion(model, 4)
    targets = path_of(model, q, "tool0")
    np.testing.assert_allclose(track(model, loose("tool0"), targets, q[0], dt=DT).q[0], q[0], atol=1e-3)
    bad = middle_of(model)
    kept = track(model, loose("tool0"), targets, bad, dt=DT)
    solved = Tracker(model, loose("tool0"), DT).start(targets[0], bad)
    assert (kept.q[0] == solved.q[0]).all()


def test_what_no_posture_meets_costs_no_search(monkeypatch):
    """The first frame, or frames on the way, out of reach: mid-range is followed, and that is all."""
    model = load_urdf(robot("panda"))
    targets = path_of(model, np.tile(clamp(model, middle_of(model)), (200, 1)), "panda_hand")
    starts = []
    start = Tracker.start
    monkeypatch.setattr(Tracker, "start", lambda *given: starts.append(0) or start(*given))
    for away, most in ((slice(0, 200), 1), (slice(0, 20), 2), (slice(120, 200), 1)):
        moved = targets.copy()
        moved[away, :, 0, 3] += 0.9
        starts.clear()
        result = track(model, loose("panda_hand"), moved, dt=10.0)
        assert len(starts) <= most and result.missed[away].all()
        assert_true_and_inside(result)


def counted(monkeypatch, spent, cls, name):
    """Every call of a method puts its iterations into a list."""
    original = getattr(cls, name)

    def call(*given, **options):
        found = original(*given, **options)
        spent.append(int(np.sum(found.iterations)))
        return found

    monkeypatch.setattr(cls, name, call)


def test_the_best_start_is_kept_and_the_search_is_bounded(monkeypatch):
    """A target that jumps is too fast from every start."""
    spent: list[int] = []
    for cls, name in ((Segment, "run"), (IKProblem, "solve"), (IKProblem, "solve_batch")):
        counted(monkeypatch, spent, cls, name)
    model = load_urdf(robot("ur5_robot"))
    targets = path_of(model, smooth_motion(model, 4), "tool0")
    jump = path_of(model, smooth_motion(model, 2, 30), "tool0")
    targets = np.concatenate([targets, jump])
    tracker = Tracker(model, loose("tool0"), DT)
    found, _ = run(follow_from_best([Segment(tracker, targets)], tracker.problem.middle, "mid-range"))
    whole = sum(spent)
    spent.clear()
    from_middle, _ = run(follow([Segment(tracker, targets)], tracker.problem.middle))
    missed = sum(int(part.missed.sum()) for part in from_middle)
    # The search looks at what it has spent after each try of a path.
    assert 2 * sum(spent) < whole < ITERATIONS + 2 * sum(spent)
    assert 0 < len(found.missed) < missed
    assert (found.missed >= 120).all() and sum(map(len, found.results)) == 150
    best = found.results[0].q[0]
    again, _ = run(follow_from_best([Segment(tracker, targets)], best, "the best"))
    assert again.origin == "the best" and (again.missed == found.missed).all()


def test_legs_with_other_tasks_are_followed_as_one_motion():
    model = load_urdf(robot("ur5_robot"))
    q = smooth_motion(model, 4)
    targets = path_of(model, q, "tool0")
    both = [*loose("tool0"), OrientationTask("tool0", np.eye(3), tolerance=1e-3)]
    parts = [[], loose("tool0"), both, loose("tool0")]
    cuts = [0, 5, 50, 60, 120]
    segments = [
        Segment(Tracker(model, tasks, DT), np.repeat(targets[first:last], len(tasks), axis=1))
        for tasks, first, last in zip(parts, cuts[:-1], cuts[1:], strict=True)
    ]
    rest = clamp(model, model.neutral())
    found, _ = run(follow_from_best(segments, rest, "rest"))
    assert len(found.missed) == 0 and sum(map(len, found.results)) == 120
    followed = np.concatenate([part.q for part in found.results])
    assert (abs(np.diff(followed, axis=0)) <= model.velocity * DT).all()
    again, _ = run(follow(segments, found.results[0].q[0]))
    assert (np.concatenate([part.q for part in again]) == followed).all()


def test_coordinates_without_a_task_keep_the_hints_values():
    model = load_urdf(robot("panda"))
    targets = path_of(model, smooth_motion(model, 0), "panda_hand")
    tracker = Tracker(model, loose("panda_hand"), DT)
    hint = clamp(model, model.neutral())
    hint[7:] = 0.013
    found, _ = run(follow_from_best([Segment(tracker, targets)], hint, "rest"))
    assert found.origin != "rest"
    assert all((part.q[:, 7:] == 0.013).all() for part in found.results)


def test_progress_stops_the_search():
    model = load_urdf(robot("ur5_robot"))
    targets = path_of(model, smooth_motion(model, 4, 400), "tool0")
    seen: list[int] = []
    result = track(
        model, loose("tool0"), targets, dt=DT, progress=lambda done, frames: seen.append(done) or len(seen) < 4
    )
    assert len(seen) == 4 and len(result) == seen[-1] < 400


@pytest.mark.slow
def test_nearly_every_path_that_can_be_followed_is():
    """Paths of motions inside the limits. Those of which the motion itself cannot be repeated from its own start pass
    by a singularity at full speed: they do not count."""
    possible = met = 0
    for name in [*TIPS, 3, 5, 8, 11]:
        model = random_arm(name) if isinstance(name, int) else load_urdf(robot(name))
        tip = model.link_names[-1] if isinstance(name, int) else TIPS[name]
        for seed in range(12):
            q = smooth_motion(model, seed)
            targets = path_of(model, q, tip)
            if track(model, loose(tip), targets, q[0], dt=DT).converged.all():
                possible += 1
                met += track(model, loose(tip), targets, dt=DT).converged.all()
    assert possible > 80 and met >= possible - 1


@pytest.mark.parametrize(("name", "seed", "criteria"), [("ur5_robot", 4, False), ("ur5_robot", 4, True)])
def test_with_levels_and_criteria_a_start_is_looked_for_too(name, seed, criteria):
    """From mid-range the motion fails; another start meets every frame, the same one each time."""
    model, tip = load_urdf(robot(name)), TIPS[name]
    targets = path_of(model, smooth_motion(model, seed, 60), tip)
    if criteria:
        tasks, wanted, prefer = loose(tip), [[T] for (T,) in targets], [JointSprings()]
    else:
        tasks = [
            PositionTask(tip, (0, 0, 0), tolerance=1e-4),
            OrientationTask(tip, np.eye(3), tolerance=1e-3, priority=2),
        ]
        wanted, prefer = [[T[:3, 3], T[:3, :3]] for (T,) in targets], []
    dt = 2 * DT
    from_middle = track(model, tasks, wanted, middle_of(model), dt=dt, criteria=prefer)
    assert from_middle.missed.any()
    result = track(model, tasks, wanted, dt=dt, criteria=prefer)
    assert result.converged.all()
    assert not check_motion(result.motion).violations
    errors = task_residuals(model, result.q, [PoseTask(tip, np.eye(4))], targets)
    assert errors[:, 0, 0].max() < 1e-4 and errors[:, 0, 1].max() < 1e-3
    np.testing.assert_array_equal(result.q, track(model, tasks, wanted, dt=dt, criteria=prefer).q)


def test_what_is_counted_from_the_start_is_counted_from_the_hint():
    """The elbow is pinned where mid-range has it, whatever start is taken for the hand."""
    model = load_urdf(robot("panda"))
    q = np.tile(clamp(model, middle_of(model)), (20, 1))
    held = forward_kinematics(model, q[0])["panda_link4"][:3, 3]
    q[:, 4] = 2.0 + np.linspace(0.0, 0.5, 20)
    targets = [[None, T[:3, :3]] for (T,) in path_of(model, q, "panda_hand")]
    tasks = [PinTask("panda_link4", orientation_weights=0.0), OrientationTask("panda_hand", np.eye(3))]
    result = track(model, tasks, targets, dt=DT)
    elbows = [forward_kinematics(model, each)["panda_link4"][:3, 3] for each in result.q]
    np.testing.assert_allclose(elbows, np.tile(held, (20, 1)), atol=2e-5)


def turning_hand() -> tuple[RobotModel, list[Task], list[list[object]]]:
    """A hand that turns farther than its last joint, above a plane that a lower level asks for."""
    model = library_robot("panda")
    T = forward_kinematics(model, np.array([0.3, -0.5, 0.2, -2.0, 0.4, 1.6, 0.8]))["tool"]
    floor = ((0.0, 0.0, -5.0), (0.0, 0.0, 1.0))
    targets = []
    for angle in np.radians(310.0) * np.arange(60) / 59:
        turned = T.copy()
        turned[:3, :3] = T[:3, :3] @ so3.exp(np.array([0.0, 0.0, angle]))
        targets.append([turned, floor])
    return model, [PoseTask("tool", T), OnPlaneTask("tool", floor, side="above", priority=2)], targets


@pytest.mark.slow
def test_a_motion_stopped_while_fewer_tasks_are_tried_is_of_all_of_them(monkeypatch):
    model, tasks, targets = turning_hand()
    backends: list[str] = []

    class Spy(Tracker):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            backends.append(self.problem.backend)

    monkeypatch.setattr(relaxed_legs, "Tracker", Spy)
    later: list[int] = []

    def progress(done: int, frames: int) -> bool:
        if backends:
            later.append(done)
        return len(later) < 2

    result = track(model, tasks, targets, dt=1.0, backend="numpy", progress=progress)
    assert backends and set(backends) == {"numpy"}
    assert len(later) == 2 and result.residuals.shape == (later[-1], 2, 2) and len(result.parts) == 2
