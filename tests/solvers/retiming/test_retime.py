"""`retime`: against toppra, inside the limits at all times, every mode, bad input."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import toppra
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    RobotModel,
    clamp,
    difference,
    gravity_torque,
    integrate,
    library_robot,
    load_urdf,
    random_configuration,
)
from robokin_addon.solvers import Motion, MotionLimits, Retimed, check_motion, retime
from robokin_addon.solvers.motion.dynamics import motion_efforts
from robokin_addon.solvers.retiming import path_speed
from robokin_addon.solvers.retiming.path import Path
from support.few import rest_slow
from support.problems.limits import with_rates
from support.robots import robot
from toppra import algorithm, constraint

logging.getLogger("toppra").setLevel(logging.CRITICAL)

ROBOTS = (
    "panda",
    "ur5_robot",
    "z1",
    "xarm7",
    "kinova",
    "so101",
    "talos_left_arm",
    "baxter",
    "tiago_pro",
    "hyq_no_sensors",
)


def waypoints(model: RobotModel, rng: np.random.Generator, count: int) -> np.ndarray:
    return np.array([0.5 * random_configuration(model, rng) + 0.5 * middle_of(model) for _ in range(count)])


def middle_of(model: RobotModel) -> np.ndarray:
    return model.limits.middle(model.neutral())


def by_toppra(model: RobotModel, way: np.ndarray, intervals: int) -> float:
    path = toppra.SplineInterpolator(np.linspace(0.0, 1.0, len(way)), way)
    bounds = [np.stack((-limit, limit), axis=1) for limit in (model.velocity, model.acceleration)]
    limits = [constraint.JointVelocityConstraint(bounds[0]), constraint.JointAccelerationConstraint(bounds[1])]
    grid = np.linspace(0.0, 1.0, intervals + 1)
    solver = algorithm.TOPPRA(limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
    return float(solver.compute_trajectory(0.0, 0.0).duration)


def assert_limits(found: Retimed, samples: int = 20_001) -> tuple[np.ndarray, ...]:
    """Times, q and v."""
    times = np.linspace(0.0, found.duration, samples)
    q, v, a = found.sample(times)
    assert (q >= found.model.lower).all() and (q <= found.model.upper).all()
    assert (abs(v) / found.limits.velocity).max() <= 1.0 + 1e-6
    assert (abs(a) / found.limits.acceleration).max() <= 1.0 + 1e-6
    return times, q, v


def check_limits(found: Retimed, samples: int = 20_001) -> None:
    times, q, v = assert_limits(found, samples)
    h = times[1] - times[0]
    steps = np.array([difference(found.model, *ends) for ends in zip(q[:-2:50], q[2::50], strict=True)])
    assert np.median(abs(steps / (2.0 * h) - v[1:-1:50])) < 1e-6  # v is the derivative of q


def test_as_fast_as_toppra_and_inside_the_limits() -> None:
    model, rng = library_robot("panda"), np.random.default_rng(1)
    for _ in range(4):
        way = waypoints(model, rng, 5)
        found = retime(model, way)
        assert found.duration <= by_toppra(model, way, 1000) * (1.0 + 1e-4)
        check_limits(found)
        for t, end in ((0.0, way[0]), (found.duration, way[-1])):
            q, v, _ = found.sample(t)
            assert abs(q - end).max() < 1e-9 and abs(v).max() < 1e-9
        nearest = [abs(found.sample(found.times)[0] - each).max(axis=1).min() for each in way]
        assert max(nearest) < 1e-9  # the shape stays


@pytest.mark.parametrize("count", rest_slow([12, 5, 40]))
def test_as_fast_as_toppra_on_a_grid_that_is_fine_everywhere(count: int) -> None:
    model, rng = library_robot("panda"), np.random.default_rng(count)
    way = waypoints(model, rng, count)
    found = retime(model, way)
    assert found.duration <= by_toppra(model, way, 32_000) * (1.0 + 1e-4)
    assert_limits(found, 100_001)


@pytest.mark.parametrize("seed", [4, 8])
def test_limits_hold_between_the_places_where_they_are_looked_at(seed: int) -> None:
    model, rng = library_robot("panda"), np.random.default_rng(seed)
    check_limits(retime(model, waypoints(model, rng, 8)))


def test_limits_hold_where_an_acceleration_is_largest_beside_a_place_of_the_grid() -> None:
    model, rng = load_urdf(robot("panda")), np.random.default_rng(0)
    for count in (4, 6, 10, 30, 80):
        way = [clamp(model, 0.4 * random_configuration(model, rng) + 0.6 * middle_of(model)) for _ in range(count)]
    assert_limits(retime(model, way, {"acceleration": 5.0}))


class SamePath(toppra.interpolator.AbstractGeometricPath):
    """Our path, as toppra wants paths."""

    waypoints = dof = path_interval = None

    def __init__(self, path: Path) -> None:
        self.path, self.dof, self.path_interval = path, path.model.nv, path.knots[[0, -1]]

    def __call__(self, s: np.ndarray, order: int = 0) -> np.ndarray:
        last = len(self.path.knots) - 2
        interval = np.clip(np.searchsorted(self.path.knots, s, side="right") - 1, 0, last)
        return self.path.at(interval, np.asarray(s, float))[order]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "walks"), [(300, True), (400, False)])
def test_along_noise_it_is_as_fast_as_toppra_on_a_far_finer_grid(count: int, walks: bool) -> None:
    model, rng = library_robot("panda"), np.random.default_rng(count)
    noise = 0.2 * rng.standard_normal((count, model.nv))
    noise = 0.1 * np.cumsum(noise, axis=0) if walks else noise
    found = retime(
        model, [clamp(model, integrate(model, middle_of(model), each)) for each in noise], {"acceleration": 5.0}
    )
    grid = found.timing.grid
    fine = np.interp(np.arange(12 * (len(grid) - 1) + 1) / 12.0, np.arange(len(grid)), grid)
    bounds = [np.stack((-each, each), axis=1) for each in (model.velocity, np.full(model.nv, 5.0))]
    limits = [constraint.JointVelocityConstraint(bounds[0]), constraint.JointAccelerationConstraint(bounds[1])]
    theirs = algorithm.TOPPRA(limits, SamePath(found.path), fine, parametrizer="ParametrizeConstAccel")
    assert found.duration <= theirs.compute_trajectory(0.0, 0.0).duration * (1.0 + 1e-4)
    assert_limits(found, 200_001)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROBOTS)
def test_on_the_same_path_it_is_as_fast_as_toppra_made_legal(name: str) -> None:
    """toppra passes limits between its places of the grid: its timing is slowed down until it keeps them."""
    model, rng = load_urdf(robot(name)), np.random.default_rng(0)
    speed = np.where(np.isfinite(model.velocity) & (model.velocity > 0.0), model.velocity, 2.0)
    for number in range(10):
        count = (4, 6, 10, 30, 80)[number % 5]
        way = [clamp(model, 0.4 * random_configuration(model, rng) + 0.6 * middle_of(model)) for _ in range(count)]
        if number >= 5:
            turns = np.linspace(0.0, 2.0 * np.pi, count)[:, None] * rng.uniform(0.3, 1.5, model.nv)
            way = [clamp(model, integrate(model, middle_of(model), each)) for each in 0.4 * np.sin(turns)]
        found = retime(model, way, {"velocity": speed, "acceleration": 5.0})
        if found.path.corners.any():
            continue
        grid = np.union1d(np.linspace(0.0, found.path.knots[-1], 2001), found.path.knots)
        bounds = [np.stack((-each, each), axis=1) for each in (speed, np.full(model.nv, 5.0))]
        limits = [constraint.JointVelocityConstraint(bounds[0]), constraint.JointAccelerationConstraint(bounds[1])]
        solver = algorithm.TOPPRA(limits, SamePath(found.path), grid, parametrizer="ParametrizeConstAccel")
        theirs = solver.compute_trajectory(0.0, 0.0)
        if theirs is None:  # it finds no timing
            continue
        times = np.linspace(0.0, theirs.duration, 20_001)
        v, a = (abs(theirs(times, order)) for order in (1, 2))
        legal = theirs.duration * max(1.0, (v / speed).max(), np.sqrt((a / 5.0).max()))
        assert found.duration <= legal * (1.0 + 1e-4)
        assert_limits(found)


def test_there_and_back_through_a_few_points_is_as_fast_as_toppra() -> None:
    """A turn beside turns of more than 20 degrees is no corner."""
    model = with_rates(library_robot("planar_3r"), velocity=1.0, acceleration=4.0)
    way = waypoints(model, np.random.default_rng(17), 7)
    way = np.concatenate((way, way[-2::-1]))
    found = retime(model, way)
    assert found.duration <= by_toppra(model, way, 2000) * (1.0 + 1e-4)
    check_limits(found)


def test_paths_on_which_others_stumble() -> None:
    """A joint that stands for a while, a path that is nearly straight, a path there and back, samples by the thousand
    that nearly coincide."""
    model = library_robot("panda")
    home = model.limits.middle(model.neutral())
    there = home.copy()
    there[:2] += 0.5
    s = np.linspace(0.0, 1.0, 1500)[:, None]
    noise = 1e-9 * np.random.default_rng(2).normal(size=(1500, 7))
    for way in (
        np.array([home, there]),
        np.array([home, home, there, there, home]),
        home + (there - home) * (1.0 - np.cos(np.pi * s)) / 2.0,
        home + (there - home) * s + noise,
    ):
        check_limits(retime(model, way), 5001)


def test_paths_of_reports_to_toppra() -> None:
    """As of its issues 14 (nearly all of it by one joint), 17 (a motion of 1e-6 rad), 56 (384 points of a captured
    motion, which it leads over the limits)."""
    model, limits = library_robot("panda"), {"velocity": 3.0, "acceleration": 4.0}
    home = model.limits.middle(model.neutral())
    tiny = np.array([-9.1e-7, -4.0e-6, -1.5e-6, -3.9e-7, 2.9e-6, 5.4e-6, 0.0])
    line = home + np.linspace(0.0, 1.0, 10)[:, None] * np.array([1.0, 4e-5, 1.4e-5, 2.7e-5, -8e-6, 2.7e-5, 1.0])
    t = np.linspace(0.0, 6.0, 384)[:, None]
    captured = home + 0.2 * np.sin(t + np.arange(7)) + 1e-5 * np.random.default_rng(5).normal(size=(384, 7))
    for way in (home + np.array([tiny, 0.0 * tiny]), line, captured):
        found = retime(model, way, limits)
        check_limits(found)
        assert found.duration < 60.0
    straight = retime(model, home + np.array([tiny, 0.0 * tiny]), limits).duration
    assert straight == pytest.approx(2.0 * np.sqrt(abs(tiny).max() / 4.0), rel=1e-3)


def slider() -> RobotModel:
    joint = Joint("slide", "prismatic", "base", "cart", lower=-1, upper=1, velocity=1.0, acceleration=2.0, effort=30.0)
    return RobotModel("slider", [Link("base"), Link("cart", 2.0, inertia=np.eye(3))], [joint])


def test_the_trapezoid_is_found() -> None:
    """1 m at 1 m/s and 2 m/s²: 1.5 s. The same in 4 s is the same motion, slower."""
    model = slider()
    way = np.linspace(-0.5, 0.5, 20)[:, None]
    found = retime(model, way)
    assert found.duration == pytest.approx(1.5, rel=1e-4)
    assert [each.kind for each in found.bindings] == ["acceleration", "velocity", "acceleration"]
    slow = retime(model, way, duration=4.0)
    assert [(each.start, each.end, each.joint, each.kind) for each in slow.bindings] == [(0.0, 4.0, "", "duration")]
    assert retime(model, way, duration=found.duration).bindings == found.bindings
    share = found.duration / 4.0
    assert np.allclose(slow.sample(2.0)[1], share * found.sample(0.5 * found.duration)[1])
    with pytest.raises(ConfigurationError, match=r"takes at least 1\.5\d* s inside the limits, not 1 s"):
        retime(model, way, duration=1.0)


def test_it_rests_at_corners() -> None:
    model = RobotModel(
        "plotter",
        [Link("base"), Link("x"), Link("y")],
        [
            Joint("px", "prismatic", "base", "x", axis=[1, 0, 0], velocity=1.0, acceleration=2.0),
            Joint("py", "prismatic", "x", "y", axis=[0, 1, 0], velocity=1.0, acceleration=2.0),
        ],
    )
    side = np.linspace(0.0, 1.0, 21)
    way = np.concatenate((np.stack((side, 0 * side), 1), np.stack((0 * side + 1, side), 1)[1:]))
    found = retime(model, way)
    assert found.duration == pytest.approx(3.0, rel=1e-3)  # two trapezoids
    q, v, _ = found.sample(np.linspace(0.0, found.duration, 3001))
    at = abs(q - [1.0, 0.0]).max(axis=1).argmin()
    assert abs(v[at]).max() < 0.01
    assert abs(np.minimum(abs(q[:, 1]), abs(q[:, 0] - 1.0))).max() < 1e-9  # nothing is cut


def test_between_samples_at_a_position_limit_it_goes_where_its_velocities_lead() -> None:
    """What a spline would do beyond the limit is not cut off: the way itself bends."""
    model, rng = slider(), np.random.default_rng(4)
    for _ in range(40):
        way = np.clip(np.cumsum(rng.normal(size=12)), -1.0, 1.0)[:, None]
        found = retime(model, way)
        times = np.linspace(0.0, found.duration, 4001)
        q, v, _ = found.sample(times)
        assert abs(np.diff(q, axis=0) - 0.5 * times[1] * (v[1:] + v[:-1])).max() <= 2.0 * times[1] ** 2


def test_a_knot_that_bends_less_may_make_the_next_interval_leave_the_limits() -> None:
    model, rng = slider(), np.random.default_rng(0)
    share = np.linspace(0.0, 1.0, 201)
    for _ in range(150):
        way = np.clip(np.cumsum(rng.normal(scale=0.3, size=12)), -1.0, 1.0)[:, None]
        way = np.where(abs(way) == 1.0, way * rng.choice([1.0, 0.98], size=way.shape), way)
        knots = np.append(0.0, np.cumsum(np.exp(rng.normal(scale=1.5, size=11))))
        h = np.diff(knots)[:, None]
        q, first = Path.through(model, way, knots).at(np.arange(11)[:, None], knots[:-1, None] + h * share)[:2]
        steps, led = np.diff(q[..., 0], axis=1), 0.5 * (first[:, 1:, 0] + first[:, :-1, 0]) * h / 200.0
        assert abs(steps - led).max() < 1e-6


def test_as_animated_but_legal() -> None:
    """Where the animation is slow enough it stays, where it is too fast it is slowed down."""
    model = slider()
    times = np.linspace(0.0, 2.0, 201)
    way = 0.9 * np.sin(0.5 * np.pi * np.minimum(times, 1.0)) ** 2
    way[times > 1.0] = 0.9 - 0.02 * (times[times > 1.0] - 1.0)
    found = retime(model, Motion.of(model, times, way[:, None]), as_animated=True)
    check_limits(found)
    assert found.duration > 2.0 and {"animation", "velocity"} <= {each.kind for each in found.bindings}
    easy = Motion.of(model, 10.0 * times, way[:, None])
    assert retime(model, easy, as_animated=True).duration == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize(
    ("limits", "steps"),
    rest_slow([(limits, steps) for limits in (None, {"jerk": 1e4}) for steps in (12, 24, 96)], 3),
)
def test_from_rest_to_rest_a_legal_animation_stays_as_it_is(limits, steps) -> None:
    model, u = library_robot("panda"), np.linspace(0.0, 1.0, steps + 1)
    low, high = model.lower[: model.nq], model.upper[: model.nq]
    for share in (10 * u**3 - 15 * u**4 + 6 * u**5, 3 * u**2 - 2 * u**3):
        q = low + (high - low) * (0.4 + 0.2 * share[:, None])
        found = retime(model, Motion.of(model, 4.0 * u, q), limits, as_animated=True)
        assert found.duration == 4.0 and {each.kind for each in found.bindings} == {"animation"}
        off, largest = abs(found.sample(4.0 * u)[0] - q), abs(np.diff(q, axis=0)).max(axis=0)
        assert (off.max(axis=0) < 0.03 * largest).all()  # it was up to two steps ahead


@pytest.mark.parametrize(("name", "root"), [("solo12", "floating"), ("panda", "fixed"), ("ur10_robot", "fixed")])
def test_as_animated_no_limit_that_is_not_there_slows_it(name: str, root: str) -> None:
    """Neither robot has limits on accelerations, the floating base has none on speeds either."""
    model, rng = load_urdf(robot(name), root=root), np.random.default_rng(1)
    middle = clamp(model, model.limits.middle(model.neutral()))
    pace, start, t = rng.uniform(2.0, 9.0, model.nv), rng.uniform(0.0, 6.0, model.nv), np.arange(60) / 30.0
    size = np.minimum(0.8 * model.velocity, 4.0) / pace
    q = [clamp(model, integrate(model, middle, size * (np.sin(pace * each + start) - np.sin(start)))) for each in t]
    animated = Motion.of(model, t, np.array(q))
    assert (abs(animated.v) <= model.velocity).all()
    assert (abs(animated.a) > 1.2 * MotionLimits.of(model).acceleration).any()
    assert retime(model, animated, as_animated=True).duration == pytest.approx(t[-1], rel=1e-9)
    held = {"velocity": 0.5 * abs(animated.v).max()}
    assert retime(model, animated, held, as_animated=True).duration > 1.1 * t[-1]  # those that are there do


def test_efforts_are_limited_where_gravity_is_given() -> None:
    model, rng = library_robot("panda"), np.random.default_rng(5)
    way, gravity = waypoints(model, rng, 4), (0.0, 0.0, -9.81)
    free, held = retime(model, way), retime(model, way, gravity=gravity)
    check_limits(held)
    times = np.linspace(0.0, held.duration, 2001)
    q, v, a = held.sample(times)
    effort = motion_efforts(Motion(model, times, q, v, a), np.array(gravity))
    assert (abs(effort) <= model.effort * (1.0 + 1e-6)).all()
    assert held.duration >= free.duration * (1.0 - 1e-9)
    with pytest.raises(ConfigurationError, match="cannot keep its limit on effort"):
        up = RobotModel(
            "lift", [Link("base"), Link("load", 9.0)], [Joint("up", "prismatic", "base", "load", effort=5.0)]
        )
        retime(up, [[0.0], [1.0]], gravity=gravity)


@pytest.mark.parametrize("name", ["ur10_robot", "so100"])
def test_scarce_efforts_are_kept_between_the_places_of_the_grid_too(name: str) -> None:
    gravity, rng = (0.0, 0.0, -9.81), np.random.default_rng(6)
    model = load_urdf(robot(name))
    weight = np.max([abs(gravity_torque(model, random_configuration(model, rng))) for _ in range(200)], axis=0)
    efforts = iter((1.3 * weight + 0.02 * weight.max()).tolist())
    joints = [replace(joint, effort=next(efforts)) if joint.nv else joint for joint in model.joints[1:]]
    model = RobotModel(model.name, model.links, joints)
    walk = middle_of(model) + np.cumsum(0.02 * rng.normal(size=(60, model.nq)), axis=0)
    found = retime(model, walk, {"velocity": 1.5, "acceleration": 20.0}, gravity=gravity)
    times = np.sort(np.concatenate((found.times, rng.uniform(0.0, found.duration, 50_000))))
    share = abs(motion_efforts(Motion(model, times, *found.sample(times)), np.array(gravity))) / model.effort
    assert 1.0 - 1e-5 < share.max() <= 1.0 + 1e-6


@pytest.mark.filterwarnings("error")
def test_a_robot_without_limits_on_effort_is_as_fast_under_gravity() -> None:
    joint = Joint("turn", "revolute", "base", "bar", axis=[0, 1, 0], lower=-2, upper=2)
    model, path = RobotModel("bar", [Link("base"), Link("bar", 1.0)], [joint]), [[0.0], [1.0], [0.2]]
    limits = {"acceleration": 4.0, "velocity": 2.0}
    weighed = retime(model, path, limits, gravity=[0, 0, -9.81])
    assert weighed.duration == pytest.approx(retime(model, path, limits).duration)


def test_balls_and_floating_joints() -> None:
    joints = [Joint("neck", "spherical", "base", "head"), Joint("spin", "continuous", "head", "wheel")]
    model = RobotModel("bird", [Link("base"), Link("head"), Link("wheel")], joints, root="floating")
    rng, way = np.random.default_rng(6), [model.neutral()]
    for _ in range(4):
        way.append(integrate(model, way[-1], rng.uniform(-0.5, 0.5, model.nv)))
    found = retime(model, np.array(way))
    check_limits(found)
    assert check_motion(found.motion(500.0)).violations == ()


def test_the_kernel_is_its_twin() -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        rows = rng.normal(size=(30, 9, 3))
        rows[..., 2] = abs(rows[..., 2]) + 0.05
        rows[rng.random((30, 9)) < 0.1, 0] = 0.0
        most = np.full(31, 50.0)
        most[[0, -1]] = 0.0
        ours, twin = (solve(rows, most, np.full(30, 0.1)) for solve in (path_speed.native, path_speed.reference))
        assert ours[0] == twin[0] == -1
        assert np.allclose(ours[1], twin[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ([[0.0, 1.0]], {}, r"must have shape \(any, 1\)"),
        ("there", {}, "must be configurations or a Motion"),
        ([[0.0], [2.0]], {}, "sample 1 of the path: joint '.+' is at 2, outside its limits .+ .. .+"),
        ([[0.0], [1.0]], {"as_animated": True}, "only a Motion is animated"),
        ([[0.0], [1.0]], {"limits": {"jerk": -3.0}}, "jerk limits must be positive"),
        ([[0.0], [1.0]], {"limits": {"power": 3.0}}, "limits on power need gravity"),
        (
            [[0.0], [1.0]],
            {"limits": {"tools": {"cart": {"speed": 0.0}}}},
            "speed of the tool 'cart' must",
        ),
        ([[0.0], [1.0]], {"limits": {"tools": {"cart": 3}}}, "limits of the tool 'cart' must be a mapping"),
        ([[0.0], [1.0]], {"gravity": "down"}, "gravity must be 3 numbers"),
        ([[0.0], [1.0]], {"duration": "long"}, "duration must be a number of seconds"),
    ],
)
def test_bad_input(path: object, options: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        retime(slider(), path, **options)


def test_a_path_that_stays_takes_no_time() -> None:
    found = retime(slider(), [[0.5], [0.5]])
    assert found.duration == 0.0 and found.sample(0.0)[0] == 0.5
    assert retime(slider(), [[0.5]], duration=2.0).sample([0.0, 1.0, 2.0])[0].tolist() == [[0.5]] * 3


@pytest.mark.parametrize("rate", [24.0, 100.0, 1000.0])
def test_a_wheeled_base_that_rolls_rolls_between_samples(rate: float) -> None:
    model = library_robot("mobile_arm")
    base = model.rolling_bases[0]
    own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
    q = np.tile(model.limits.middle(model.neutral()), (40, 1))
    for row in range(1, 40):
        turned = 0.1 + 0.05 * np.sin(0.1 * row + np.arange(2))
        q[row, wheels] = q[row - 1, wheels] + turned
        q[row, own] = base.roll(q[row - 1, own], turned)
    found = retime(model, q).motion(rate)
    assert check_motion(found).slip.max() < 1e-9
    assert abs(found.q[-1] - q[-1]).max() < 1e-3
