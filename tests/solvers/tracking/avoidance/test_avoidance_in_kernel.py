"""What the kernel says of links that keep apart is what its NumPy twin says; and what is followed at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import (
    ModelError,
    RobotModel,
    forward_kinematics,
    library_robot,
    random_configuration,
    read_urdf_text,
)
from robokin_addon.robokin.collision import Box, CollisionModel, Obstacle, Sphere
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import ClearanceTask, PositionTask, Tracker, track, velocity_step
from robokin_addon.solvers.descent.engine import CONVERGED
from robokin_addon.solvers.limits.viability import StepLimits
from robokin_addon.solvers.tracking.avoidance.avoiding import AvoidingTracker, tracker_of
from robokin_addon.solvers.tracking.avoidance.native_safe_stop import NativeSafeStop
from robokin_addon.solvers.tracking.avoidance.safe_stop import SafeStop
from robokin_addon.solvers.tracking.data import COLLIDED, LATE
from robokin_addon.solvers.tracking.reference.frame import Frame
from robokin_addon.solvers.tracking.result import TrackResult
from robokin_addon.solvers.velocity.kernel_rows import KernelRows
from robokin_addon.solvers.velocity.task_levels import TaskLevels
from support.few import rest_slow
from support.problems.limits import with_rates
from support.problems.obstructed import GANTRY, at, clothed, random_scene

BALL = '<link name="slide"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
ALONG = GANTRY.replace("0 1 0", "1 0 0").replace('<link name="slide"/>', BALL)  # the hand slides along its slide


def test_rows_are_those_of_the_task() -> None:
    for seed in range(6):
        collisions, q, other = random_scene(np.random.default_rng(seed))
        model = collisions.model
        moved = np.array([obstacle.placement for obstacle in collisions.obstacles])
        moved[:, 0, 3] += 0.1
        clearance = ClearanceTask(collisions, 0.2).with_spare(0.01 * (seed % 3))
        tasks = [PositionTask("tool", [0.5, 0.0, 0.5]), clearance]
        for target, place in ((None, q), (moved, other)):
            levels = TaskLevels(model, tasks)
            aims = levels.checked_targets([[0.5, 0.0, 0.5], target])
            state = levels.state(place, aims, 1.0)
            kernel = KernelRows(levels)
            assert kernel._step.other_tasks == []
            found = kernel.at(state, aims)
            rows = clearance.rows(state, target)
            wanted = levels.level_of(1, state, rows)
            np.testing.assert_allclose(found.levels[0].J, wanted.J, atol=1e-9)
            np.testing.assert_allclose(found.levels[0].lower, wanted.lower, atol=1e-11)
            np.testing.assert_array_equal(found.levels[0].upper, wanted.upper)
            lacking = levels.residuals_of(1, rows, np.zeros(model.nv), 1.0)
            np.testing.assert_allclose(found.residuals[1], lacking, atol=1e-10)


def test_rows_are_those_of_a_step_that_knows_of_none_before() -> None:
    """To the last bit: pairs that were far apart a step ago are not looked at again, wherever links go."""
    rng = np.random.default_rng(2)
    collisions, q, _ = random_scene(rng, 40)
    model = collisions.model
    levels = TaskLevels(model, [ClearanceTask(collisions, 0.05)])
    obstacles = np.array([obstacle.placement for obstacle in collisions.obstacles])
    kept = KernelRows(levels)
    for k in range(400):
        if k % 30 == 0:
            size = 10.0 ** rng.uniform(-3.0, -1.5)
            pace, shift = rng.uniform(-size, size, model.nv), rng.uniform(-size, size, (len(obstacles), 3))
            turn = so3.exp(rng.uniform(-1.0, 1.0, 3) * 5.0 * size)
        q = model.limits.clamp(q + pace)
        if k % 3 == 0:
            obstacles = obstacles.copy()
            obstacles[:, :3, 3] += shift
            obstacles[:, :3, :3] = obstacles[:, :3, :3] @ turn
        aims = levels.checked_targets([obstacles])
        state = levels.state(q, aims, 1.0)
        found, alone = (rows.at(state, aims).levels[0] for rows in (kept, KernelRows(levels)))
        np.testing.assert_array_equal(found.J, alone.J)
        np.testing.assert_array_equal(found.lower, alone.lower)


@pytest.mark.parametrize("count", [2, 40])
def test_rows_at_places_that_were_seen_before_are_those_of_a_step_that_knows_of_none(count: int) -> None:
    """To the last bit, where links or obstacles alone are elsewhere too."""
    rng = np.random.default_rng(3)
    collisions, q, _ = random_scene(rng, count)
    model = collisions.model
    levels = TaskLevels(model, [ClearanceTask(collisions, 0.05)])
    obstacles = np.array([[obstacle.placement for obstacle in collisions.obstacles]] * 2)
    obstacles[1, :, :3, 3] += 0.01
    places = [model.limits.clamp(q + size * rng.normal(size=model.nv)) for size in (0.0, 0.01, 0.3)]
    kept, seen = KernelRows(levels), set()
    for _ in range(60):
        aims = levels.checked_targets([obstacles[rng.integers(2)]])
        state = levels.state(places[rng.integers(3)], aims, 1.0)
        found, alone = (rows.at(state, aims).levels[0] for rows in (kept, KernelRows(levels)))
        np.testing.assert_array_equal(found.J, alone.J)
        np.testing.assert_array_equal(found.lower, alone.lower)
        seen.add(found.lower.tobytes())
    assert len(seen) == 6


def test_what_moves_both_of_a_pair_moves_them_not_apart() -> None:
    """Exactly: a joint that rounding seems to move belongs to what a step solves."""
    fixed = clothed(library_robot("humanoid"), 0.03)
    model = RobotModel("humanoid", fixed.links, fixed.joints[1:], "floating")
    collisions = CollisionModel(model, disabled=CollisionModel(model).always_near(0.0))
    levels = TaskLevels(model, [ClearanceTask(collisions, 0.2)])
    q = random_configuration(model, np.random.default_rng(4))
    aims = levels.checked_targets([None])
    J = KernelRows(levels).at(levels.state(q, aims, 1.0), aims).levels[0].J
    assert J.any(axis=1).sum() > 8
    assert not J[:, :6].any()  # of the base that floats


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("seed", [0, 5])
def test_a_pair_that_nothing_leads_apart_holds_no_joint_still(seed: int, backend: str) -> None:
    """Nearer than the margin is a link whose nearest point is on the axes of the joints that carry it."""
    collisions, q, other = random_scene(np.random.default_rng(seed))
    model = collisions.model
    target = forward_kinematics(model, other)["link_7"][:3, 3]
    clearance, task = ClearanceTask(collisions, 0.2), PositionTask("link_7", target)
    step = velocity_step(model, q, [clearance, task], dt=0.04, backend=backend)
    assert step.residuals[0, 0] > 0.005 and (abs(step.v[:3]) > 0.1).all()


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_pair_that_nothing_leads_apart_costs_a_blocked_frame_few_steps(backend: str) -> None:
    """The clearance is never met: that was looked for beside each frame's goal, as of a limb that stands straight, and
    in each frame anew, though nothing but the other targets had moved."""
    finger = GANTRY
    for name, parent, z in (("palm", "hand", 0.5), ("tip", "palm", -0.377)):
        finger = finger.replace(
            "</robot>",
            f'<link name="{name}"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>'
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
            f'<origin xyz="0 0 {z}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
            "</robot>",
        )
    model = read_urdf_text(finger)
    collisions = CollisionModel(model, [Obstacle("post", Sphere(0.1), at(0.6, 0.01))])
    line = [[[x, 0.0, 0.0], None] for x in np.linspace(0.0, 0.8, 25)]
    tasks = [PositionTask("hand", line[-1][0]), ClearanceTask(collisions)]
    motion = track(model, tasks, line, model.neutral(), backend=backend)
    near = motion.collisions[5]
    assert near is not None and near.links == ("hand", "tip")
    assert near.reason == "hand is 0.003 m from tip"
    assert np.median(motion.iterations) < 12
    assert sorted(motion.iterations)[5] < 5


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_a_pair_that_nothing_leads_apart_takes_no_joint_from_what_follows(backend: str) -> None:
    """Beside it are links that are near enough to have rows, and far enough."""
    arm = library_robot("mobile_arm")
    near = {"base_link", "link_1", "link_2"}
    links = [dataclasses.replace(link, collisions=link.visuals if link.name in near else ()) for link in arm.links]
    model = RobotModel("arm", links, [joint for joint in arm.joints if joint.parent is not None])
    shapes = CollisionModel(model)
    collisions = CollisionModel(model, disabled=[*shapes.touching_at_rest(), *shapes.always_near(0.02)])
    q = model.limits.middle(model.neutral())
    q[:6] = [0.3, -1.8, 1.7, -1.2, -1.5, 0.3]
    place = forward_kinematics(model, q)["tool"][:3, 3]
    tasks = [PositionTask("tool", place), ClearanceTask(collisions, 0.0165)]
    targets = [[place, None]] + [[place + np.array([0.2, 0.0, 0.0]), None]] * 12
    motion = track(model, tasks, targets, q, backend=backend)
    assert motion.residuals[-1, 0, 0] < 1e-3
    assert motion.collisions[-1] is not None and motion.collisions[-1].links == ("base_link", "link_2")


def test_steps_are_those_of_the_twin() -> None:
    collisions, q, _ = random_scene(np.random.default_rng(3))
    tasks = [PositionTask("tool", [0.4, 0.3, 0.5]), ClearanceTask(collisions, 0.05)]
    one, other = (velocity_step(collisions.model, q, tasks, backend=name) for name in ("native", "numpy"))
    np.testing.assert_allclose(one.v, other.v, atol=1e-7)
    np.testing.assert_allclose(one.residuals, other.residuals, atol=1e-9)


def slow(model: RobotModel) -> RobotModel:
    """Clothed, and braking for several frames."""
    model = clothed(model)
    first = model.joints[0]
    joints = [dataclasses.replace(joint, acceleration=20.0) for joint in model.joints]
    if first.parent is not None:
        return RobotModel(model.name, model.links, joints)
    kind = "wheeled" if first.drive else "floating" if first.nv else "fixed"
    return RobotModel(model.name, model.links, joints[1:], kind, first.drive)


@pytest.mark.parametrize("name", ["panda", "mobile_arm", "puppet"])
def test_looks_ahead_are_those_of_the_twin(name: str) -> None:
    """Joints, a base that rolls, balls in their cones."""
    rng, blocked = np.random.default_rng(4), 0
    model = slow(library_robot(name))
    limits = StepLimits.of(model, 1.0 / 24.0)
    balls = [Obstacle(f"ball {k}", Sphere(0.05), at(*rng.uniform(-0.7, 0.7, 3))) for k in range(20)]
    resting = CollisionModel(model).contacts(model.limits.middle(model.neutral())[None])
    clearance = ClearanceTask(CollisionModel(model, balls, [each.names for each in resting]), 0.02)
    one, other = (kind(model, clearance, limits, "auto", 0.03) for kind in (NativeSafeStop, SafeStop))
    for _ in range(12):
        q = random_configuration(model, rng)
        step = limits.viable(q, np.clip(rng.normal(size=model.nv) * 0.05, -limits.max_step, limits.max_step))
        needed = one.kept(q[None], None)[0]
        assert len(other._stopping(q, step)) > 2
        ours, twin = one.look(q, step, needed, None), other.look(q, step, needed, None)
        np.testing.assert_allclose(ours.q, twin.q, atol=1e-12)
        np.testing.assert_allclose(ours.kept, twin.kept, atol=1e-9)
        assert (ours.blocked is None) == (twin.blocked is None)
        if ours.blocked is not None:
            blocked += 1
            assert ours.blocked.distance == pytest.approx(twin.blocked.distance, abs=1e-9)
    assert blocked


def counted_free_frames(tracker: AvoidingTracker) -> list[int]:
    """To which it adds how many frames it follows without the clearance, each time that it does."""
    free: list[int] = []
    watch(tracker._free, lambda found: free.append(len(found)))
    return free


def watch(tracker: Tracker, watcher: Callable[[TrackResult], None]) -> None:
    run = tracker.run

    def watched(*arguments: Any) -> TrackResult:
        found = run(*arguments)
        watcher(found)
        return found

    tracker.run = watched  # type: ignore[method-assign]


def test_what_presses_is_followed_with_the_clearance_at_once() -> None:
    """At a wall that its target has gone into, until the target comes where the hand can follow it, too far away for
    one frame: then speed is why it is missed."""
    gantry = read_urdf_text(GANTRY)
    wall = Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5))
    tracker = tracker_of(gantry, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(CollisionModel(gantry, [wall]))])
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(np.zeros(2))
    targets = [[[x, 0.0, 0.0], None] for x in (*np.linspace(0.0, 0.6, 30), *[0.6] * 30, *[-0.8] * 30)]
    found = [tracker.run(tracker.check_targets([own])) for own in targets[:59]]
    assert tracker._pressed is not None
    assert [int(each.codes[0]) for each in found[40:]] == [7] * 19
    reasons = {each.diagnosis(0).reason for each in found[40:]}
    assert len(reasons) == 1 and "hand" in reasons.pop()  # what is in the way there, not how near it stands
    free = counted_free_frames(tracker)
    rest = tracker.run(tracker.check_targets([targets[59]] * 16))
    assert sum(free) <= 3
    assert (rest.codes == 7).all()
    away = tracker.run(tracker.check_targets(targets[60:]))
    assert away.codes[1] == 5
    assert away.codes[-1] == 0
    tracker.stand(np.zeros(2))
    whole = tracker.run(tracker.check_targets(targets[:59]))
    np.testing.assert_array_equal(whole.q, np.concatenate([each.q for each in found]))


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_what_meets_its_tasks_beside_an_obstacle_stays_there(backend: str) -> None:
    """Without the clearance the slide would go as far as the hand in each frame, and be led out again in the next."""
    model, wall = read_urdf_text(ALONG), Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5))
    collisions = CollisionModel(model, [wall], [("slide", "hand"), ("hand", "wall")])
    tracker = tracker_of(model, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(collisions)], 1 / 24, backend)
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(np.zeros(2))
    targets = tracker.check_targets([[[x, 0.0, 0.0], None] for x in np.linspace(0.0, 1.2, 81)])
    assert tracker.run(targets[:60]).converged.all()
    free = counted_free_frames(tracker)
    motion = tracker.run(targets[60:])
    assert motion.converged.all()
    np.testing.assert_allclose(motion.q[:, 0], 0.341, atol=1e-3)
    assert sum(free) <= 3


@pytest.mark.parametrize(("speed", "backend"), rest_slow([(0.7, "native"), (0.9, "native"), (0.9, "numpy")], 2))
def test_what_comes_is_evaded_in_time_beside_another_obstacle_too(backend: str, speed: float) -> None:
    """The slide is beside the wall and the hand meets its task, when a ball comes at it."""
    model = with_rates(read_urdf_text(ALONG), acceleration=3.0)
    obstacles = [Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5)), Obstacle("ball", Sphere(0.1), at(3.0))]
    collisions = CollisionModel(model, obstacles, [("slide", "hand"), ("hand", "wall"), ("slide", "ball")])
    frames = np.arange(148)
    ball = np.clip(1.85 - speed / 24 * (frames - 67), 1.15, 1.85)
    targets = [
        [[min(0.015 * frame, 1.2), 0.0, 0.0], np.array([at(0.5), at(x)])] for frame, x in zip(frames, ball, strict=True)
    ]
    tracker = tracker_of(model, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(collisions)], 1 / 24, backend)
    tracker.stand(np.zeros(2))
    motion = tracker.run(tracker.check_targets(targets))
    assert (ball - motion.q.sum(axis=1) - 0.2).min() > 0.0


def test_a_distance_that_is_not_found_is_an_error() -> None:
    collisions, q, _ = random_scene(np.random.default_rng(3))
    levels = TaskLevels(collisions.model, [ClearanceTask(collisions)])
    kernel = KernelRows(levels)
    kernel._step._data.failed = 2
    a, b = (collisions.names[i] for i in collisions.avoidable().pairs[1])
    with pytest.raises(ModelError, match=f"distance of '{a}' and '{b}' cannot be found"):
        kernel.at(levels.state(q, [None], 1.0), [None])


@pytest.mark.parametrize("seed", [4, 15])
def test_beside_a_clearance_nobody_looks_which_late_joints_could_be_spared(seed: int, monkeypatch) -> None:
    """It took most of a frame that presses on an obstacle, of which the pair is named."""
    collisions, q, q1 = random_scene(np.random.default_rng(seed))
    goal = forward_kinematics(collisions.model, q1)["tool"][:3, 3]
    asked: list[object] = []
    monkeypatch.setattr(Frame, "spare", lambda *which: asked.append(which))
    found = []
    for backend in ("numpy", "native"):
        tracker = Tracker(collisions.model, [PositionTask("tool", goal), ClearanceTask(collisions)], 1 / 24, backend)
        tracker.stand(q)
        found.append(tracker.run(tracker.check_targets([[goal, None]] * 2)))
    assert not asked and (found[0].codes == LATE).all()
    np.testing.assert_array_equal(found[1].behind, found[0].behind)


def beside_the_wall(model: RobotModel, backend: str = "native") -> tuple[AvoidingTracker, list[list[Any]]]:
    """The slide is at the wall, and the hand goes on along its line, which it meets."""
    wall = Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5))
    others = [link for link in model.link_names if link not in ("base", "slide")]
    collisions = CollisionModel(model, [wall], [*(("slide", each) for each in others), *((o, "wall") for o in others)])
    tracker = tracker_of(model, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(collisions)], 1 / 24, backend)
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(np.zeros(model.nq))
    targets = tracker.check_targets([[[x, 0.0, 0.0], None] for x in np.linspace(0.0, 1.2, 81)])
    assert tracker.run(targets[:60]).converged.all()
    return tracker, targets[60:]


def test_frames_beside_an_obstacle_are_followed_together_as_one_by_one() -> None:
    model, near = read_urdf_text(ALONG), list[int]()
    tracker, targets = beside_the_wall(model)
    watch(tracker._near, lambda found: near.append(len(found)))
    together = tracker.run(targets)
    assert together.converged.all() and len(near) <= 8 and sum(near) >= 15
    tracker, targets = beside_the_wall(model)
    one_by_one = [tracker.run([each]).q for each in targets]
    np.testing.assert_array_equal(np.concatenate(one_by_one), together.q)


@pytest.mark.parametrize("frames", [81, 91, 95])
def test_a_frame_that_is_blocked_is_followed_without_the_clearance_once(frames: int) -> None:
    """Wherever that is among those that were followed with it."""
    model, near = read_urdf_text(ALONG), list[int]()
    tracker, _ = beside_the_wall(model)
    targets = tracker.check_targets([[[x, 0.0, 0.0], None] for x in np.linspace(0.0, 1.2, frames)])
    tracker.stand(np.zeros(model.nq))
    free = counted_free_frames(tracker)
    watch(tracker._near, lambda found: near.append(len(found)))
    together = tracker.run(targets)
    chunks = [1, 2, 4, 8, 16, 16, 16]
    assert together.converged.all() and free == [*chunks, *[1] * (len(free) - len(chunks))]
    assert sum(near) > 30 and near[:-1] == [8] * (len(near) - 1)
    assert len(free) - len(chunks) in (len(near) - 1, len(near))
    tracker.stand(np.zeros(model.nq))
    one_by_one = [tracker.run([each]).q for each in targets]
    np.testing.assert_array_equal(np.concatenate(one_by_one), together.q)


def test_a_frame_that_presses_is_followed_with_the_clearance_once() -> None:
    """From the first on, which is seen by what leads into the wall without it."""
    gantry, near = read_urdf_text(GANTRY), list[int]()
    wall = Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5))
    tracker = tracker_of(gantry, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(CollisionModel(gantry, [wall]))])
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(np.zeros(2))
    watch(tracker._near, lambda found: near.append(len(found)))
    found = tracker.run(tracker.check_targets([[[x, 0.0, 0.0], None] for x in np.linspace(0.0, 1.2, 60)]))
    assert sum(near) == (found.codes == COLLIDED).sum() > 30


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_neighbours_that_nothing_leads_apart_cost_no_search(backend: str) -> None:
    """A finger turns about a line through its ball, 0.3 mm farther from the hand's than the margin: no frame looked for
    a way to have them farther apart."""
    finger = """<link name="knuckle"><collision><geometry><sphere radius="0.01"/></geometry></collision></link>
    <link name="finger"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
    <joint name="turn" type="revolute"><parent link="hand"/><child link="knuckle"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
    <joint name="turn more" type="revolute"><parent link="knuckle"/><child link="finger"/><origin xyz="0 0 0.2053"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
    tracker, targets = beside_the_wall(read_urdf_text(ALONG.replace("</robot>", finger)), backend)
    codes, steps = list[int](), list[int]()
    watch(tracker._near, lambda found: (codes.extend(found.codes), steps.extend(found.iterations)))  # type: ignore[func-returns-value]
    assert tracker.run(targets).converged.all()
    assert len(steps) >= 15 and max(steps) <= 4 and set(codes) == {CONVERGED}


