"""Every criterion's gradient against central differences, on random robots of every joint type and on real ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    Joint,
    Link,
    ModelError,
    RobotModel,
    TaskError,
    UnknownNameError,
    forward_kinematics,
    frame_jacobian,
    gravity_torque,
    integrate,
    load_urdf,
    mass_matrix,
    random_configuration,
)
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers import (
    CenterOfMassTask,
    LoopClosureTask,
    OnCurveTask,
    OrientationTask,
    Plane,
    PoseTask,
    PositionTask,
    solve_ik,
    velocity_step,
)
from robokin_addon.solvers.criteria import (
    DynamicTorque,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    Potential,
    RestPosture,
    SmallestSingularValue,
    Smooth,
    State,
)
from robokin_addon.solvers.criteria.manipulability import task_jacobian, task_rows
from robokin_addon.solvers.tasks.places.on_curve import gap
from support.blender.every_task import every_task, sphere
from support.few import rest_slow
from support.random_problems.random_tasks import every_motion, random_task
from support.random_problems.random_trees import ALL_TYPES, random_robot
from support.robots import robot

STEP = 1e-6
POTENTIALS = {
    "springs": lambda model, rng: JointSprings(),
    "posture": lambda model, rng: RestPosture(random_configuration(model, rng)),
    "manipulability": lambda model, rng: Manipulability(),
    "smallest": lambda model, rng: SmallestSingularValue(),
    "gravity": lambda model, rng: GravityTorque(rng.normal(size=3) * 9.81),
}


@pytest.fixture(autouse=True)
def _types() -> Iterator[None]:
    with every_motion():
        yield


def _robot(seed: int, rng: np.random.Generator) -> tuple[RobotModel, State]:
    model = random_robot(seed, 12, ("fixed", "floating", "planar")[seed % 3], ALL_TYPES)
    tasks = [random_task(rng, model, random_configuration(model, rng)) for _ in range(2)]
    return model, State(model, random_configuration(model, rng), tasks, 0.7, "numpy")


def _moved(state: State, v: np.ndarray) -> State:
    return State(state.model, integrate(state.model, state.q, v, backend="numpy"), state.tasks, state.length, "numpy")


def _differences(function, state: State) -> np.ndarray:
    """Derivative of function(state) along each degree of freedom, on the last axis."""
    columns = [
        (function(_moved(state, STEP * unit)) - function(_moved(state, -STEP * unit))) / (2 * STEP)
        for unit in np.eye(state.model.nv)
    ]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("kind", POTENTIALS)
@pytest.mark.parametrize("seed", rest_slow(range(9), 5))
def test_gradient_is_the_derivative_of_the_potential(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model, state = _robot(seed, rng)
    criterion: Potential = POTENTIALS[kind](model, rng)
    criterion.check(state)
    gradient, expected = criterion.gradient(state), _differences(criterion.potential, state)
    assert kind == "smallest" or abs(expected).max() > 1e-3
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "ur5_robot"])
@pytest.mark.parametrize("kind", POTENTIALS)
def test_gradient_on_real_robots(name: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    model = load_urdf(robot(name), root="floating" if "talos" in name else "fixed")
    q = random_configuration(model, rng)
    tips = [link for link in model.link_names if "gripper" in link or "tool" in link or "hand" in link][:1]
    state = State(model, q, [PoseTask(tips[0], np.eye(4))], 1.0, "numpy")
    criterion = POTENTIALS[kind](model, rng)
    gradient, expected = criterion.gradient(state), _differences(criterion.potential, state)
    assert abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient, expected, atol=5e-6 * max(1.0, abs(expected).max()))


@pytest.mark.parametrize("seed", range(6))
def test_task_rows_and_their_derivative(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    _, state = _robot(seed, rng)
    _, change = task_jacobian(state)
    np.testing.assert_allclose(change, _differences(lambda s: task_jacobian(s)[0], state), atol=1e-7)
    assert abs(change).max() > 1e-2
    model, scale = state.model, np.repeat((1.0 / state.length, 1.0), 3)
    pose = State(model, state.q, [PoseTask(model.link_names[-1], np.eye(4))], state.length, "numpy")
    expected = scale[:, None] * frame_jacobian(model, state.q, model.link_names[-1]) * state.scale
    np.testing.assert_allclose(task_jacobian(pose)[0], expected, atol=1e-12)


@pytest.mark.parametrize("seed", rest_slow([0, 2, 1], 2))
def test_what_tasks_see_and_its_derivative(seed: int) -> None:
    """Of all kinds of tasks; where a task is met, as fast as its own rows say."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 12, ("fixed", "floating", "planar")[seed % 3], ALL_TYPES)
    q, away = random_configuration(model, rng), random_configuration(model, rng)
    tasks = every_task(rng, model, q, away)
    tasks["centre of mass"] = CenterOfMassTask([0, 0, 0], (1.0, 0.0, 2.0))
    known = set()
    for name, task in tasks.items():
        state = State(model, q, [task], 0.7, "numpy")
        if task.task_jacobian(state, task.target) is None:
            continue
        known.add(name)
        change, expected = task_jacobian(state)[1], _differences(task_rows, state)
        np.testing.assert_allclose(change, expected, atol=1e-8 * max(1.0, abs(expected).max(initial=0.0)))
        if not isinstance(task, LoopClosureTask):  # which the pose `away` does not meet
            there = State(model, away, [task], 0.7, "numpy")
            speeds = [np.linalg.svd(rows, compute_uv=False) for rows in (task_rows(there), there.task_rows)]
            # Of an aim the turn about its axis, of a beam the way off its surface, of a curve the way along it.
            extra = speeds[1][len(speeds[0]) :]
            on_line = name == "curve" and gap(task.target, task.tip(there)[:3, 3])[1] is not None
            np.testing.assert_allclose(speeds[0], speeds[1][: len(speeds[0])], atol=1e-9)
            assert len(extra) == (name == "aim" or name.startswith("laser") or on_line) and (extra < 1e-9).all()
    assert known >= {
        "pin",
        "aim",
        "laser on a plane",
        "laser on a mesh",
        "plane",
        "line",
        "curve",
        "distance",
        "no distance",
        "advance",
        "relative pose",
        "centre of mass",
        "posture",
        "support",
    }


