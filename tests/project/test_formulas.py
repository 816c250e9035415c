"""docs/formulas.md: its lines of NumPy are run, and compared with the tasks and criteria of the program."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from robokin_addon import solvers
from robokin_addon.robokin import (
    RobotModel,
    center_of_mass,
    center_of_mass_jacobian,
    forward_kinematics,
    frame_jacobian,
    gravity_torque,
    integrate,
    inverse_dynamics,
    load_urdf,
    mass_matrix,
    random_configuration,
)
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.robokin.model.geometry import Geometry
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AlongCurveTask,
    AxisTask,
    CenterOfMassTask,
    ClearanceTask,
    Curve,
    DistanceTask,
    ExtendedJacobian,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SingularValueTask,
    SupportTask,
    Task,
    TwistTask,
    criteria,
)
from robokin_addon.solvers.criteria import (
    KINDS,
    Criterion,
    DynamicTorque,
    FarFromObstacles,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
    MinimumVelocity,
    RestPosture,
    SmallestSingularValue,
    Smooth,
    State,
)
from support.random_problems.random_trees import random_placement, random_robot
from support.robots import robot

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formulas.md"
LENGTH, DT, STEP = 0.7, 0.05, 1e-6
Pair = tuple[object, object]


def _formulas() -> dict[str, Callable[..., Pair]]:
    """The functions of the page, by name."""
    names: dict = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


F = _formulas()


class Robot:
    """A random robot whose tip, other frame and centre of mass have what the formulas take."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.model = random_robot(seed, 10, ("fixed", "floating", "planar")[seed % 3])
        self.q, away = (random_configuration(self.model, self.rng) for _ in range(2))
        self.link, self.other = self.model.link_names[-1], self.model.link_names[2]
        self.offset, self.other_offset = random_placement(self.rng, 0.2), random_placement(self.rng, 0.2)
        self.T, self.Jv, self.Jw = self.at(self.link, self.offset)
        self.T_d = forward_kinematics(self.model, away)[self.link] @ self.offset
        self.c, self.J_c = center_of_mass(self.model, self.q), center_of_mass_jacobian(self.model, self.q)

    def at(self, link: str, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pose (4, 4) and the two halves of the Jacobian of a frame on a link, from the public functions."""
        T = forward_kinematics(self.model, self.q)[link]
        J = frame_jacobian(self.model, self.q, link)
        p = T[:3, :3] @ offset[:3, 3]
        return T @ offset, J[:3] - F["hat"](p) @ J[3:], J[3:]

    def unit(self) -> np.ndarray:
        a = self.rng.normal(size=3)
        return a / np.linalg.norm(a)

    def state(self, *tasks: Task) -> State:
        v = np.random.default_rng(9).normal(size=self.model.nv)
        return State(self.model, self.q, tasks, LENGTH, "numpy", v, DT)

    def assert_rows(self, task: Task, expected: Pair) -> None:
        """The rows of the task are e and J of the formula."""
        rows = task.rows(self.state(task), task.target)
        e, J = (np.atleast_1d(expected[0]), np.atleast_2d(expected[1]))
        one = np.where(np.isfinite(rows.lower), rows.lower, rows.upper)
        side = np.where(np.isfinite(rows.upper), rows.upper, rows.lower)
        np.testing.assert_allclose(0.5 * (one + side), e, atol=1e-9 * max(1.0, abs(e).max()), err_msg=repr(task))
        np.testing.assert_allclose(rows.J, J, atol=1e-9 * max(1.0, abs(J).max()), err_msg=repr(task))
        assert abs(J).max() > 1e-3


def _pose(r: Robot) -> None:
    e, J = F["pose"](r.T, r.Jv, r.Jw, r.T_d)
    place, turn = r.T_d[:3, 3], r.T_d[:3, :3]
    r.assert_rows(PoseTask(r.link, r.T_d, offset=r.offset), (e, J))
    r.assert_rows(PinTask(r.link, r.T_d, offset=r.offset), (e, J))
    r.assert_rows(PositionTask(r.link, place, offset=r.offset), (e[:3], J[:3]))
    r.assert_rows(OrientationTask(r.link, turn, offset=r.offset), (e[3:], J[3:]))
    halves = [F["in_tip_axes"](r.T, r.Jw, e[half], J[half]) for half in (slice(0, 3), slice(3, 6))]
    in_tip = np.concatenate([h[0] for h in halves]), np.vstack([h[1] for h in halves])
    r.assert_rows(PoseTask(r.link, r.T_d, frame="tip", offset=r.offset), in_tip)


def _axis(r: Robot) -> None:
    a, d = r.unit(), r.unit()
    expected = F["axis"](r.T, r.Jw, a, d)
    r.assert_rows(AxisTask(r.link, a, d, offset=r.offset), expected)
    r.assert_rows(AxisTask(r.link, a, d, offset=r.offset, band=0.01), F["within"](*expected))


def _aim(r: Robot) -> None:
    a, c = r.unit(), r.rng.normal(size=3)
    expected = F["aim"](r.T, r.Jv, r.Jw, a, c)
    r.assert_rows(AimTask(r.link, a, c, offset=r.offset), expected)
    r.assert_rows(AimTask(r.link, a, c, offset=r.offset, band=0.01), F["within"](*expected))


def _singular_value(r: Robot) -> None:
    """The derivative of the Jacobian by central differences of the page's own."""
    r.model = load_urdf(robot("panda"))
    r.link, r.q = "panda_hand", random_configuration(r.model, r.rng)
    S = np.where(r.model.is_length, LENGTH, 1.0)

    def J_s(q: np.ndarray) -> np.ndarray:
        r.q = q
        _, Jv, Jw = r.at(r.link, r.offset)
        return np.vstack((Jv / LENGTH, Jw)) * S

    q, steps = r.q, STEP * np.eye(r.model.nv)
    dJ_s = np.stack([(J_s(q + step) - J_s(q - step)) / (2.0 * STEP) for step in steps], axis=2)
    lower, slopes = F["singular_value"](J_s(q), dJ_s, 0.3)
    rows = SingularValueTask(r.link, 0.3, offset=r.offset).rows(r.state(), 0.3)
    assert np.isposinf(rows.upper).all()
    np.testing.assert_allclose(rows.lower, lower, atol=1e-12)
    np.testing.assert_allclose(rows.J, slopes, atol=1e-7)


def _advance(r: Robot) -> None:
    vector = r.rng.normal(size=3)
    for frame in ("tip", "world"):
        task = AdvanceTask(r.link, vector, frame=frame, offset=r.offset)
        # Counted from where another configuration has the tip.
        task.target = type(task.target)(task.target.vector, r.T_d)
        r.assert_rows(task, F["advance"](r.T, r.Jv, r.T_d, vector, frame))


def _relative(r: Robot) -> None:
    T_o, Jv_o, Jw_o = r.at(r.other, r.other_offset)
    Jv_o = Jv_o - F["hat"](r.T[:3, 3] - T_o[:3, 3]) @ Jw_o  # of the point that is at the tip
    T_d = random_placement(r.rng)
    expected = F["relative_pose"](r.T, r.Jv, r.Jw, T_o, Jv_o, Jw_o, T_d)
    r.assert_rows(RelativePoseTask(r.link, r.other, T_d, offset=r.offset, other_offset=r.other_offset), expected)
    closed = F["relative_pose"](r.T, r.Jv, r.Jw, T_o, Jv_o, Jw_o, np.eye(4))
    r.assert_rows(LoopClosureTask(r.link, r.other, r.offset, r.other_offset), closed)


def _point(r: Robot) -> None:
    p, point, c, n = r.T[:3, 3], r.offset[:3, 3], r.rng.normal(size=3), r.unit()
    for side in ("on", "above", "below"):
        r.assert_rows(OnPlaneTask(r.link, (c, n), side, point), F["plane"](p, r.Jv, c, n))
    on_line = OnLineTask(r.link, (c, n), point)
    basis = on_line.rows(r.state(), on_line.target)
    # Which basis across the line is taken is free: compare what does not depend on it.
    u = np.linalg.svd(n[None])[2][1:]
    e, J = F["line"](p, r.Jv, c, u)
    np.testing.assert_allclose(np.linalg.norm(basis.e), np.linalg.norm(e), atol=1e-9)
    np.testing.assert_allclose(basis.J.T @ basis.J, J.T @ J, atol=1e-9)
    r.assert_rows(OnLineTask(r.link, (c, n), point, band=0.01), F["within"](e, J))
    ends = np.array([p + c - 9.0 * n, p + c + 9.0 * n])
    nearest = ends[0] + n * (n @ (p - ends[0]))
    r.assert_rows(OnCurveTask(r.link, ends, point=point), F["curve"](p, r.Jv, nearest, n))


def _distance(r: Robot) -> None:
    p, point, c = r.T[:3, 3], r.offset[:3, 3], r.rng.normal(size=3)
    T_o, J_o, _ = r.at(r.other, r.other_offset)
    r.assert_rows(DistanceTask(r.link, 0.4, other_point=c, point=point), F["distance"](p, r.Jv, c, 0.0 * r.Jv, 0.4))
    of_links = F["distance"](p, r.Jv, T_o[:3, 3], J_o, 0.4)
    for relation in ("equal", "inside", "outside"):
        r.assert_rows(DistanceTask(r.link, 0.4, r.other, r.other_offset[:3, 3], relation, point), of_links)
    none = DistanceTask(r.link, 0.0, r.other, r.other_offset[:3, 3], point=point)
    r.assert_rows(none, (T_o[:3, 3] - p, r.Jv - J_o))


def _laser(r: Robot) -> None:
    a, c = r.unit(), r.rng.normal(size=3)
    beam = r.T[:3, :3] @ a
    n = beam + 0.3 * r.unit()
    n /= np.linalg.norm(n)
    behind = r.T[:3, 3] + 0.5 * beam  # on a plane that the beam meets
    e, J = F["laser"](r.T, r.Jv, r.Jw, a, c, behind, n)
    rest = np.zeros(3), np.zeros_like(J)  # of the angle of a beam that meets its surface
    both = np.concatenate((e, rest[0])), np.vstack((J, rest[1]))
    r.assert_rows(LaserTask(r.link, a, c, Plane(behind, n), offset=r.offset), both)


def _mass(r: Robot) -> None:
    target = r.rng.normal(size=3)
    r.assert_rows(CenterOfMassTask(target), F["center_of_mass"](r.c, r.J_c, target))
    task = SupportTask([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]], margin=0.1)
    rows = task.rows(r.state(), task.target)
    expected = [
        F["support"](r.c, r.J_c, np.array(n), np.array(n), 0.1) for n in ([1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0])
    ]
    for J, upper in zip(rows.J, rows.upper, strict=True):
        assert min(abs(upper - e) + abs(J - own).max() for e, own in expected) < 1e-9
    assert len(rows.J) == 4 and np.isneginf(rows.lower).all()


