"""All postures: the same set as brute force, forward kinematics, limits, order, batches, other tasks, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, RobokinError, RobotModel, TaskError, forward_kinematics
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.model.limits import PositionLimits
from robokin_addon.solvers import (
    AimTask,
    AxisTask,
    IKProblem,
    PoseTask,
    PositionTask,
    PostureProblem,
    Task,
    TwistTask,
    all_postures,
)
from support.family_robots import (
    LIBRARY,
    RANDOM_FAMILIES,
    TABLES,
    family_robot,
    random_family,
    screw_robot,
    screws_of,
    wrapped,
)

ARMS = ("ur5", "kr6", "irb140", "puma560")
OTHERS = ("scara", "gantry", "planar_3r")


def tip_of(model: RobotModel) -> str:
    return model.link_names[-1]


def reachable(model: RobotModel, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(count, nq) random inside the limits, and (count, 4, 4) where the tip is."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(np.maximum(model.lower, -4.0), np.minimum(model.upper, 4.0), (count, model.nq))
    return q, np.array([forward_kinematics(model, each)[tip_of(model)] for each in q])


def apart(model: RobotModel, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(...) the largest difference, whole turns of angles aside."""
    difference = one - other
    return abs(np.where(model.is_length, difference, wrapped(difference))).max(axis=-1)


def check(model: RobotModel, target: np.ndarray, q: np.ndarray, q0: np.ndarray) -> None:
    """Postures meet the pose to 1e-12, are inside the limits, distinct, and in the order of their distance."""
    for own in q:
        off = forward_kinematics(model, own)[tip_of(model)] - target
        assert abs(off).max() < 1e-12
    assert ((q >= model.lower) & (q <= model.upper)).all()
    distance = np.linalg.norm(np.where(model.is_length, 0.0, q - q0), axis=1)
    if not model.is_length.any():
        assert (np.diff(distance) >= -1e-12).all()
    for i, own in enumerate(q):
        assert (apart(model, own, q[:i]) > 1e-7).all()


def agree_with_brute_force(model: RobotModel, poses: int, starts: int) -> None:
    """Every posture that the iterative solver finds from many starts is there, and the one that the pose is made of."""
    rng = np.random.default_rng(3)
    link = tip_of(model)
    used, targets = reachable(model, poses, 1)
    problem = PostureProblem(model, [PoseTask(link, np.eye(4))])
    task = PoseTask(link, np.eye(4), position_tolerance=1e-10, orientation_tolerance=1e-10)
    brute = IKProblem(model, [task], attempts=1, iterations=60)
    found = problem.solve_batch(targets[:, None])
    total = most = 0
    for i, target in enumerate(targets):
        own = found[i]
        assert own.complete
        check(model, target, own.q, problem.middle)
        if own.continuum.any():
            continue
        assert apart(model, own.q, used[i]).min() < 1e-6
        begin = rng.uniform(np.maximum(model.lower, -np.pi), np.minimum(model.upper, np.pi), (starts, model.nq))
        result = brute.solve_batch(np.broadcast_to(target, (starts, 1, 4, 4)), begin)
        seen: set[int] = set()
        for q in result.q[(result.residuals <= 1e-10).all(axis=(1, 2))]:
            distance = apart(model, own.q, q)
            assert distance.min() < 1e-4
            seen.add(int(distance.argmin()))
        total, most = total + len(seen), most + len(own)
    assert total > 0.8 * most  # of so many starts: brute force sees most of them


@pytest.mark.parametrize("name", [*ARMS, *OTHERS])
def test_the_same_set_as_brute_force(name: str) -> None:
    agree_with_brute_force(family_robot(name), 12, 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ARMS, *OTHERS])
def test_the_same_set_as_brute_force_for_many_poses(name: str) -> None:
    agree_with_brute_force(family_robot(name), 1000, 150)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RANDOM_FAMILIES if name != "shoulder and wrist"])
def test_the_same_set_as_brute_force_for_random_families(name: str) -> None:
    for seed in range(3):
        agree_with_brute_force(random_family(name, np.random.default_rng(seed)), 40, 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TABLES, *LIBRARY])