@pytest.mark.parametrize("seed", range(3))
def test_what_the_spot_of_a_beam_sees_across_a_curve(seed: int) -> None:
    """One way, at a corner of the curve both; of a beam that misses its mesh the two turns of an aim. Where the spot is
    there, it moves as fast as the task's own rows say."""
    rng = np.random.default_rng(seed)
    model = random_robot(seed, 9, ("fixed", "floating", "planar")[seed % 3])
    q, link = random_configuration(model, rng), str(model.link_names[-1])
    T, axis = forward_kinematics(model, q)[link], np.array([0.6, 0.0, 0.8])
    beam, side = T[:3, :3] @ axis, rng.normal(size=3)
    spot = T[:3, 3] + beam
    wall, ball, beside = Plane(spot, beam + 0.3 * side), sphere(spot, 0.7), sphere(T[:3, 3] - 9.0 * beam, 0.7)
    through = np.array([-1.0, 2.0])[:, None] * np.cross(beam, side) + spot
    corner = spot + 0.1 * beam + np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.5, 0.0]]) @ np.diag(np.sign(side))
    for curve, surface, count in (
        (spot + rng.normal(size=(4, 3)), wall, 0),
        (spot + rng.normal(size=(4, 3)), ball, 0),
        (spot + rng.normal(size=(4, 3)), beside, 2),
        (through, Plane(spot, beam), 1),
        (corner, Plane(spot, beam), 0),
        (np.array([spot - beam, spot + 2.0 * beam]), Plane(spot, beam), 2),
    ):
        task = OnCurveTask(link, curve, direction=axis, surface=surface)
        state = State(model, q, [task], 0.7, "numpy")
        change, expected = task_jacobian(state)[1], _differences(task_rows, state)
        np.testing.assert_allclose(change, expected, atol=1e-7 * max(1.0, abs(expected).max()))
        assert len(change) == count or (not count and len(change) in (1, 2))
        if curve is through:
            speeds = [np.linalg.svd(rows, compute_uv=False) for rows in (task_rows(state), state.task_rows)]
            np.testing.assert_allclose(speeds[1], [*speeds[0], 0.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_gravity_potential_is_that_of_the_gravity_torque(seed: int) -> None:
    model, state = _robot(seed, np.random.default_rng(seed))
    weight = model.total_mass * 9.81 * state.length / state.scale
    expected = 0.5 * ((gravity_torque(model, state.q) / weight) ** 2).sum()
    assert GravityTorque().potential(state) == pytest.approx(expected, rel=1e-10)


def test_gravity_torque_is_weighted_by_effort() -> None:
    model = load_urdf(robot("panda"))
    q = random_configuration(model, np.random.default_rng(0))
    expected = 0.5 * ((gravity_torque(model, q) / model.effort) ** 2).sum()
    assert np.isfinite(model.effort).all()
    assert GravityTorque().potential(State(model, q)) == pytest.approx(expected, rel=1e-10)


def test_velocity_criteria_are_what_they_say() -> None:
    model = load_urdf(robot("panda"))
    rng = np.random.default_rng(1)
    q, v = random_configuration(model, rng), rng.normal(size=model.nv)
    state = State(model, q, length=0.9)
    M = mass_matrix(model, q)
    assert KineticEnergy().value(state, v) * state.typical_inertia == pytest.approx(0.5 * v @ M @ v, rel=1e-12)
    assert MinimumVelocity().value(state, v) == pytest.approx(0.5 * ((v / state.scale) ** 2).sum(), rel=1e-12)
    assert state.scale.tolist() == [1.0] * 7 + [0.9]


def test_a_potential_alone_moves_at_its_gain() -> None:
    """And its weight matters against others only."""
    model = load_urdf(robot("panda"))
    q = random_configuration(model, np.random.default_rng(2))
    middle = 0.5 * (model.lower + model.upper)
    for weight in (1e-3, 1.0, 50.0):
        step = velocity_step(model, q, [], [JointSprings(weight=weight, gain=0.3)], 1e-2)
        np.testing.assert_allclose(step.v, -0.3 * (q - middle), rtol=1e-9, atol=1e-12)
    both = velocity_step(model, q, [], [RestPosture(middle, weight=2.0, gain=0.3), MinimumVelocity(1.0)], 1e-2)
    np.testing.assert_allclose(both.v, -0.3 * (q - middle) * 2.0 / 3.0, rtol=1e-9, atol=1e-12)


def test_springs_take_names_and_leave_out_what_has_no_range() -> None:
    model = load_urdf(robot("panda"))
    q = random_configuration(model, np.random.default_rng(3))
    state = State(model, q)
    springs = JointSprings({"panda_joint1": 3.0, "panda_joint2": 0.0}, {"panda_joint1": 0.5})
    half = 0.5 * (model.upper[0] - model.lower[0])
    gradient = springs.gradient(state)
    assert gradient[0] == pytest.approx(3.0 * (q[0] - 0.5) / half**2)
    assert gradient[1] == 0.0
    free = random_robot(0, 3, "floating", ["continuous"], mimics=0.0)
    assert not JointSprings().gradient(State(free, random_configuration(free, np.random.default_rng(0)))).any()


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_massless_links_leave_no_motion_undecided(backend: str) -> None:
    """What the kinetic energy does not see stays where it is, but for a task that needs it."""
    links = [Link("base"), Link("arm", 1.0, [0.3, 0.0, 0.0], 0.01 * np.eye(3)), Link("light")]
    joints = [Joint("a", "revolute", "base", "arm"), Joint("b", "revolute", "arm", "light")]
    model = RobotModel("light hand", links, joints)
    values = np.linalg.eigvalsh(State(model, model.neutral()).mass_matrix)
    assert values[0] < 1e-14 * values[-1]
    turned = [OrientationTask("arm", so3.exp(np.array([0.0, 0.0, 1e-3])))]
    for criteria in ([KineticEnergy()], [KineticEnergy(3.0), KineticEnergy()]):
        step = velocity_step(model, [0.2, 0.1], turned, criteria, 0.1, backend=backend)
        assert step.v[1] == pytest.approx(0.0, abs=1e-12) and step.v[0] != 0.0


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: JointSprings(weight=-1.0), TaskError, "weight"),
        (lambda: JointSprings(gain=-1.0), TaskError, "gain"),
        (lambda: JointSprings(weight=1e300), TaskError, "weight must be from 1e-30 to 1e[+]30, not 1e[+]300"),
        (lambda: Manipulability(gain=1e-300), TaskError, "gain must be from 1e-30"),
        (lambda: JointSprings({"panda_joint1": 1e300}), TaskError, "panda_joint1.* must be at most 1e[+]30"),
        (lambda: JointSprings(equilibrium={"panda_joint1": 1e300}), TaskError, "panda_joint1"),
        (lambda: RestPosture([1e300] * 8), ConfigurationError, "q of .* must be at most 1e[+]30, not 1e[+]300"),
        (lambda: Smooth(1e300), TaskError, "time"),
        (lambda: DynamicTorque(1e300), TaskError, "damping"),
        (lambda: GravityTorque([0.0, 0.0, -1e300]), ConfigurationError, "gravity must be at most 1e[+]30"),
        (lambda: JointSprings({"nope": 1.0}), UnknownNameError, "nope"),
        (lambda: JointSprings({"panda_joint1": -1.0}), TaskError, "panda_joint1"),
        (lambda: JointSprings(equilibrium={"panda_joint1": [1.0, 2.0]}), ConfigurationError, "panda_joint1"),
        (lambda: JointSprings(5), TaskError, "stiffness must be {joint name: number}, not 5"),
        (lambda: RestPosture({"nope": 1.0}), UnknownNameError, "nope"),
        (lambda: RestPosture([0.0]), ConfigurationError, "shape"),
        (lambda: GravityTorque([1.0, 2.0]), ConfigurationError, "gravity"),
        (lambda: "springs", TaskError, "not a criterion"),
    ],
)
def test_bad_criteria_are_refused(make, error: type, says: str) -> None:
    model = load_urdf(robot("panda"))
    with pytest.raises(error, match=says):
        velocity_step(model, model.neutral(), [PositionTask("panda_hand", [0.3, 0.0, 0.5])], [make()])


