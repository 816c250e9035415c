"""Links keep away from one another and from obstacles, in poses and in motions; coal measures it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, TaskError, forward_kinematics, integrate, library_robot, read_urdf_text
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.collision import Box, Capsule, CollisionModel, Cylinder, Obstacle, Sphere
from robokin_addon.robokin.model.geometry import Geometry
from robokin_addon.solvers import (
    ClearanceTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Status,
    Tracker,
    check_motion,
    solve_ik,
    track,
)
from robokin_addon.solvers.kinematics.state import State
from robokin_addon.solvers.tracking.avoidance import evading
from robokin_addon.solvers.tracking.avoidance.avoiding import AvoidingTracker, tracker_of
from robokin_addon.solvers.tracking.segments import Segment
from support.few import rest_slow
from support.oracles.coal_oracle import least_distances
from support.problems.obstructed import GANTRY, around_a_post, at, clothed, planar_arm, random_scene

MARGIN, TOLERANCE = 0.005, 2e-5  # of coal


def between(model, q):
    """Half-way between each configuration and the next."""
    backend = get_backend()
    return backend.integrate(model.tree, q[:-1], 0.5 * backend.difference(model.tree, q[:-1], q[1:]))


def test_rows_are_the_derivatives_of_distances() -> None:
    rng = np.random.default_rng(2)
    collisions, q, _ = random_scene(rng)
    model, task = collisions.model, ClearanceTask(collisions, 0.3)
    rows = task.rows(State(model, q, length=4.0), None)
    values = collisions.distances(q[None])[0][0, :, 0]
    used = np.flatnonzero(rows.J.any(axis=1))
    assert len(used) > 8
    nearest = np.argsort(values, kind="stable")[: len(rows.J)]
    np.testing.assert_allclose(rows.lower, 0.3 + 2e-5 - values[nearest], atol=1e-12)
    for row in used:
        for dof in range(model.nv):
            step = 1e-6 * np.eye(model.nv)[dof]
            ends = np.array([integrate(model, q, step), integrate(model, q, -step)])
            up, down = collisions.distances(ends)[0][:, nearest[row], 0]
            assert rows.J[row, dof] == pytest.approx((up - down) / 2e-6, abs=1e-5)


def scene_is_kept(seed: int) -> tuple[bool, bool]:
    """Follow a straight line of the tool among obstacles: whether the plain motion collides, and whether all is met."""
    collisions, q0, q1 = random_scene(np.random.default_rng(seed))
    model = collisions.model
    a, b = (forward_kinematics(model, q)["tool"][:3, 3] for q in (q0, q1))
    line = [a + share * (b - a) for share in np.linspace(0.0, 1.0, 40)]
    plain = track(model, [PositionTask("tool", a)], [[point] for point in line], q0)
    targets = [[point, None] for point in line]
    found = track(model, [PositionTask("tool", a), ClearanceTask(collisions, MARGIN)], targets, q0)
    places = np.concatenate((found.q, between(model, found.q)))
    assert least_distances(collisions, places).min() >= MARGIN - TOLERANCE, seed
    assert not check_motion(found.motion, collisions=collisions).violations
    led = collisions.distances(np.concatenate((plain.q, between(model, plain.q))))[0][..., 0].min()
    for frame in np.flatnonzero(found.codes == 7)[:1].tolist():
        diagnosis = found.diagnosis(frame)
        assert diagnosis.status is Status.COLLISION and len(diagnosis.links) == 2
        assert all(name in diagnosis.reason for name in diagnosis.links) and diagnosis.depth > -MARGIN - 0.01
        assert f"{abs(diagnosis.depth):.3g} m" in diagnosis.reason
    return bool(led < 0.0), bool(found.converged.all())


def test_no_frame_nor_half_frame_is_inside_the_margin() -> None:
    seen = [scene_is_kept(seed) for seed in range(12)]
    assert sum(collides for collides, _ in seen) >= 2


@pytest.mark.slow
def test_no_frame_nor_half_frame_is_inside_the_margin_on_200_scenes() -> None:
    seen = [scene_is_kept(seed) for seed in range(100, 300)]
    assert sum(collides for collides, _ in seen) >= 50


def test_a_pose_leaves_collisions_or_says_which_pair_blocks() -> None:
    rng, freed = np.random.default_rng(5), 0
    for _ in range(12):
        collisions, q, start = random_scene(rng, 12)
        goal = PoseTask("tool", forward_kinematics(collisions.model, q)["tool"])
        plain = solve_ik(collisions.model, [goal], start)
        found = solve_ik(collisions.model, [goal, ClearanceTask(collisions, MARGIN)], start)
        assert found.converged  # q is such a pose
        assert least_distances(collisions, found.q[None])[0] >= MARGIN - TOLERANCE
        freed += bool(collisions.contacts(plain.q[None]))
    assert freed >= 1
    arm = planar_arm(2)
    post = Obstacle("post", Sphere(0.2), at(1.9))
    blocked = solve_ik(
        arm,
        [PositionTask("l1", [1.9, 0.0, 0.0], offset=at(1.0)), ClearanceTask(CollisionModel(arm, [post]))],
        np.array([0.5, 0.5]),
    )
    assert blocked.status is Status.COLLISION and set(blocked.diagnosis.links) == {"l1", "post"}
    assert "deep in post" in blocked.reason and blocked.to_dict()["links"] == ["l1", "post"]
    assert least_distances(CollisionModel(arm, [post]), blocked.q[None])[0] >= MARGIN - TOLERANCE


def test_the_elbow_goes_around_a_post_while_the_hand_stays_on_its_way() -> None:
    """A planar arm of five links: the freedom that the hand leaves is used."""
    arm = planar_arm(5)
    collisions = CollisionModel(arm, [Obstacle("post", Capsule(0.2, 1.0), at(1.6, 0.9))])
    q0 = np.array([0.9, -1.2, 0.2, 0.9, -0.9])
    assert least_distances(collisions, q0[None])[0] > 0.03
    hand = forward_kinematics(arm, q0)["l4"][:3, 3]
    line = [hand + share * np.array([-0.3, 0.6, 0.0]) for share in np.linspace(0.0, 1.0, 60)]
    plain = track(arm, [PositionTask("l4", hand)], [[p] for p in line], q0)
    assert plain.converged.all() and collisions.contacts(plain.q)
    found = track(arm, [PositionTask("l4", hand), ClearanceTask(collisions)], [[p, None] for p in line], q0)
    assert least_distances(collisions, np.concatenate((found.q, between(arm, found.q)))).min() >= MARGIN - TOLERANCE
    assert found.converged.mean() > 0.95


def test_a_humanoid_keeps_its_hand_out_of_its_own_body() -> None:
    """A hand is led from before the body through the chest; both feet and the other hand stay."""
    model = clothed(library_robot("humanoid"), 0.04)
    feet = [PoseTask(name, forward_kinematics(model, model.neutral())[name]) for name in ("left_foot", "right_foot")]
    left, right = np.array([0.4, 0.25, 1.0]), np.array([0.4, -0.25, 1.0])
    tasks = [*feet, PositionTask("left_hand", left), PositionTask("right_hand", right)]
    q0 = solve_ik(model, tasks, q0=model.neutral()).q
    always = {contact.names for contact in CollisionModel(model).contacts(q0[None])}  # neighbours over short links
    collisions = CollisionModel(model, disabled=always)
    line = left + np.linspace(0.0, 1.0, 60)[:, None] * np.array([-0.55, -0.45, 0.05])
    targets = [[*(foot.target for foot in feet), point, right] for point in line]
    plain = track(model, tasks, targets, q0)
    found = track(model, [*tasks, ClearanceTask(collisions)], [[*each, None] for each in targets], q0)
    assert plain.converged.all() and least_distances(collisions, plain.q).min() < -0.05
    places = np.concatenate((found.q, between(model, found.q)))
    assert least_distances(collisions, places).min() >= MARGIN - TOLERANCE
    stopped = np.flatnonzero(~found.converged)
    assert found.converged[:20].all() and {found.status[i] for i in stopped} == {Status.COLLISION}
    assert "chest" in found.diagnosis(int(stopped[0])).reason


def test_an_obstacle_that_moves_pushes_the_arm_aside() -> None:
    arm = planar_arm(4)
    T = np.tile(np.eye(4), (40, 1, 1, 1))
    T[:, 0, 1, 3] = np.linspace(1.0, 0.0, 40)
    T[:, 0, 0, 3] = 1.5
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.2), T[0, 0])])
    q0 = np.array([-0.6, 1.2, -1.2, 1.0])
    hand = forward_kinematics(arm, q0)["l3"][:3, 3]
    tasks = [PositionTask("l3", hand), ClearanceTask(collisions)]
    found = track(arm, tasks, [[hand, each] for each in T], q0)
    still = least_distances(collisions, np.tile(q0, (40, 1)), T)
    least = least_distances(collisions, found.q, T)
    assert still.min() < 0.0 and least.min() >= MARGIN - TOLERANCE and found.converged.all()


def test_a_start_that_is_too_near_comes_out_and_says_so_before() -> None:
    collisions, _, _ = around_a_post()
    arm, inside = collisions.model, np.array([0.6, 0.0, 0.0])
    task = PostureTask(inside)
    tracker = tracker_of(arm, [task, ClearanceTask(collisions)])
    assert isinstance(tracker, AvoidingTracker)
    tracker.stand(inside)
    found = [tracker.step([inside, None]) for _ in range(60)]
    assert found[0].status is Status.COLLISION and "deep in post" in found[0].reason
    values = collisions.distances(np.array([each.q for each in found]))[0][..., 0].min(axis=1)
    assert values.min() >= MARGIN - TOLERANCE  # at once: no speed is limited


def test_tasks_that_fade_and_velocities_keep_away_too() -> None:
    collisions, q0, q1 = around_a_post()
    arm = collisions.model
    tasks = [PostureTask(q1), PositionTask("l2", [0.0, 1.0, 0.0], priority=2), ClearanceTask(collisions)]
    tracker = tracker_of(arm, tasks)
    tracker.stand(q0)
    shares = [np.array([min(k / 30, 1.0), 0.5, 1.0]) for k in range(60)]
    found = tracker.run(tracker.check_targets([[q1, [0.0, 1.0, 0.0], None]] * 60), shares)
    assert least_distances(collisions, np.concatenate((found.q, between(arm, found.q)))).min() >= MARGIN - TOLERANCE


def test_a_wheeled_base_stops_before_a_post_and_rolls_without_slip() -> None:
    cart = library_robot("mobile_arm")
    base, others = cart.joints[0], cart.joints[1:]
    joints = [dataclasses.replace(j, acceleration=15.0) if "wheel" in j.name else j for j in others]
    body = (Geometry(Sphere(0.3)),)
    links = [dataclasses.replace(link, collisions=body if link.name == base.child else ()) for link in cart.links]
    cart = RobotModel(cart.name, links, joints, "wheeled", base.drive)
    collisions = CollisionModel(cart, [Obstacle("post", Cylinder(0.1, 3.0), at(1.3, 0.5, 0.5))])
    q0 = cart.limits.middle(cart.neutral())
    tool = forward_kinematics(cart, q0)["tool"][:3, 3]
    line = [[tool + share * np.array([3.0, 2.5, 0.0]), None] for share in np.linspace(0.0, 1.0, 60)]
    found = track(cart, [PositionTask("tool", tool), ClearanceTask(collisions)], line, q0)
    places = np.concatenate((found.q, between(cart, found.q)))
    assert least_distances(collisions, places).min() >= MARGIN - TOLERANCE
    assert (
        found.q[-1, 0] > 0.5
        and abs(found.q[-1, 2]) > 0.1
        and not check_motion(found.motion, collisions=collisions).violations
    )
    assert type(tracker_of(cart, [PositionTask("tool", tool)])) is Tracker


def test_what_is_no_clearance_is_refused() -> None:
    collisions = around_a_post()[0]
    with pytest.raises(TaskError, match="margin"):
        ClearanceTask(collisions, -1.0)
    with pytest.raises(TaskError, match=r"shape \(1, 4, 4\)"):
        ClearanceTask(collisions, target=np.eye(4))
    with pytest.raises(TaskError, match="'arm', not of"):
        solve_ik(library_robot("panda"), [ClearanceTask(collisions)])


def test_what_is_out_of_reach_is_not_a_collision() -> None:
    arm = planar_arm(2)
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.1), at(0.0, 1.0))])
    tasks = [PositionTask(arm.link_names[-1], [0.0, 2.5, 0.0]), ClearanceTask(collisions, 0.02)]
    found = track(arm, tasks, [[[0.0, 2.5, 0.0], None]] * 20, np.array([0.3, 0.2]))
    assert {status.name for status in found.status} == {"OUT_OF_REACH"}


@pytest.mark.slow
def test_what_is_out_of_reach_and_in_something_says_so() -> None:
    """A ball comes over the base of an arm, whose first link cannot leave."""
    arm = planar_arm(2)
    T = np.array([[at(x)] for x in np.linspace(-3.0, 0.0, 40)])
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.4), T[0, 0])])
    goal = [0.0, 2.5, 0.0]
    tasks = [PositionTask("l1", goal), ClearanceTask(collisions, MARGIN)]
    found = track(arm, tasks, [[goal, each] for each in T], np.array([0.3, 0.2]))
    least = least_distances(collisions, found.q, T)
    inside = np.flatnonzero(least < MARGIN - TOLERANCE).tolist()
    assert inside and least.min() < 0.0 and found.status[0] is Status.OUT_OF_REACH
    for frame in inside:
        why = found.diagnosis(frame)
        assert why.status is Status.COLLISION and set(why.links) == {"l0", "ball"}
        assert why.depth == pytest.approx(-least[frame], abs=1e-6)


def test_a_clearance_alone_is_met() -> None:
    arm = planar_arm(2)
    collisions = CollisionModel(arm, [Obstacle("ball", Sphere(0.1), at(0.0, 1.0))])
    found = track(arm, [ClearanceTask(collisions, 0.02)], [[None]] * 3, np.array([0.3, 0.2]))
    assert {status.name for status in found.status} == {"CONVERGED"}
    with pytest.raises(TaskError, match="must be a CollisionModel"):
        ClearanceTask(None)


def test_frames_that_catch_up_say_what_held_the_robot_up() -> None:
    """A hand that slides to a wall and goes on around it: late is what the limits make it, because of the wall."""
    gantry = read_urdf_text(GANTRY)
    wall = Obstacle("wall", Box((0.1, 1.0, 1.0)), at(0.5))
    tasks = [PositionTask("hand", [0.0, 0.0, 0.0]), ClearanceTask(CollisionModel(gantry, [wall]))]
    way = [*np.linspace([0.0, 0.0], [1.0, 0.0], 30), *[[0.0, 0.8]] * 60]
    found = track(gantry, tasks, [[[*point, 0.0], None] for point in way], np.zeros(2), dt=1.0 / 24.0)
    codes = found.codes.tolist()
    assert codes[0] == 0 and codes[29] == 7 and codes[30] == 5 and codes[-1] == 0
    first, late = found.diagnosis(29), found.diagnosis(30)
    assert first.status is Status.COLLISION and first.links == ("hand", "wall")
    assert late.status is Status.LIMIT and late.joints and late.reason.endswith(f"held up before: {first.reason}")
    assert late.to_dict()["links"] == ["hand", "wall"] and late.depth == first.depth
    assert found.frame(30).diagnosis == late and found.diagnosis(0).links == ()


def test_a_frame_that_is_missed_for_what_comes_names_it_before_it_is_there() -> None:
    gantry = read_urdf_text(GANTRY)
    wall = Obstacle("wall", Box((0.1, 1.0, 1.0)), at(0.4))
    T = np.tile(np.eye(4), (30, 1, 1, 1))
    T[:, 0, 0, 3] = np.linspace(0.4, 0.1, 30)
    collisions = CollisionModel(gantry, [wall])
    still = [0.0, 0.0, 0.0]
    tasks = [PositionTask("hand", still), ClearanceTask(collisions, MARGIN)]
    found = track(gantry, tasks, [[still, each] for each in T], np.zeros(2), dt=1.0 / 24.0)
    missed = np.flatnonzero(~found.converged).tolist()
    first = missed[0]
    assert collisions.distances(np.zeros((1, 2)), obstacles=T[first])[0].ravel()[0] > 0.01  # it is not there yet
    for frame in missed:
        why = found.diagnosis(frame)
        assert why.status is Status.COLLISION and set(why.links) == {"hand", "wall"}


def struck(room: float) -> tuple[np.ndarray, Any]:
    """Least distances at frames, and the motion of a hand that goes 1 m/s and has some room aside [m]. A wall comes at
    2 m/s: the hand has to go aside 0.35 m, which takes longer than a sixth of a second."""
    gantry = read_urdf_text(GANTRY.replace('lower="-1" upper="1"', f'lower="-{room}" upper="{room}"'))
    T = np.array([[at(x)] for x in np.arange(1.4, -1.5, -2.0 / 24.0)])
    collisions = CollisionModel(gantry, [Obstacle("wall", Box((0.1, 0.5, 0.5)), T[0, 0])])
    still = [0.0, 0.0, 0.0]
    tasks = [PositionTask("hand", still), ClearanceTask(collisions, MARGIN)]
    found = track(gantry, tasks, [[still, each] for each in T], np.zeros(2), seed=3)
    if room < 1.0:  # whatever the search before it has tried
        again = track(gantry, tasks, [[still, each] for each in T], np.zeros(2), seed=3)
        np.testing.assert_array_equal(again.q, found.q)
    assert not check_motion(found.motion).violations
    where = np.concatenate((T, 0.5 * (T[1:] + T[:-1])))
    return least_distances(collisions, np.concatenate((found.q, between(gantry, found.q))), where), found


def test_what_is_too_fast_for_a_few_frames_is_evaded_in_time() -> None:
    least, found = struck(1.0)
    assert least[: len(found)].min() >= MARGIN - TOLERANCE and least.min() > 0.0
    missed = np.flatnonzero(~found.converged)
    assert len(missed) and found.converged[[0, -1]].all()
    first = found.diagnosis(int(missed[0]))
    assert first.status is Status.COLLISION and first.links == ("hand", "wall") and first.depth > 0.0


@pytest.mark.slow
def test_what_cannot_be_evaded_says_so_and_goes_on_as_before() -> None:
    least, found = struck(0.3)
    inside = np.flatnonzero(least[: len(found)] < MARGIN - TOLERANCE)
    assert len(inside) and least.min() < 0.0
    for frame in inside.tolist():
        why = found.diagnosis(frame)
        assert why.status is Status.COLLISION and why.depth == pytest.approx(-least[frame], abs=1e-6)


@pytest.mark.slow
def test_what_is_evaded_leads_into_nothing_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three spheres cross the gantry one after another: the way around the first leads into another one."""
    gantry, rng, frames, ways, obstacles = read_urdf_text(GANTRY), np.random.default_rng(46), 50, [], []
    for number in range(3):
        speed, angle = rng.uniform(1, 3) / 24, rng.uniform(0, 2 * np.pi)
        ahead = np.array([np.cos(angle), np.sin(angle)])
        hit, aside = rng.integers(10, 45), rng.uniform(-0.6, 0.6) * np.array([-ahead[1], ahead[0]])
        ways.append([at(*(aside + ahead * speed * (i - hit))) for i in range(frames)])
        obstacles.append(Obstacle(f"ball {number}", Sphere(rng.uniform(0.15, 0.4)), ways[-1][0]))
    T, still = np.array(ways).swapaxes(0, 1), [0.0, 0.0, 0.0]
    collisions = CollisionModel(gantry, obstacles)
    tasks = [PositionTask("hand", still), ClearanceTask(collisions, MARGIN)]

    def inside() -> float:
        found = track(gantry, tasks, [[still, each] for each in T], np.zeros(2), seed=3)
        return float(np.maximum(MARGIN - least_distances(collisions, found.q, T), 0.0).sum())

    evaded = inside()
    monkeypatch.setattr(evading, "BACKS", ())
    assert evaded <= inside() + TOLERANCE


