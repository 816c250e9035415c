"""Random problems of poses: any robot, tasks of any kind and level, criteria; targets that some pose meets, that lie
too far, or that contradict each other. And what the result of each must be, told again from Pinocchio's frames."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from robokin_addon.robokin import Joint, RobotModel, integrate, load_urdf, random_configuration
from robokin_addon.robokin.arrays import Array
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.solvers import (
    AxisTask,
    FrameTask,
    IKProblem,
    JointTask,
    LoopClosureTask,
    PoseTask,
    SolveResult,
    Status,
    Task,
    solve_ik,
)
from robokin_addon.solvers.criteria import Criterion
from robokin_addon.solvers.ik.diagnosis import SINGULAR_VALUE, STATIONARY
from robokin_addon.solvers.ik.tip_ik import is_plain
from robokin_addon.solvers.ik.unmoved import out_of_all_poses
from robokin_addon.solvers.optimum.pose_problem import PoseProblem
from robokin_addon.solvers.tasks.protocols import resolve_target
from robokin_addon.solvers.velocity.task_levels import TaskLevels

from support.blender.every_task import every_task
from support.oracles.cone_oracle import excess
from support.oracles.task_oracle import TaskOracle
from support.random_problems.criterion_kinds import KINDS
from support.random_problems.random_arms import random_arm
from support.random_problems.random_tasks import random_task
from support.random_problems.random_trees import random_robot
from support.robots import robot

REAL = (
    "panda",
    "ur5_robot",
    "kinova",
    "talos_left_arm",
    "allegro_right_hand",
    "tiago_dual",
    "solo12",
    "anymal-kinova",
    "simple_humanoid",
    "talos_reduced",
    "icub_reduced",
    "xarm7",
    "baxter",
)
LEGGED = ("solo12", "anymal-kinova", "simple_humanoid", "talos_reduced", "icub_reduced")
AIMS = ("reachable", "reachable", "reachable", "several poses", "outside the limits", "far")
POTENTIALS = ("joint_springs", "rest_posture", "manipulability", "smallest_singular_value")
ROUNDING = 1e-7  # of residuals: relative, and in metres and radians over the size of what they are the difference of


@dataclass
class Problem:
    """aim: how the targets were chosen.   start: q0 of the solve.   reference: (nq,) a pose that meets all tasks;
    None: none is known."""

    seed: int
    model: RobotModel
    tasks: list[Task]
    criteria: list[Criterion]
    start: Array
    aim: str
    reference: Array | None = None
    oracle: TaskOracle = field(init=False)

    def __post_init__(self) -> None:
        self.oracle = TaskOracle(self.model, self.model.limits.clamp(self.start))

    def solve(self, **options: object) -> SolveResult:
        return solve_ik(self.model, self.tasks, self.start, self.seed, criteria=self.criteria, **options)  # type: ignore[arg-type]

    @property
    def kind(self) -> str:
        plain = "plain" if is_plain(self.tasks) and not self.criteria else "hierarchy"
        levels = len({task.priority for task in self.tasks if task.influence})
        return f"{plain} {len(self.tasks)} tasks {levels} levels{' criteria' if self.criteria else ''}"


# -- robots ------------------------------------------------------------------------------------------------------------


@cache
def _real(name: str, root: str) -> RobotModel:
    return load_urdf(robot(name), root=root)


def _robot(seed: int, rng: np.random.Generator, kind: str) -> RobotModel:
    if kind == "real":
        name = str(rng.choice(REAL))
        return _real(name, "floating" if name in LEGGED else str(rng.choice(["fixed", "fixed", "planar", "wheeled"])))
    if kind == "arm":
        return random_arm(seed)
    root = str(rng.choice(["fixed", "fixed", "floating", "planar", "wheeled"]))
    model = random_robot(seed, int(rng.integers(2, 15)), root)
    return with_hostile_limits(model, rng) if rng.random() < 0.5 else model


def with_hostile_limits(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """The same robot with joints locked, nearly so, without limits, with one, or with ranges far from 0."""
    joints = [_hostile(joint, rng) if rng.random() < 0.4 else joint for joint in model.joints[1:]]
    return RobotModel(model.name, model.links, joints, model.root, model.drive)


def _hostile(joint: Joint, rng: np.random.Generator) -> Joint:
    kind = JOINT_TYPES[joint.type]
    if not kind.bounded or joint.mimic is not None:
        return joint
    if kind.has_cone:
        swing, twist = rng.choice([0.0, 1e-6, 0.3, np.inf], 2), float(rng.choice([0.0, 1e-6, 0.5, np.pi]))
        return replace(joint, lower=[-swing[0], -swing[1], -twist], upper=[swing[0], swing[1], twist])
    n = kind.nv
    match rng.integers(5):
        case 0:  # locked
            value = rng.uniform(-1.0, 1.0, n)
            return replace(joint, lower=value, upper=value)
        case 1:  # nearly
            value = rng.uniform(-1.0, 1.0, n)
            return replace(joint, lower=value, upper=value + 10.0 ** rng.uniform(-12.0, -2.0))
        case 2:
            return replace(joint, lower=-np.inf, upper=np.inf)
        case 3:
            return replace(joint, lower=rng.uniform(-1.0, 0.5, n), upper=np.inf)
    lower = rng.uniform(-9.0, 9.0, n)
    return replace(joint, lower=lower, upper=lower + rng.uniform(0.1, 3.0, n))


# -- tasks -------------------------------------------------------------------------------------------------------------


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    model = _robot(seed, rng, str(rng.choice(["tree", "tree", "arm", "real"])))
    aim = str(rng.choice(AIMS))
    start, poses = random_configuration(model, rng), [random_configuration(model, rng) for _ in range(3)]
    if aim == "outside the limits":
        poses[:] = [integrate(model, poses[0], rng.normal(size=model.nv) * (rng.random(model.nv) < 0.3))]
    elif aim != "several poses":
        poses[1:] = []
    plain = rng.random() < 0.6
    count = int(rng.integers(1, 3 if plain else 6))
    tasks = [_task(rng, model, start, poses[int(rng.integers(len(poses)))], plain) for _ in range(count)]
    for i, task in enumerate(tasks):
        task.name = f"{task.name} {i}"
    if aim == "far" and (known := [task for task in tasks if isinstance(task, FrameTask)]):
        chosen = known[int(rng.integers(len(known)))]
        target = chosen.target.copy()
        target[:3, 3] *= 10.0 ** rng.uniform(0.0, 3.0)
        chosen.target = target
    if not plain:
        _vary(rng, tasks)
    criteria = []
    if not plain and rng.random() < 0.02:
        chosen_kinds = rng.choice(POTENTIALS, int(rng.integers(1, 3)), replace=False)
        criteria = [KINDS[str(kind)](weight=10.0 ** rng.uniform(-1.0, 1.0)) for kind in chosen_kinds]
    problem = Problem(seed, model, tasks, criteria, start, aim)
    inside = model.limits.contain(poses[0]).all()
    if (
        inside
        and any(task.influence for task in tasks)
        and all(problem.oracle.is_met(task, poses[0], -1e-3) for task in tasks)
    ):
        problem.reference = poses[0]
    return problem


def _task(rng: np.random.Generator, model: RobotModel, start: Array, there: Array, plain: bool) -> Task:
    if plain or rng.random() < 0.5:
        return random_task(rng, model, there)
    if rng.random() < 0.1 and model.moving_joints:
        joint = str(rng.choice([joint.name for joint in model.moving_joints]))
        at = model.slot(joint).q
        return JointTask(joint, there[at] if at.stop - at.start > 1 else float(there[at][0]))
    tasks = every_task(rng, model, start, there)
    return tasks[str(rng.choice(list(tasks)))]


def _vary(rng: np.random.Generator, tasks: list[Task]) -> None:
    """Other levels, influences, tolerances and bands."""
    levels = int(rng.integers(1, 5))
    for task in tasks:
        if isinstance(task, LoopClosureTask):
            continue
        task.priority = int(rng.integers(1, levels + 1))
        if rng.random() < 0.1:
            task.influence = 0.0
            for name in ("weights", "position_weights", "orientation_weights"):
                if isinstance(vars(task).get(name), np.ndarray):
                    setattr(task, name, np.zeros_like(getattr(task, name)))
        if isinstance(task, FrameTask):
            task.position_tolerance = 10.0 ** rng.uniform(-6.0, -2.0)
            task.orientation_tolerance = 10.0 ** rng.uniform(-6.0, -2.0)
            if rng.random() < 0.2:
                task.position_band = rng.uniform(0.0, 0.05, 3)
            if rng.random() < 0.2 and not isinstance(task, AxisTask):
                task.orientation_band = rng.uniform(0.0, 0.2, 3)


# -- results -----------------------------------------------------------------------------------------------------------


def faults(problem: Problem, result: SolveResult) -> list[str]:
    """What is not as the result says. Empty: all of it is true."""
    found = _at_pose(problem, result)
    if found:
        return found
    claim = {
        Status.OUT_OF_REACH: _out_of_reach,
        Status.LIMIT: _limit,
        Status.TASK_CONFLICT: _conflict,
        Status.SINGULAR: _singular,
    }.get(result.status)
    return [] if claim is None else [f"{result.status}: {fault}" for fault in claim(problem, result)]


def _at_pose(problem: Problem, result: SolveResult) -> list[str]:
    """Finite, inside the limits, residuals as Pinocchio's, CONVERGED exactly when all are within their tolerances."""
    model, q = problem.model, result.q
    found = []
    if not (np.isfinite(q).all() and np.isfinite(result.residual_array).all()):
        return ["not finite"]
    if not all(np.isfinite(list(result.costs.values()))):
        found.append("costs are not finite")
    found += _beyond_limits(model, q)
    near = True
    for i, task in enumerate(problem.tasks):
        truth = problem.oracle.residuals(task, q)
        size = 1.0 + abs(result.residual_array[i]).max()
        for value, own, part in zip(truth, result.residual_array[i], task.parts, strict=False):
            if not abs(value - own) <= ROUNDING * size and own < 3.1:
                found.append(f"{task.name}: {part.name} is {value:.9g}, not {own:.9g}")
        near &= problem.oracle.is_met(task, q, 1e-6)
    clear = all(problem.oracle.is_met(task, q, -1e-6) for task in problem.tasks)
    if result.converged and not near:
        found.append("converged but not met")
    if clear and not result.converged and result.status is not Status.EMPTY and "optimum" not in result.reason:
        found.append(f"met but {result.status}")
    return found