def _clearance(r: Robot) -> None:
    ball = (Geometry(Sphere(0.05)),)
    links = [dataclasses.replace(link, collisions=ball if link.name == r.link else ()) for link in r.model.links]
    joints = [joint for joint in r.model.joints if joint.parent is not None]
    r.model = RobotModel(r.model.name, links, joints, r.model.root)
    T, J_a, _ = r.at(r.link, np.eye(4))
    away, post = np.array([0.3, 0.1, 0.0]), np.eye(4)
    post[:3, 3] = T[:3, 3] + away
    distance = np.linalg.norm(away)
    collisions = CollisionModel(r.model, [Obstacle("post", Sphere(0.1), post)])
    rows = ClearanceTask(collisions, 0.2).rows(r.state(), None)
    lower, J = F["clearance"](J_a, np.zeros_like(J_a), away / distance, distance - 0.15, 0.2)
    assert rows.lower[0] == pytest.approx(lower + 2e-5) and abs(rows.J[0] - J).max() < 1e-9
    assert np.isposinf(rows.upper).all()
    value, gradient = F["far_from_obstacles"](np.array([distance - 0.15]), J[None], 0.4)
    criterion = FarFromObstacles(collisions, 0.4)
    assert criterion.potential(r.state()) == pytest.approx(value) and value > 0.0
    np.testing.assert_allclose(criterion.gradient(r.state()), gradient, atol=1e-9)


