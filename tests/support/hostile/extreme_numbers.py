"""Random calls of the solvers at the edges: robots that cannot move, no tasks, tasks on fixed links, and numbers that
are huge or denormal in targets, weights, tolerances, steps and configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from robokin_addon.robokin import Joint, Link, Mimic, RobokinError, RobotModel
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AlongCurveTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    IKProblem,
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
    SupportTask,
    Task,
    TwistTask,
    VelocityConstraint,
    solve_ik,
    track,
    velocity_step,
)

from support.random_problems.criterion_kinds import KINDS
from support.random_problems.random_trees import random_placement, random_robot

EXTREMES = (5e-324, 1e-150, 1e-30, 1e-29, 1e-20, 1e-12, 1e-8, 1e4, 1e8, 1e9, 1e15, 1e20, 1e29, 1e30, 1e150, 1.7e308)


class Extremes:
    """Numbers of a seeded generator: most of ordinary size, some at the edges of double precision."""

    def __init__(self, seed: int, share: float = 0.08) -> None:
        self.rng, self.share = np.random.default_rng(seed), share

    def number(self) -> float:
        if self.rng.random() > self.share:
            return float(self.rng.uniform(0.01, 1.0))
        return float(self.rng.choice((0.0, *EXTREMES)))

    def signed(self) -> float:
        return float(self.rng.choice((-1.0, 1.0))) * self.number()

    def vector(self, size: int = 3) -> Array:
        return np.array([self.signed() for _ in range(size)])

    def direction(self) -> Array:
        return self.vector() if self.rng.random() < self.share else self.rng.normal(size=3)

    def weights(self, size: int = 3) -> Array:
        return abs(self.vector(size))

    def pose(self) -> Array:
        T = np.eye(4)
        T[:3, :3] = quaternion.to_matrix(quaternion.normalize(self.rng.normal(size=4)))
        T[:3, 3] = self.vector()
        return T

    def one_of(self, *items: object) -> object:
        return items[self.rng.integers(len(items))]


def robots(seed: int) -> RobotModel:
    """One that cannot move every other time."""
    rng = np.random.default_rng(seed)
    fixed = [Joint(f"j{i}", "fixed", f"l{i}", f"l{i + 1}", placement=random_placement(rng)) for i in range(2)]
    links = [Link(f"l{i}", float(i), np.zeros(3), np.eye(3)) for i in range(3)]
    kind = seed % 8
    if kind == 0:
        return RobotModel("one link", links[:1], [])
    if kind == 2:
        return RobotModel("fixed links", links, fixed)
    if kind == 4:
        return RobotModel("one body", links, fixed, "floating")
    if kind == 6:
        turn = Joint("turn", "continuous", "l1", "l2", placement=random_placement(rng))
        return RobotModel("a fixed link and a wheel", links, [fixed[0], turn])
    if kind == 7:
        return library_robot("mobile_arm")
    if kind == 5:
        return extreme_robot(seed)
    return random_robot(seed, int(rng.integers(1, 6)), str(rng.choice(["fixed", "floating", "planar"])))


def extreme_robot(seed: int) -> RobotModel:
    """A chain of hinges, slides and screws, with limits at the edges."""
    x = Extremes(seed, 0.2)
    links, joints = [Link("l0")], []
    for i in range(3):
        sides = sorted((x.signed(), x.signed()))
        limits = {name: x.number() or 1.0 for name in ("velocity", "acceleration", "effort")}
        mimic = Mimic("j0", -0.7, 0.1) if i == 2 and x.rng.random() < 0.5 else None
        kind = str(x.one_of("revolute", "prismatic", "screw"))
        T = random_placement(x.rng)
        joints.append(
            Joint(
                f"j{i}", kind, f"l{i}", f"l{i + 1}", T, x.rng.normal(size=3), *sides, **limits, pitch=0.1, mimic=mimic
            )
        )
        links.append(Link(f"l{i + 1}", 1.0, x.rng.normal(size=3), np.eye(3)))
    return RobotModel("extreme", links, joints)


def poses(x: Extremes, model: RobotModel) -> Iterator[Callable[[], Task]]:
    """Makers of tasks that ask for a pose."""
    link, other = (str(x.rng.choice(model.link_names)) for _ in range(2))
    own = {"priority": int(x.rng.integers(1, 4)), "influence": float(x.one_of(1.0, 1.0, 0.5, 5e-324, 0.0))}
    one, two = {"tolerance": x.number()}, {"position_tolerance": x.number(), "orientation_tolerance": x.number()}
    a, p, T, offset = x.direction(), x.vector(), x.pose(), x.pose()
    w, r = x.weights(), x.weights()
    frame = str(x.one_of("world", "tip"))
    yield lambda: PoseTask(link, T, w, r, frame, offset, **two, **own)
    yield lambda: PositionTask(link, p, w, frame, offset, **one, **own)
    yield lambda: OrientationTask(link, T[:3, :3], r, frame, offset, **one, **own)
    yield lambda: AxisTask(link, a, p, w, frame, offset, **one, **own)
    yield lambda: AimTask(link, a, p, x.number(), offset, **one, **own)
    yield lambda: AdvanceTask(link, p, w, offset=offset, **one, **own)
    yield lambda: OnPlaneTask(link, (p, a), str(x.one_of("on", "above", "below")), **one, **own)
    yield lambda: OnLineTask(link, (p, a), **one, **own)
    yield lambda: OnCurveTask(link, [x.vector() for _ in range(3)], **one, **own)
    yield lambda: DistanceTask(link, x.number(), x.one_of(other, None), p, "equal", **one, **own)
    yield lambda: LaserTask(link, a, p, Plane(x.vector(), x.direction()), **own)
    yield lambda: RelativePoseTask(link, other, T, w, r, offset, **two, **own)
    yield lambda: CenterOfMassTask(p, w, **one, **own)
    yield lambda: SupportTask([x.vector(2) for _ in range(4)], x.number(), **one, **own)
    yield lambda: PostureTask(x.vector(model.nq), **own)
    yield lambda: PinTask(link, None, w, r, offset, **two, **own)
    yield lambda: LoopClosureTask(link, other, offset, None, w, r, **two)


def velocities(x: Extremes, model: RobotModel) -> Iterator[Callable[[], Task]]:
    """Makers of tasks that ask for a velocity."""
    link = str(x.rng.choice(model.link_names))
    moving = [joint for joint in model.moving_joints if joint.nv == 1]
    yield lambda: TwistTask(link, x.vector(6), frame=str(x.one_of("world", "tip", "space")))
    yield lambda: AlongCurveTask(link, [x.vector() for _ in range(3)], x.signed())
    yield lambda: LinearVelocityTask(x.vector(model.nv)[None], x.vector(1))
    if moving:
        yield lambda: JointVelocityTask({x.one_of(*moving).name: x.signed()})


def call(seed: int, backend: str, share: float = 0.08) -> tuple[str, Callable[[], dict[str, object]]]:
    """What is called, and the call: it returns the numbers and words of a result, by name, or raises RobokinError."""
    x, model = Extremes(seed, share), robots(seed)
    what = str(x.one_of("solve", "solve", "batch", "levels", "track", "track", "step", "step", "step"))
    makers = list(poses(x, model))
    if what == "step" or (what == "track" and x.rng.random() < 0.3):
        makers += [*velocities(x, model)] * 3
    chosen = [makers[i] for i in x.rng.integers(len(makers), size=x.rng.integers(0, 4))]
    criteria = [x.one_of(*KINDS.values())] if x.rng.random() < 0.25 else []
    q0 = x.one_of(None, model.neutral(), model.neutral() + 0.1 * x.vector(model.nq))
    dt, damping, previous = x.number(), x.one_of(0.0, x.number()), x.one_of(None, x.vector(model.nv))

    def run() -> dict[str, object]:
        tasks = [make() for make in chosen]
        preferred = [each() for each in criteria]
        if what == "step":
            q = model.limits.clamp(model.neutral() if q0 is None else model.check_configuration(q0))
            constraints = [VelocityConstraint(x.vector(model.nv)[None], -x.number(), x.number())] * int(
                x.rng.integers(2)
            )
            step = velocity_step(
                model, q, tasks, preferred, dt, previous, constraints, damping=damping, backend=backend
            )
            return {"q": q, "v": step.v, "residuals": step.residuals, "errors": step.errors, "costs": step.costs}
        if what == "track":
            start = model.neutral() if q0 is None else q0
            found = track(model, tasks, [[t.target for t in tasks]] * 3, start, dt, backend=backend, criteria=preferred)
            words = [found.diagnosis(2).reason]
            return {"q": found.q, "v": found.motion.v, "residuals": found.residuals, "words": words}
        if what == "batch":
            problem = IKProblem(model, tasks, (), backend, 2)
            batch = problem.solve_batch([[t.target for t in tasks]] * 2, q0)
            return {"q": batch.q, "residuals": batch.residuals}
        if what == "levels":
            result = IKProblem(model, tasks, preferred, backend, 2).solve(q0=q0)
        else:
            result = solve_ik(model, tasks, q0, backend=backend, attempts=2, criteria=preferred)
        return {"q": result.q, "residuals": result.residual_array, "words": [result.reason], "costs": result.costs}

    names = ", ".join(str(each.__code__.co_names[0]) for each in chosen)
    return f"{seed}: {what} of {model.name} with [{names}]", run


def faults(seed: int, backend: str, share: float = 0.08) -> str:
    """What is wrong with the outcome of a call; empty when it is a result or one line of a RobokinError."""
    try:
        model, (what, run) = robots(seed), call(seed, backend, share)
    except RobokinError as error:
        return "" if "\n" not in str(error) else f"{seed}: {error}"
    try:
        with np.errstate(all="ignore"):
            found = run()
    except RobokinError as error:
        text = str(error)
        return f"{what}: {text}" if not text or "\n" in text or len(text) > 600 else ""
    except Exception as error:
        return f"{what} raises {error!r}"
    for name in ("q", "v", "residuals", "errors"):
        if name in found and not np.isfinite(np.asarray(found[name])).all():
            return f"{what}: {name} is {np.asarray(found[name]).tolist()}"
    if not model.limits.contain(np.asarray(found["q"]), 1e-9).all():
        return f"{what}: q is outside the limits: {np.asarray(found['q']).tolist()}"
    if not all(np.isfinite(list(found.get("costs", {}).values()))):
        return f"{what}: costs are {found['costs']}"
    words = [text for text in found.get("words", []) if "nan" in text or " inf" in text]
    return f"{what} says {words}" if words else ""