def _beyond_limits(model: RobotModel, q: Array) -> list[str]:
    found = [] if ((q >= model.lower) & (q <= model.upper)).all() else ["outside the bounds"]
    for joint in model.moving_joints:
        if joint.kind.has_cone and np.isfinite(joint.upper).any():
            away = excess(joint, q[model.slot(joint.name).q])
            if away > 1e-9:
                found.append(f"{joint.name} is outside its cone by {away:.3g}")
    return found


def _out_of_reach(problem: Problem, result: SolveResult) -> list[str]:
    """No pose of many comes as near as the certificate says that none can."""
    rng = np.random.default_rng(problem.seed)
    ik = IKProblem(problem.model, problem.tasks)
    gaps = ik.search.excess([task.target for task in problem.tasks])
    found = []
    for i, task in enumerate(problem.tasks):
        if task.name not in result.tasks:
            continue
        poses = [result.q, *(random_configuration(problem.model, rng) for _ in range(20))]
        if not gaps[i] > 0.0 and not isinstance(task, FrameTask):
            found.append(f"{task.name} has no certificate")
        if not gaps[i] > 0.0 and isinstance(task, FrameTask):  # what no joint moves is lacking in all of them
            least = np.min([problem.oracle.residuals(task, q)[:2] for q in poses], axis=0)
            missing = np.array(out_of_all_poses(problem.model, task, task.target))
            tolerance = np.array([part.tolerance for part in task.parts])
            if not ((missing > tolerance).any() and (missing <= least + ROUNDING * (1.0 + least)).all()):
                found.append(f"{task.name} lacks {least}, not always {missing}")
        if any(problem.oracle.is_met(task, q) for q in poses):
            found.append(f"{task.name} is met")
    return found or ([] if result.tasks else ["names no task"])