def _posture(r: Robot) -> None:
    model = load_urdf(robot("panda"))
    r.model, r.q = model, random_configuration(model, r.rng)
    wanted = random_configuration(model, r.rng)
    r.assert_rows(PostureTask(wanted), (wanted - r.q, np.eye(model.nv)))
    r.assert_rows(JointTask("panda_joint3", 0.4), (0.4 - r.q[2], np.eye(model.nv)[2]))
    r.model = random_robot(3, 6, "fixed", ("spherical",))
    joint = r.model.moving_joints[0]
    r.q, wanted = (random_configuration(r.model, r.rng) for _ in range(2))
    R, R_d = (_turn(q[r.model.slot(joint.name).q]) for q in (r.q, wanted))
    e, J = F["ball"](R, R_d)
    own = r.model.slot(joint.name).v
    rows = np.zeros((3, r.model.nv))
    rows[:, own] = J
    r.assert_rows(PostureTask({joint.name: wanted[r.model.slot(joint.name).q]}), (e, rows))


def _turn(q: np.ndarray) -> np.ndarray:
    """R (3, 3) of a unit quaternion, w first."""
    (w, *_), u = q, F["hat"](q[1:])
    return np.eye(3) + 2.0 * w * u + 2.0 * u @ u


def _velocities(r: Robot) -> None:
    target, nv = r.rng.normal(size=6), r.model.nv
    for frame in ("world", "tip", "space"):
        task = TwistTask(r.link, target, frame=frame, offset=r.offset)
        r.assert_rows(task, F["twist"](r.T, r.Jv, r.Jw, target, DT, frame))
    p, n = r.T[:3, 3], r.unit()
    line = Curve([p - 2.0 * n, p + 2.0 * n])
    r.assert_rows(AlongCurveTask(r.link, line, 0.3, point=r.offset[:3, 3]), (p + 0.3 * DT * n - p, r.Jv))
    free = next(j for j in r.model.moving_joints if j.nv == 1 and j.mimic is None)
    at = r.model.slot(free.name).v.start
    r.assert_rows(JointVelocityTask({free.name: 0.3}), (0.3 * DT, np.eye(nv)[at]))
    A = r.rng.normal(size=(2, nv))
    r.assert_rows(LinearVelocityTask(A, [0.1, 0.2]), (np.array([0.1, 0.2]) * DT, A))


