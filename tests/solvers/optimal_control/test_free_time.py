"""A whole motion whose time is free, against the best of many given times."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, RobokinError, RobotModel, TaskError
from robokin_addon.solvers import JointVelocityTask, PositionTask, PostureTask, check_motion, optimize_motion
from support.problems.limits import with_rates
from support.problems.tracked import assert_inside, circle, panda

FRAMES = 30


def problem(acceleration=8.0):
    model, q, tasks = panda()
    model = with_rates(model, acceleration=acceleration)
    return model, tasks, circle(model, tasks[0].link, q, FRAMES, radius=0.05), q


@pytest.mark.parametrize(("cost", "weight"), [("acceleration", 0.1), ("acceleration", 3.0), ("kinetic_energy", 0.01)])
def test_no_given_time_is_better(cost, weight):
    given = problem()
    free = optimize_motion(*given, dt=0.06, cost={cost: 1.0, "duration": weight})
    assert free.is_optimal and free.kkt <= 1e-6 and free.converged.all()
    assert_inside(free)
    for share in (0.8, 0.95, 0.99, 1.0, 1.01, 1.05, 1.25):
        dt = share * free.dt
        timed = optimize_motion(*given, dt=dt, cost=cost)
        if timed.converged.all():
            total = timed.cost_after + weight * dt * (FRAMES - 1)
            assert free.cost_after <= total * (1.0 + 1e-7), share
            assert share != 1.0 or free.cost_after == pytest.approx(total, rel=1e-7)


@pytest.mark.parametrize("limits", [None, {"jerk": 150.0}])
def test_nothing_faster_keeps_the_limits(limits):
    given = problem()
    fastest = optimize_motion(*given, dt=0.1, cost="duration", limits=limits)
    assert fastest.is_optimal and fastest.converged.all()
    assert_inside(fastest)
    assert limits is None or abs(fastest.motion.jerk[1:]).max() <= 150.0
    hurried = optimize_motion(*given, dt=0.999 * fastest.dt, limits=limits)
    assert not hurried.converged.all()
    again = optimize_motion(*given, dt=0.01, cost="duration", limits=limits)  # too fast to begin with
    assert again.dt == pytest.approx(fastest.dt, rel=1e-5)


def test_nothing_else_pulls_at_the_fastest_motion():
    """A hand that only has a place leaves the arm free: what holds it near the motion before is 0 there, not little."""
    model, tasks, targets, q = problem()
    path = [each[0][:3, 3] for each in targets]
    fastest = optimize_motion(
        model, [PositionTask(tasks[0].link, path[0])], [[point] for point in path], q, 0.1, "duration"
    )
    assert fastest.is_optimal and fastest.kkt <= 1e-9


def test_limits_on_speeds_alone_are_enough():
    """Of frames that nothing hurries many are as good: a method that goes little at a time comes to no end."""
    model, q, tasks = panda()
    model, hand = with_rates(model, acceleration=np.inf), tasks[0].link
    path = [np.reshape(T, (4, 4))[:3, 3] for T in circle(model, hand, q, 20, radius=0.1)]
    given = model, [PositionTask(hand, path[0])], [[point] for point in path], q
    fastest = optimize_motion(*given, 0.06, "duration")
    assert fastest.is_optimal and fastest.kkt <= 1e-6 and fastest.converged.all()
    assert_inside(fastest)


@pytest.mark.parametrize("frames", [30, 50])
def test_the_fastest_motion_is_proven_where_little_tells_one_from_another(frames):
    """The hand may turn as it likes: without continuation the search comes to no end in 200 steps."""
    model, q, tasks = panda()
    hand = tasks[0].link
    path = [np.reshape(T, (4, 4))[:3, 3] for T in circle(model, hand, q, frames, radius=0.1)]
    given = model, [PositionTask(hand, path[0])], [[point] for point in path], q, 0.04
    fastest = optimize_motion(*given, "duration")
    assert fastest.is_optimal and fastest.kkt <= 1e-6 and fastest.converged.all()
    assert_inside(fastest)
    gentler = optimize_motion(*given, {"duration": 1.0, "acceleration": 1e-4})
    assert gentler.is_optimal and 0.95 * gentler.dt < fastest.dt < gentler.dt


@pytest.mark.parametrize("dt", [0.01, 0.06])
def test_a_start_that_breaks_other_limits_gets_more_time(dt):
    """A jerk is that of a motion, over the cube of the time."""
    one, other = (optimize_motion(*problem(), dt=dt, cost="duration", limits={"jerk": jerk}) for jerk in (20.0, 5.0))
    assert one.converged.all() and other.converged.all()
    assert other.dt == pytest.approx(one.dt * 4.0 ** (1.0 / 3.0), rel=1e-3)


def test_efforts_hold_in_free_time():
    given = problem(acceleration=30.0)
    free = optimize_motion(*given, dt=0.1, cost={"acceleration": 1.0, "duration": 300.0}, gravity=[0.0, 0.0, -9.81])
    assert free.converged.all() and free.dt < 0.1
    assert not check_motion(free.motion, gravity=[0.0, 0.0, -9.81], efforts=True).violations


def test_velocities_are_per_second_in_whatever_time():
    model, _, _, q = problem()
    asked = {"panda_joint1": 0.3}
    free = optimize_motion(
        model, [JointVelocityTask(asked)], [[asked]] * 10, q, 0.05, {"acceleration": 1.0, "duration": 0.1}
    )
    assert free.converged.all() and free.dt != 0.05
    i = model.slot("panda_joint1").v.start
    assert np.allclose(free.motion.v[2:, i], 0.3, atol=1e-4)


def test_what_nothing_bounds_is_an_error():
    model, tasks, targets, q = problem()
    with pytest.raises(RobokinError, match=r"duration: .* has no limit"):
        optimize_motion(with_rates(model, velocity=np.inf, acceleration=np.inf), tasks, targets, q, cost="duration")


def test_a_motion_that_no_limit_bounds_says_so():
    """Some joints have limits on speed, those that move have none."""
    joints = [
        Joint("turn", "continuous", "base", "arm", axis=(0.0, 0.0, 1.0)),
        Joint("slide", "prismatic", "arm", "tip", velocity=1.0),
    ]
    model = RobotModel("arm", [Link("base"), Link("arm"), Link("tip")], joints)
    q = np.tile(model.neutral(), (8, 1))
    q[:, model.slot("turn").q.start] = np.linspace(0.0, 0.3, 8)
    with pytest.raises(TaskError, match=r"duration: nothing bounds it: .* or what moves has no speed limits"):
        optimize_motion(model, [PostureTask(q[0])], [[each] for each in q], q[0], 0.04, "duration")


@pytest.mark.parametrize("cost", ["duration", {"duration": 1.0, "acceleration": 1e-3}])
def test_a_robot_that_stands_still_keeps_its_time(cost):
    model, tasks, targets, q = problem()
    still = optimize_motion(model, tasks, [targets[0]] * 10, q, 0.04, cost)
    assert still.converged.all() and still.dt == 0.04 and "stands still, which may take any time" in still.note


@pytest.mark.parametrize("cost", [{}, {"acceleration": 1e-3}, {"torque": 0.1}])
@pytest.mark.parametrize("size", [1e-4, 0.2])
def test_a_motion_that_could_stand_still_says_so(cost, size):
    """The animation that it starts from moves, and its task does not ask for that: the faster, the less it costs."""
    model, _, _, q = problem()
    animation = np.tile(q, (10, 1))
    animation[:, 0] += np.linspace(0.0, size, 10)
    task = PostureTask(q, weights={"panda_joint1": 0.0})
    with pytest.raises(TaskError, match="the robot can stand still"):
        optimize_motion(model, [task], dt=0.04, cost={"duration": 1.0} | cost, animation=animation)


def test_what_moves_by_rounding_stands_still():
    """As an animation whose keys are in single precision."""
    model, _, _, q = problem()
    animation = q + 1e-8 * np.random.default_rng(0).normal(size=(10, model.nq))
    animation = np.array([model.limits.clamp(each) for each in animation])
    still = optimize_motion(model, [PostureTask(q)], dt=0.04, cost="duration", animation=animation)
    assert still.dt == 0.04 and "stands still" in still.note