def _limit(problem: Problem, result: SolveResult) -> list[str]:
    """Some pose that leaves the named bounds only meets all tasks, by Pinocchio's frames: looked for at once, and by
    keeping one more bound after the other of those that a pose without limits leaves."""
    model = problem.model
    freed = {i for name in result.joints for i in range(model.slot(name).q.start, model.slot(name).q.stop)}
    if not freed:
        return ["names no joint"]
    tasks, targets = problem.tasks, _started(problem)

    def met(without: set[int], q0: Array) -> Array | None:
        limits = model.limits.without(sorted(without))
        q = IKProblem(model, tasks, attempts=60, limits=limits).solve(targets, q0, problem.seed, diagnose=False).q
        return q if all(problem.oracle.is_met(task, q, 1e-6) for task in tasks) else None

    for q0 in (result.q, problem.start):
        if met(freed, q0) is not None:
            return []
        q, beyond = met(set(range(model.nq)), q0), set(range(model.nq))
        while q is not None:
            beyond &= set(np.flatnonzero(model.limits.beyond(q)).tolist())
            if beyond <= freed:
                return []
            fewer = ((left, met(beyond - {left}, q)) for left in sorted(beyond - freed))
            left, q = next(((left, there) for left, there in fewer if there is not None), (None, None))
            beyond -= {left}
    return [f"not met without the limits of {', '.join(result.joints)}"]