def test_ten_thousand_poses(name: str) -> None:
    model = family_robot(name)
    used, targets = reachable(model, 10_000, 5)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    found = problem.solve_batch(targets[:, None])
    assert found.complete.all()
    assert found.count.min() >= 1
    for i in range(0, 10_000, 10):
        check(model, targets[i], found[i].q, problem.middle)
    if model.nq < 7:
        nearest = apart(model, np.nan_to_num(found.q, nan=1e3), used[:, None]).min(axis=1)
        assert (nearest < 1e-5).all()


def test_redundant_branches_are_found_wherever_they_are_inside_the_limits() -> None:
    """Of a 7-axis arm with narrow limits: a branch is told if and only if the iterative solver gets to one of its
    poses."""
    rng = np.random.default_rng(2)
    wide = family_robot("iiwa")
    limits = PositionLimits(wide.lower * 0.6, wide.upper * 0.6)
    link = tip_of(wide)
    problem = PostureProblem(wide, [PoseTask(link, np.eye(4))], limits=limits)
    brute = IKProblem(wide, [PoseTask(link, np.eye(4))], attempts=1, limits=limits)
    seen = 0
    for _ in range(25):
        q = rng.uniform(limits.lower, limits.upper)
        target = forward_kinematics(wide, q)[link]
        found = problem.solve([target], rng.uniform(limits.lower, limits.upper))
        assert found.complete
        assert found.continuum.all()
        signs = {tuple(each) for each in np.sign(found.q[:, [1, 3, 5]])}
        assert len(signs) == len(found) >= 1
        assert ((found.q >= limits.lower) & (found.q <= limits.upper)).all()
        for own in found.q:
            assert abs(forward_kinematics(wide, own)[link] - target).max() < 1e-12
        result = brute.solve_batch(
            np.broadcast_to(target, (100, 1, 4, 4)), rng.uniform(limits.lower, limits.upper, (100, 7))
        )
        met = np.array([status.name == "CONVERGED" for status in result.status])
        away = (abs(result.q[:, [1, 3, 5]]) > 1e-3).all(axis=1)
        others = {tuple(each) for each in np.sign(result.q[met & away][:, [1, 3, 5]])}
        assert others <= signs
        seen += len(others)
    assert seen > 40


def test_the_redundancy_angle_is_q0s() -> None:
    model = family_robot("iiwa")
    q, targets = reachable(model, 20, 4)
    for own, target in zip(q, targets, strict=True):
        found = all_postures(model, [PoseTask(tip_of(model), target)], own)
        assert found.q[0] == pytest.approx(own, abs=1e-8)


@pytest.mark.parametrize("name", [*TABLES, *LIBRARY])
def test_a_batch_is_its_items(name: str) -> None:
    model = family_robot(name)
    _, targets = reachable(model, 30, 6)
    starts, _ = reachable(model, 30, 7)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    found = problem.solve_batch(targets[:, None], starts, threads=2)
    listed = problem.solve_batch([[target] for target in targets], starts)
    assert np.array_equal(found.q, listed.q, equal_nan=True)
    for i in range(30):
        own = problem.solve([targets[i]], starts[i])
        assert np.array_equal(found[i].q, own.q)
        assert np.isnan(found.q[i, len(own) :]).all()
        assert (found[i].names, found[i].complete) == (own.names, own.complete)
        assert found.count[i] == len(own)
    assert np.array_equal(found[-1].q, found[29].q)
    with pytest.raises(IndexError):
        found[30]


def test_whole_turns() -> None:
    """One posture a branch, the one nearest to q0 inside the limits, however many turns those are wide."""
    model = family_robot("ur5")
    target = reachable(model, 1, 8)[1][0]
    tasks = [PoseTask(tip_of(model), target)]
    middle = all_postures(model, tasks)
    assert (abs(middle.q) <= np.pi).all()
    q0 = np.full(6, 2.0)
    near = all_postures(model, tasks, q0)
    assert len(near) == len(middle)
    assert sorted(near.names) == sorted(middle.names)
    assert (abs(near.q - q0) <= np.pi + 1e-9).all()
    ends = PositionLimits(np.full(6, 2.0), np.full(6, 2.0 + 2.0 * np.pi))
    beyond = PostureProblem(model, tasks, limits=ends).solve()
    assert sorted(beyond.names) == sorted(middle.names)
    assert ((beyond.q >= ends.lower) & (beyond.q <= ends.upper)).all()