@pytest.mark.parametrize("backend", ["native", "numpy"])
@pytest.mark.parametrize("make", [GravityTorque, DynamicTorque])
@pytest.mark.parametrize(
    ("mass", "effort", "says"),
    [
        (1.0, 1e-300, "joint 'b' counts its torque in 1e-300 N m, .* mind its effort limit"),
        (1e-300, 5.0, "joint 'a' counts its torque in .*e-299 N m, .* the mass"),
        (1e300, 5.0, "joint 'a' counts its torque in .*e[+]301 N m, .* the mass"),
        (1.0, 1e300, None),
    ],
)
def test_torques_that_cannot_be_squared(make: type, mass: float, effort: float, says: str | None, backend: str) -> None:
    links = [Link("base"), Link("arm", mass, [0.3, 0.0, 0.0]), Link("hand", mass, [0.2, 0.0, 0.0])]
    joints = [
        Joint("a", "revolute", "base", "arm", axis=[0, 1, 0], lower=-2, upper=2),
        Joint("b", "revolute", "arm", "hand", axis=[0, 1, 0], lower=-2, upper=2, effort=effort),
    ]
    model = RobotModel("extreme", links, joints)
    tasks = [PositionTask("hand", [0.0, 0.0, 0.0], (1, 0, 0))]
    if says is None:
        step = velocity_step(model, [0.3, 0.2], tasks, [make()], backend=backend)
        assert np.isfinite([*step.v, *step.costs.values()]).all()
        return
    with pytest.raises(ModelError, match=says):
        velocity_step(model, [0.3, 0.2], tasks, [make()], backend=backend)
    with pytest.raises(ModelError, match=says):
        solve_ik(model, tasks, [0.3, 0.2], criteria=[make()], backend=backend)


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_criteria_of_one_name_have_a_cost_each(backend: str) -> None:
    model = load_urdf(robot("panda"))
    q, task = model.limits.middle(model.neutral()), PositionTask("panda_hand", [0.3, 0.0, 0.5])
    criteria = [JointSprings(equilibrium={"panda_joint2": rest}) for rest in (0.5, -0.5)] + [JointSprings(name="own")]
    wanted = ["JointSprings", "JointSprings 2", "own"]
    step = velocity_step(model, q, [task], criteria, backend=backend)
    assert list(step.costs) == list(solve_ik(model, [task], q, criteria=criteria).costs) == wanted
    state = State(model, q)
    assert list(step.costs.values()) == pytest.approx([each.value(state, step.v) for each in criteria])