def _conflict(problem: Problem, result: SolveResult) -> list[str]:
    """Each named task alone converges, by Pinocchio's frames; of a single one its position, and its orientation."""
    found = [] if result.tasks else ["names no task"]
    if len(result.tasks) == 1:
        own = next(task for task in problem.tasks if task.name == result.tasks[0])
        same = own.link, own.target
        weights = {"position": (own.position_weights, 0.0), "orientation": (0.0, own.orientation_weights)}
        for name, weights_of in weights.items():
            bands = {"position_band": own.position_band, "orientation_band": own.orientation_band}
            part = PoseTask(*same, *weights_of, own.frame, own.offset, **bands)
            q = IKProblem(problem.model, [part], attempts=60).solve(None, result.q, problem.seed, diagnose=False).q
            if not problem.oracle.is_met(part, q, 1e-6):
                found.append(f"{name} of {own.name} alone is not met")
        return found
    for i, task in enumerate(problem.tasks):
        if task.name not in result.tasks:
            continue
        target = _started(problem)[i]
        ends = (
            IKProblem(problem.model, [task], attempts=60).solve([target], q0, problem.seed, diagnose=False).q
            for q0 in (result.q, problem.start)
        )
        if not any(problem.oracle.is_met(task, q, 1e-6) for q in ends):
            found.append(f"{task.name} alone is not met")
    return found


def _started(problem: Problem) -> list:
    """Targets with what is counted from the start fixed there."""
    levels = TaskLevels(problem.model, problem.tasks)
    start = problem.model.limits.clamp(problem.start)
    state = levels.state(start, levels.targets, 1.0)
    return [resolve_target(task, state, task.target) for task in levels.tasks]


STEP = 1e-6


def _singular(problem: Problem, result: SolveResult) -> list[str]:
    """J'e about 0, e not, and J of less rank than around the pose (or 0 everywhere), of the first level that is not
    met, in what the levels above it leave; J by differences of Pinocchio's frames."""
    model, rng = problem.model, np.random.default_rng(problem.seed)
    posing = PoseProblem(TaskLevels(model, problem.tasks), _started(problem), model.limits)
    levels = [[task] for task in problem.tasks if task.priority == 0]  # each closed loop is a level of its own
    priorities = sorted({task.priority for task in problem.tasks} - {0})
    levels += [[task for task in problem.tasks if task.priority == priority] for priority in priorities]
    unmet = [i for i, tasks in enumerate(levels) if not all(problem.oracle.is_met(task, result.q) for task in tasks)]
    if not unmet:
        return ["every level is met"]

    def linearised(q: Array) -> tuple[Array, Array, Array]:
        """e and J of the level, and the motions that those above leave."""
        Z = np.eye(model.nv)
        for tasks in levels[: unmet[0]]:
            _, s, Vt = np.linalg.svd(_differences(problem, tasks, q, posing)[1] @ Z)
            Z = Z @ Vt[int((s > 1e-6).sum()) :].T
        return *_differences(problem, levels[unmet[0]], q, posing), Z

    e, J, Z = linearised(result.q)
    rows = (e != 0.0) | J.any(axis=1)
    around = [
        linearised(posing.integrated(result.q, rng.normal(size=model.nv) * size)) for size in np.geomspace(0.02, 0.5, 8)
    ]
    # Beside its target a task above holds more than at it: what it leaves is that of there, or of here.
    around = [(other[rows], left) for _, other, there in around if len(other) == len(J) for left in (there, Z)]
    if not any(_rank(other @ Z, SINGULAR_VALUE) for other, Z in around):
        Z, around = np.eye(model.nv), [(other, np.eye(model.nv)) for other, _ in around]
    J = J @ Z
    usual = max((_rank(other @ Z, SINGULAR_VALUE) for other, Z in around), default=0)
    found = []
    if np.linalg.norm(J.T @ e) > 10.0 * STATIONARY * np.linalg.norm(e):
        found.append(f"J'e is {np.linalg.norm(J.T @ e):.3g}, |e| {np.linalg.norm(e):.3g}")
    if _rank(J, 10.0 * SINGULAR_VALUE) >= max(usual, 1):
        found.append(f"it has {_rank(J, 10.0 * SINGULAR_VALUE)} singular values, as around it")
    return found


def _differences(problem: Problem, tasks: list[Task], q: Array, posing: PoseProblem) -> tuple[Array, Array]:
    """e and J of tasks, dimensionless and weighted."""
    length = posing.levels.length

    def stacked(q: Array) -> Array:
        rows = []
        for task in tasks:
            errors, weights = problem.oracle.errors(task, q), problem.oracle.weights(task)
            for part, own, weight in zip(task.parts, errors, weights, strict=True):
                rows.append(weight * own / (length if part.is_length else 1.0))
        return np.concatenate(rows)

    e = stacked(q)
    sides = [
        [e - stacked(integrate(problem.model, q, side * STEP * d * posing.scale)) for side in (1.0, -1.0)]
        for d in np.eye(problem.model.nv)
    ]
    # A beam may be about to leave its surface: the side on which it does not.
    return e, np.array([min(ahead, -back, key=np.linalg.norm) for ahead, back in sides]).T / STEP


def _rank(J: Array, least: float) -> int:
    return int((np.linalg.svd(J, compute_uv=False) > least).sum())