def test_limits_choose() -> None:
    model = family_robot("puma560")
    _, targets = reachable(model, 200, 9)
    free = PostureProblem(
        model,
        [PoseTask(tip_of(model), np.eye(4))],
        limits=PositionLimits(np.full(6, -np.inf), np.full(6, np.inf)),
    ).solve_batch(targets[:, None])
    limited = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))]).solve_batch(targets[:, None])
    assert (free.count == 8).mean() > 0.95
    for i in range(200):
        inside = 0
        for own in free[i].q:
            turns = 2.0 * np.pi * np.arange(-2, 3)
            copies = own + turns[:, None]
            inside += ((copies >= model.lower) & (copies <= model.upper)).any(axis=0).all()
        assert limited.count[i] == inside


def test_out_of_reach_is_none_and_complete() -> None:
    model = family_robot("kr6")
    target = np.eye(4)
    target[0, 3] = 5.0
    found = all_postures(model, [PoseTask(tip_of(model), target)])
    assert len(found) == 0
    assert found.q.shape == (0, 6)
    assert found.names == ()
    assert found.complete


def test_a_little_out_of_reach_is_met_within_the_tolerance() -> None:
    """As of a target that single precision has rounded."""
    model = library_robot("planar_2r")
    q = np.array([0.3, 0.0])
    target = forward_kinematics(model, q)["tool"][:3, 3]
    far = target * (1.0 + 3e-6 / np.linalg.norm(target))
    for tolerance, count in ((1e-5, 1), (1e-6, 0)):
        found = all_postures(model, [PositionTask("tool", far, tolerance=tolerance)])
        assert len(found) == count
    assert all_postures(model, [PositionTask("tool", far)]).q[0] == pytest.approx(q, abs=1e-5)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_stretched_arm_out_of_reach(backend: str) -> None:
    """Both postures of the wrist are told, the elbow straight; exact ones go before those within the tolerance."""
    model = family_robot("irb140")
    tasks = [PoseTask("tool", np.eye(4))]
    problem = PostureProblem(model, tasks, backend)
    axis, point, _, home = screws_of(model, "tool")
    shoulder, elbow, wrist = point[1], point[2], point[4]
    # The elbow that makes the arm straight.
    y = np.cross(elbow - shoulder, axis[2])
    q = np.array([0.2, -0.4, 0.0, 0.3, 0.8, 0.1])
    out, off = elbow - shoulder, wrist - elbow
    q[2] = np.arctan2(axis[2] @ np.cross(off, out), off @ out)
    assert abs(y).max() > 0.1
    target = forward_kinematics(model, q)["tool"]
    arm = forward_kinematics(model, np.array([*q[:3], 0, 0, 0]))["tool"] @ np.linalg.inv(home)
    base = forward_kinematics(model, np.array([q[0], 0, 0, 0, 0, 0]))["tool"] @ np.linalg.inv(home)
    reach = (arm[:3, :3] @ wrist + arm[:3, 3]) - (base[:3, :3] @ shoulder + base[:3, 3])
    target[:3, 3] += 2e-6 * reach / np.linalg.norm(reach)
    found = problem.solve([target])
    assert len(found) == 2
    assert apart(model, found.q, q).min() < 1e-3
    for own in found.q:
        assert 1e-6 < abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-5
    target[:3, 3] += 2e-5 * reach
    assert len(problem.solve([target])) == 0


@pytest.mark.parametrize("name", ARMS)
def test_targets_in_single_precision(name: str) -> None:
    model = family_robot(name)
    _, targets = reachable(model, 50, 10)
    problem = PostureProblem(model, [PoseTask(tip_of(model), np.eye(4))])
    exact = problem.solve_batch(targets[:, None])
    rounded = problem.solve_batch(targets.astype(np.float32)[:, None])
    same = exact.count == rounded.count
    assert same.mean() > 0.95
    assert np.nanmax(abs(exact.q[same] - rounded.q[same])) < 1e-2
    for i in np.flatnonzero(same):
        for own in rounded[i].q:
            assert abs(forward_kinematics(model, own)[tip_of(model)] - targets[i]).max() < 1e-6