TASKS: dict[str, tuple[type[Task], ...]] = {
    "pose": (PoseTask, PositionTask, OrientationTask, PinTask),
    "axis": (AxisTask,),
    "aim": (AimTask,),
    "singular_value": (SingularValueTask,),
    "advance": (AdvanceTask,),
    "relative": (RelativePoseTask, LoopClosureTask),
    "point": (OnPlaneTask, OnLineTask, OnCurveTask),
    "distance": (DistanceTask,),
    "laser": (LaserTask,),
    "mass": (CenterOfMassTask, SupportTask),
    "clearance": (ClearanceTask,),
    "posture": (PostureTask, JointTask),
    "velocities": (TwistTask, AlongCurveTask, JointVelocityTask, LinearVelocityTask),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", TASKS)
def test_the_rows_of_tasks_are_those_of_the_page(name: str, seed: int) -> None:
    globals()[f"_{name}"](Robot(seed))


def test_every_kind_of_task_and_criterion_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    bases = {"FrameTask", "Task", "HistoryTask", "StartRelativeTask", "VelocityTask"}
    kinds = {name for name in solvers.__all__ if name.endswith("Task")} - bases
    assert kinds == {kind.__name__ for kinds in TASKS.values() for kind in kinds}
    exported = {name for name in criteria.__all__ if isinstance(getattr(criteria, name), type)}
    criterion_kinds = {name for name in exported if issubclass(getattr(criteria, name), Criterion)}
    criterion_kinds -= {"Criterion", "Potential", "Velocity"}
    assert criterion_kinds == {kind.__name__ for kind in KINDS.values()} | {"FarFromObstacles"}
    for name in kinds | {"ExtendedJacobian"} | criterion_kinds:
        assert re.search(rf"^### .*\b{name}\b|^\| `{name}`", text, flags=re.MULTILINE), name
    assert {type(criterion) for criterion, _ in _criteria(Robot(0))} == set(KINDS.values())


def _criteria(r: Robot) -> list[tuple[Criterion, Pair]]:
    """Each criterion, and value and gradient that the page has for it, of a Panda that moves."""
    model = r.model = load_urdf(robot("panda"))
    q, v = random_configuration(model, r.rng), r.rng.normal(size=model.nv)
    r.q, r.v = q, v
    state = r.state()
    v_0, S = state.previous, np.where(model.is_length, LENGTH, 1.0)
    rest = random_configuration(model, r.rng)
    M, f = mass_matrix(model, q), gravity_torque(model, q)
    h = inverse_dynamics(model, q, v_0, np.zeros(model.nv))
    stiffness = np.array([joint.stiffness for joint in model.moving_joints if joint.mimic is None])
    half, middle = 0.5 * (model.upper - model.lower), 0.5 * (model.upper + model.lower)

    def change(function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        steps = np.eye(model.nv) * STEP
        sides = [(function(integrate(model, q, s)), function(integrate(model, q, -s))) for s in steps]
        return np.stack([(ahead - back) / (2.0 * STEP) for ahead, back in sides], axis=-1)

    def rows(at: np.ndarray) -> np.ndarray:
        return np.repeat((1.0 / LENGTH, 1.0), 3)[:, None] * frame_jacobian(model, at, "panda_hand") * S

    ball = (Geometry(Sphere(0.05)),)
    links = [dataclasses.replace(x, collisions=ball if x.name == "panda_hand" else ()) for x in model.links]
    joints = [joint for joint in model.joints if joint.parent is not None]
    places = [np.array([0.4, 0.1 * i, 0.9]) for i in range(2)]
    found = [
        Obstacle(f"post {i}", Sphere(0.1), np.eye(4) + np.pad(p[:, None], ((0, 1), (3, 0))))
        for i, p in enumerate(places)
    ]
    posts = CollisionModel(RobotModel("panda", links, joints, model.root), found)

    def away(at: np.ndarray) -> np.ndarray:
        centre = forward_kinematics(model, at)["panda_hand"][:3, 3]
        return np.array([np.linalg.norm(p - centre) - 0.15 for p in places])

    d = away(q)
    # Derivatives along coordinates; the rows are along those over S.
    J, dJ = rows(q), change(rows)
    return [
        (MinimumVelocity(), F["minimum_velocity"](v, S)),
        (KineticEnergy(), F["kinetic_energy"](v, M, mass_matrix(model, model.neutral()), S)),
        (Smooth(0.2), F["smooth"](v, v_0, S, 0.2, DT)),
        (DynamicTorque(), F["dynamic_torque"](v, v_0, M, h, model.effort, DT)),
        (JointSprings(), F["joint_springs"](q, stiffness, middle, half)),
        (RestPosture(rest), F["rest_posture"](q, rest, S)),
        (Manipulability(), F["manipulability"](J, dJ)),
        (SmallestSingularValue(), F["smallest_singular_value"](J, dJ)),
        (FarFromObstacles(posts, 1.5), F["far_from_obstacles"](d, change(away), 1.5)),
        (GravityTorque(), F["gravity_torque"](f, change(lambda at: gravity_torque(model, at)), model.effort)),
    ]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("at", range(10))
def test_values_and_gradients_of_criteria_are_those_of_the_page(at: int, seed: int) -> None:
    r = Robot(seed)
    criterion, (value, gradient) = _criteria(r)[at]
    state = r.state(PoseTask("panda_hand", np.eye(4)))
    assert criterion.value(state, r.v) == pytest.approx(value, rel=1e-9)
    size = abs(np.asarray(gradient)).max()
    assert size > 1e-6
    np.testing.assert_allclose(criterion.slope(state, r.v), gradient, atol=2e-6 * size)


def test_what_the_extended_jacobian_holds_is_that_of_the_page() -> None:
    r = Robot(0)
    model = r.model = load_urdf(robot("panda"), root="fixed")
    r.q = random_configuration(model, r.rng)
    S, way = np.where(model.is_length, LENGTH, 1.0), 1e-3 * r.rng.normal(size=model.nv)
    task = ExtendedJacobian([JointSprings(weight=2.0, gain=3.0)])

    def s(q: np.ndarray, basis: np.ndarray | None) -> np.ndarray:
        rows = np.repeat((1.0 / LENGTH, 1.0), 3)[:, None] * frame_jacobian(model, q, "panda_hand") * S
        basis = np.linalg.svd(rows)[2][6:].T if basis is None else basis
        half, middle = 0.5 * (model.upper - model.lower), 0.5 * (model.upper + model.lower)
        stiffness = np.array([joint.stiffness for joint in model.moving_joints])
        _, gradient = F["joint_springs"](q, stiffness, middle, half)
        return F["held"](rows, 6.0 * gradient, S, basis)

    pose = PoseTask("panda_hand", np.eye(4))
    start = r.state(pose)
    target = task.starting_target(start)
    np.testing.assert_allclose(s(r.q, target.reference), target.s, atol=1e-12)
    there = integrate(model, r.q, way)
    rows = task.rows(start.at(there), target)
    np.testing.assert_allclose(rows.e, target.s - s(there, target.reference), atol=1e-9)
    J = np.stack([s(integrate(model, there, STEP * unit), target.reference) for unit in np.eye(model.nv)], axis=-1)
    np.testing.assert_allclose(rows.J, (J - s(there, target.reference)[:, None]) / STEP, atol=1e-4 * abs(J).max())
    assert abs(rows.e).max() > 1e-5