@pytest.mark.parametrize("backend", ["native", "numpy"])
def test_a_rest_posture_by_joint_names(backend: str) -> None:
    model = load_urdf(robot("panda"))
    named, task = {"panda_joint2": 0.4, "panda_joint4": -1.5}, PositionTask("panda_hand", [0.3, 0.0, 0.5])
    criteria = RestPosture(named), RestPosture(model.configuration(named))
    steps = [velocity_step(model, model.limits.middle(model.neutral()), [task], [c], backend=backend) for c in criteria]
    np.testing.assert_array_equal(steps[0].v, steps[1].v)
    assert steps[0].costs == steps[1].costs


def test_criteria_that_need_masses_say_so() -> None:
    model = RobotModel("light", [Link("base"), Link("tip")], [Joint("hinge", "revolute", "base", "tip")])
    for criterion in (KineticEnergy(), GravityTorque()):
        with pytest.raises(ModelError, match="no link has a mass"):
            velocity_step(model, [0.0], [], [criterion])


VELOCITIES = (MinimumVelocity, KineticEnergy, Smooth, DynamicTorque)


@pytest.mark.parametrize("kind", VELOCITIES)
@pytest.mark.parametrize("seed", range(3))
def test_slope_is_the_derivative_with_the_velocity(kind: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, state = _robot(seed, rng)
    state.previous, v = rng.normal(size=(2, state.model.nv))
    criterion = kind()
    wanted = [(criterion.value(state, v + e) - criterion.value(state, v - e)) / 2.0 for e in np.eye(len(v))]
    np.testing.assert_allclose(criterion.slope(state, v), wanted, rtol=1e-9, atol=1e-9 * max(np.abs(wanted)))


def test_slope_of_a_potential_is_its_gradient() -> None:
    _, state = _robot(4, np.random.default_rng(4))
    springs = JointSprings()
    np.testing.assert_array_equal(springs.slope(state, np.ones(state.model.nv)), springs.gradient(state))