def crossed(
    seed: int, rate: int = 24, robot: str = "panda", speed: float = 0.3
) -> tuple[CollisionModel, np.ndarray, np.ndarray, list]:
    """A scene, where its obstacles are in 2.5 s, a start and targets: a hand goes along a line while an obstacle
    crosses it at a speed [m/s]."""
    rng = np.random.default_rng(seed)
    collisions, q0, q1 = random_scene(rng, 5, robot)
    a, b = (forward_kinematics(collisions.model, q)["tool"][:3, 3] for q in (q0, q1))
    way, frames = rng.normal(size=3), int(2.5 * rate)
    T = np.tile([obstacle.placement for obstacle in collisions.obstacles], (frames, 1, 1, 1))
    T[:, 0, :3, 3] = (
        a + rng.normal(0.0, 0.1, 3) + speed * np.linspace(-1.2, 1.25, frames)[:, None] * way / np.linalg.norm(way)
    )
    return (
        collisions,
        T,
        q0,
        [[a + share * (b - a), own] for share, own in zip(np.linspace(0.0, 1.0, frames), T, strict=True)],
    )


def among_moving(seed: int, rate: int = 24, *others: Any) -> float:
    """[m] what is least in a `crossed` scene at frames and half frames, by coal; where that is inside the margin the
    frame says how deep which two are."""
    collisions, T, q0, targets = crossed(seed, rate, *others)
    model = collisions.model
    found = track(
        model, [PositionTask("tool", targets[0][0]), ClearanceTask(collisions, MARGIN)], targets, q0, 1.0 / rate
    )
    assert not check_motion(found.motion).violations
    where = np.concatenate((T, 0.5 * (T[1:] + T[:-1])))
    least = least_distances(collisions, np.concatenate((found.q, between(model, found.q))), where)
    for frame in np.flatnonzero(least[: len(T)] < MARGIN - TOLERANCE).tolist():
        why = found.diagnosis(frame)
        assert why.status is Status.COLLISION and why.depth == pytest.approx(-least[frame], abs=1e-6)
    return float(least.min())