def test_what_slides_along_an_obstacle_that_its_target_is_in_is_followed_so_at_once() -> None:
    """The target moves on behind a wall, so the hand goes on, too: without the clearance each frame was blocked."""
    gantry, wall = read_urdf_text(GANTRY), Obstacle("wall", Box((0.1, 3.0, 3.0)), at(0.5))
    tracker = tracker_of(gantry, [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(CollisionModel(gantry, [wall]))])
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(np.zeros(2))
    line = [*np.linspace([0.0, 0.0], [0.6, 0.0], 30), *np.linspace([0.6, 0.0], [0.6, 0.9], 48)]
    targets = tracker.check_targets([[[*point, 0.0], None] for point in line])
    tracker.run(targets[:40])
    free = counted_free_frames(tracker)
    found = tracker.run(targets[40:])
    assert (found.codes == COLLIDED).all() and sum(free) <= 6
    np.testing.assert_allclose(found.q[:, 1], np.array(line)[40:, 1], atol=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_a_look_that_is_blocked_says_the_same_on_both_backends(seed: int) -> None:
    """However many pairs are in one another, of which but the deepest counts."""
    rng = np.random.default_rng(seed)
    collisions, q, _ = random_scene(rng, 60)
    model, clearance = collisions.model, ClearanceTask(collisions)
    limits = StepLimits.of(model, 1 / 24)
    kinds = (SafeStop, "numpy"), (NativeSafeStop, "native")
    looks = [kind(model, clearance, limits, name, 0.02) for kind, name in kinds]
    kept, deep = looks[0].kept(q[None], None)[0], 0
    for _ in range(3):
        step = rng.normal(0.0, 0.4, model.nv)
        one, other = (each.look(q, step, kept, None) for each in looks)
        assert (one.blocked is None) == (other.blocked is None)
        if one.blocked is not None and other.blocked is not None:
            assert other.blocked.distance == pytest.approx(one.blocked.distance, abs=1e-9)
            deep += one.blocked.distance < -0.02
    assert deep