def test_an_offset_is_the_tips() -> None:
    model = family_robot("irb140")
    offset = np.eye(4)
    offset[:3, 3] = 0.1, -0.2, 0.3
    q, targets = reachable(model, 5, 11)
    for own, target in zip(q, targets, strict=True):
        found = all_postures(model, [PoseTask(tip_of(model), target @ offset, offset=offset)])
        assert apart(model, found.q, own).min() < 1e-8


def test_far_bases() -> None:
    """The base a kilometre away."""
    model = family_robot("ur5")
    base = np.eye(4)
    base[:3, 3] = 1000.0, -500.0, 200.0
    axis, point, slides, home = screws_of(model, tip_of(model))
    home[:3, 3] += base[:3, 3]
    far = screw_robot(axis, point + base[:3, 3], slides, home, -7.0, 7.0)
    q, _ = reachable(far, 20, 12)
    for own in q:
        target = forward_kinematics(far, own)["tool"]
        found = all_postures(far, [PoseTask("tool", target)])
        assert apart(far, found.q, own).min() < 1e-6
        assert len(found) in (2, 4, 6, 8)


# -- what has no closed form ----------------------------------------------------------------------------------------


def test_other_robots_are_searched_from_many_starts() -> None:
    rng = np.random.default_rng(5)
    axis = rng.normal(size=(6, 3))
    model = screw_robot(axis, rng.uniform(-0.4, 0.4, (6, 3)), np.zeros(6, bool), np.eye(4))
    q = rng.uniform(-2, 2, 6)
    target = forward_kinematics(model, q)["tool"]
    found = all_postures(model, [PoseTask("tool", target)], q)
    assert not found.complete
    assert found.family == ""
    assert not found.continuum.any()
    assert "there may be others" in found.remark
    assert found.names == tuple(f"posture {i + 1}" for i in range(len(found)))
    assert found.q[0] == pytest.approx(q, abs=1e-8)
    for i, own in enumerate(found.q):
        assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-10
        assert (apart(model, own, found.q[:i]) > 1e-4).all()
    again = all_postures(model, [PoseTask("tool", target)], q)
    assert np.array_equal(found.q, again.q)


def test_a_redundant_robot_of_no_family_is_sampled() -> None:
    model = library_robot("panda")
    _, targets = reachable(model, 3, 13)
    for target in targets:
        found = all_postures(model, [PoseTask("tool", target)])
        assert not found.complete
        assert found.continuum.all()
        assert len(found) > 1
        assert "redundant" in found.remark
        for i, own in enumerate(found.q):
            assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-9
            assert (abs(own - found.q[:i]).max(axis=-1) > 0.5).all()


def test_quaternions_are_told_once() -> None:
    """A ball's value and its negative are the same; of many samples the nearest 32 are told."""
    model = library_robot("puppet")
    q = model.limits.middle(model.neutral())
    target = forward_kinematics(model, q)["left_hand"]
    found = all_postures(model, [PoseTask("left_hand", target)], q)
    assert 1 < len(found) <= 32
    for start in model.tree.quaternions:
        own = found.q[:, start : start + 4]
        assert np.linalg.norm(own, axis=1) == pytest.approx(1.0)
        assert (own @ q[start : start + 4] >= 0.0).all()
    mobile = library_robot("mobile_arm")
    near = mobile.limits.middle(mobile.neutral())
    assert len(all_postures(mobile, [PoseTask("tool", forward_kinematics(mobile, near)["tool"])], near)) == 32


TASKS: dict[str, list[Task]] = {
    "position": [PositionTask("tool", (0.4, 0.1, 0.6))],
    "axis": [AxisTask("tool", (0.0, 0.0, 1.0), (0.0, 0.0, -1.0))],
    "free axis": [
        PoseTask("tool", np.diag([1.0, -1.0, -1.0, 1.0]) + 0.3 * np.eye(4, k=3), orientation_weights=(1, 1, 0))
    ],
    "two": [PositionTask("tool", (0.4, 0.1, 0.6)), AimTask("tool", (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))],
}