SLOWLY = ((18, 24), (24, 24), (40, 24), (50, 24), (40, 120), (12, 120), (24, 120))


@pytest.mark.parametrize(("seed", "rate"), rest_slow(SLOWLY, 5))
def test_an_obstacle_that_comes_slowly_is_evaded_in_time(seed: int, rate: int) -> None:
    assert among_moving(seed, rate) >= MARGIN - TOLERANCE


@pytest.mark.parametrize("seed", [23, 25, 33])
def test_an_obstacle_is_evaded_the_shortest_way_where_the_tasks_lead_across_it(seed: int) -> None:
    """No joint of this arm has a limit on speed: a step that meets the tasks may end beyond the obstacle."""
    assert among_moving(seed, 24, "puma560", 0.6) >= MARGIN - TOLERANCE


@pytest.mark.parametrize(("seed", "speed"), [(0, 0.1), (1, 0.3), (2, 1.0)])
def test_an_obstacle_that_stops_before_the_hand_moves_it_nowhere(seed: int, speed: float) -> None:
    """What comes in the next frames is known: it is not taken to go on."""
    rng = np.random.default_rng(seed)
    collisions, q, _ = random_scene(rng, 1)
    model, (obstacle,) = collisions.model, collisions.obstacles
    hand, way = forward_kinematics(model, q)["tool"][:3, 3], rng.normal(size=3)
    way /= np.linalg.norm(way)

    def least(away: float) -> float:
        there = dataclasses.replace(obstacle, placement=at(*(hand + away * way)))
        return float(collisions.among([there]).distances(q[None])[0][..., 0].min())

    free = least(2.0)
    assert free > 2.0 * MARGIN
    end = next(away for away in np.arange(1.5, 0.0, -1e-3) if least(away) < 2.0 * MARGIN)
    away = end + np.maximum(0.0, 0.6 - speed / 24.0 * np.arange(40))
    places = np.array([[at(*(hand + each * way))] for each in away])
    among = collisions.among([dataclasses.replace(obstacle, placement=places[0, 0])])
    targets = [[hand, each] for each in places]
    found = track(model, [PositionTask("tool", hand), ClearanceTask(among, MARGIN)], targets, q)
    assert found.converged.all()
    np.testing.assert_allclose(found.q, np.tile(q, (40, 1)), atol=1e-9)


def test_a_motion_in_pieces_looks_ahead_as_in_one() -> None:
    collisions, _, q0, targets = crossed(18)
    tasks, found = [PositionTask("tool", targets[0][0]), ClearanceTask(collisions, MARGIN)], []
    for size in (59, 7, 1):
        tracker = tracker_of(collisions.model, tasks)
        segment = Segment(tracker, tracker.check_targets(targets))
        segment.start(q0, None, 0, None)
        found.append(np.concatenate([segment.run(i, min(i + size, 60)).q for i in range(1, 60, size)]))
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@pytest.mark.slow
def test_slow_obstacles_are_evaded_in_all_but_a_few_of_60_scenes() -> None:
    """They come at the link above the base, or catch the arm where it is at its limits."""
    assert sum(among_moving(seed) < MARGIN - TOLERANCE for seed in range(60)) <= 2