@pytest.mark.parametrize("kind", ["position", "axis", "free axis", "two"])
def test_other_tasks_are_searched(kind: str) -> None:
    model = library_robot("puma560")
    found = all_postures(model, TASKS[kind])
    assert not found.complete
    assert found.family == ""
    assert len(found) > 1


def test_a_task_of_influence_0_does_not_count() -> None:
    model = library_robot("puma560")
    target = forward_kinematics(model, model.configuration())["tool"]
    found = all_postures(model, [PoseTask("tool", target), PositionTask("tool", (0, 0, 0), influence=0.0)])
    assert found.complete


# -- wrong input ----------------------------------------------------------------------------------------------------


def test_wrong_input_is_one_clear_line() -> None:
    model = library_robot("puma560")
    task = PoseTask("tool", np.eye(4))
    problem = PostureProblem(model, [task])
    bad = np.eye(4)
    bad[0, 0] = 2.0
    cases = {
        "list of tasks": lambda: all_postures(model, task),  # type: ignore[arg-type]
        "at least one task": lambda: all_postures(model, []),
        "robot": lambda: all_postures("puma560", [task]),  # type: ignore[arg-type]
        "no link": lambda: all_postures(model, [PoseTask("tol", np.eye(4))]),
        "shape": lambda: all_postures(model, [task], q0=np.zeros(5)),
        "finite": lambda: all_postures(model, [task], q0=np.full(6, np.nan)),
        "velocity": lambda: all_postures(model, [TwistTask("tool", np.zeros(6))]),
        "backend": lambda: all_postures(model, [task], backend="cuda"),
        "1 tasks but 2": lambda: problem.solve([np.eye(4), np.eye(4)]),
        "rotation": lambda: problem.solve([bad]),
        "rotation matrix": lambda: problem.solve_batch(np.array([[np.eye(4)], [bad]])),
        "2 sets of targets but 3": lambda: problem.solve_batch(np.tile(np.eye(4), (2, 1, 1, 1)), np.zeros((3, 6))),
        "list of sets": lambda: problem.solve_batch(3.0),
        "one per task": lambda: problem.solve(3.0),
    }
    for words, run in cases.items():
        with pytest.raises(RobokinError, match=words) as error:
            run()
        assert "\n" not in str(error.value)
    with pytest.raises(TaskError):
        problem.solve_batch(np.full((1, 1, 4, 4), np.nan))
    with pytest.raises(ConfigurationError):
        problem.solve(q0=[1.0])


def test_huge_targets_have_no_postures() -> None:
    model = library_robot("puma560")
    for size in (1e10, 1e29):
        target = np.eye(4)
        target[:3, 3] = size, -size / 2, size / 3
        found = all_postures(model, [PoseTask("tool", target)])
        assert len(found) == 0


@pytest.mark.parametrize("far", [1e3, 1e7, 1e20])
def test_starts_many_turns_away(far: float) -> None:
    """Joints without limits: the nearest turns as far as they can be told."""
    axis, point, slides, home = screws_of(family_robot("ur5"), "tool")
    model = screw_robot(axis, point, slides, home, -np.inf, np.inf)
    target = reachable(family_robot("ur5"), 1, 14)[1][0]
    found = all_postures(model, [PoseTask("tool", target)], np.full(6, far))
    assert len(found) >= 2
    for own in found.q:
        assert abs(forward_kinematics(model, own)["tool"] - target).max() < 1e-9
    assert (abs(found.q - far) < 4.0).all() == (far < 1e5)


def test_a_tolerance_finer_than_rounding() -> None:
    model = family_robot("ur5")
    _, targets = reachable(model, 5, 15)
    for target in targets:
        usual = all_postures(model, [PoseTask("tool", target)])
        fine = all_postures(model, [PoseTask("tool", target, position_tolerance=1e-25, orientation_tolerance=1e-25)])
        assert np.array_equal(usual.q, fine.q)


def test_one_problem_on_several_threads() -> None:
    model = family_robot("kr6")
    _, targets = reachable(model, 4000, 16)
    problem = PostureProblem(model, [PoseTask("tool", np.eye(4))])
    one, two = (problem.solve_batch(targets[:, None], threads=threads) for threads in (1, 4))
    assert np.array_equal(one.q, two.q, equal_nan=True)
