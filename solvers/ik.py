"""Inverse kinematics of any tree under any number of tasks on tips: the problem that the kernel solves."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from ..robokin.arrays import shown
from ..robokin.backend import get_backend, reference
from ..robokin.errors import ConfigurationError, TaskError
from ..robokin.joint_types import Motion
from ..robokin.limits import PositionLimits
from ..robokin.model import RobotModel, solvable_model
from . import results
from .diagnosis import around, describe, explain
from .fixed_arrays import compiled
from .ik_data import IKData, compile_ik
from .ik_engine import CONVERGED, Engine
from .ik_reference import ReferenceEngine
from .ik_steps import linearise, out_of_reach
from .results import BatchResult, SolveResult, Status
from .task_levels import checked_tasks
from .tasks import FrameTask, Task
from .tasks.frame import is_plain_task

Array = np.ndarray

ATTEMPTS, MOST_ATTEMPTS = 50, 400
ITERATIONS = 30
_FLOAT = np.dtype(np.float64)  # the very object of most arrays: `is` is fast, and the others take the longer way
_CODES = (Status.CONVERGED, Status.OUT_OF_REACH, Status.MAX_ITERATIONS)


class IKProblem:
    """Tasks of a model, compiled once and solved for as many targets as wanted. Not to be shared between threads.

    backend: "auto", "native" or "numpy".   attempts: starts to try, the given one included; None: 50, and up to 400
    where screws of several turns have a minimum at each of them.   iterations: of one attempt, at most.
    limits: in place of the model's on positions.
    is_empty: no task has an influence.
    A problem is of its tasks as they were when it was made, and of the targets that they have now (`fixed_arrays.py`).
    Raises TaskError, UnknownNameError, BackendError.
    """

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        backend: str = "auto",
        attempts: int | None = None,
        iterations: int = ITERATIONS,
        limits: PositionLimits | None = None,
    ) -> None:
        self.model = solvable_model(model)
        self.tasks = _of_one_level(checked_tasks(tasks))
        compiled(self.tasks)
        self.limits = model.limits if limits is None else limits
        self.lower, self.upper = self.limits.lower, self.limits.upper
        self.data = compile_ik(model, self.tasks, self.limits)
        self.is_empty = not any(task.influence for task in self.tasks)
        self.attempts = _enough(self.data) if attempts is None else checked_count(attempts, "attempts")
        self.iterations = checked_count(iterations, "iterations")
        self.middle = self.limits.middle(model.neutral())
        self.shape, self._plain = (len(self.tasks), 4, 4), not model.tree.quaternions
        self._engine: Engine = _engine_type(backend)(self.data, self.tasks, self.attempts, self.iterations)

    @property
    def backend(self) -> str:
        """What computes: "native" or "numpy"."""
        return self._engine.name

    @property
    def targets(self) -> Array:
        """(tasks, 4, 4), those that the tasks have now."""
        return np.array([task.target for task in self.tasks]).reshape(self.shape)

    def solve(
        self, targets: object = None, q0: Array | None = None, seed: int = 0, diagnose: bool = True
    ) -> SolveResult:
        """Solve from `q0` (mid-range when None; moved inside the limits when outside), then from restarts.

        targets: one per task, each in its task's own terms or (4, 4); the tasks' own when None.
        seed: of the restarts; the same seed gives the same bits on the same backend.
        diagnose: after a failure, tell LIMIT, TASK_CONFLICT and SINGULAR from MAX_ITERATIONS, by some more solves;
        without it `result.diagnose()` does so when it is asked.
        Coordinates that no task depends on keep their start value; angles without bounds end within half a turn of
        theirs. Raises TaskError, ConfigurationError.
        """
        goal = self.targets if targets is None else self._goal(targets)
        start = self.middle if q0 is None else self._start(q0)
        if self.is_empty:
            none = np.zeros((len(self.tasks), 2))
            start = self.limits.clamp(self.model.check_configuration(start))
            return SolveResult(results.EMPTY, start, none, 0, 0, self.limits_active)
        code, q, residuals, iterations, attempts = self._engine.solve(goal, start, checked_seed(seed))
        if code == CONVERGED:
            return SolveResult(results.CONVERGED, q, residuals, iterations, attempts, self.limits_active)
        missed = self, _CODES[code], goal.copy()
        result = SolveResult(
            describe(*missed, residuals, attempts),
            q,
            residuals,
            iterations,
            attempts,
            self.limits_active,
            explain=lambda: explain(*missed, q, residuals, seed, attempts),
        )
        if diagnose:
            result.diagnose()
        return result

    def solve_batch(
        self, targets: object, q0: Array | None = None, seed: int = 0, threads: int | None = None
    ) -> BatchResult:
        """Solve b sets of targets; item i is bit-equal to `solve(targets[i], q0[i], seed)` up to the status.

        targets: (b, tasks, 4, 4), or a list of b sets as `solve` takes.   q0: None, (nq,) or (b, nq).
        threads: at most so many; None: one per processor. Raises TaskError, ConfigurationError.
        """
        goals = self._goals(targets)
        most = None if threads is None else checked_count(threads, "threads")
        count = len(goals)
        starts = self._starts(q0, count)
        if self.is_empty:
            none = np.zeros(count, np.int32)
            kept = [self.limits.clamp(self.model.check_configuration(start)) for start in starts]
            q = np.array(kept).reshape(count, self.model.nq)
            return BatchResult([Status.EMPTY] * count, q, np.zeros((count, len(self.tasks), 2)), none, none)
        codes, *arrays = self._engine.solve_batch(goals, starts, checked_seed(seed), most)
        return BatchResult([_CODES[code] for code in codes.tolist()], *arrays)

    def limits_active(self, q: Array) -> tuple[str, ...]:
        """Names of the joints of which a coordinate is at a bound."""
        return joints_at_limits(self.model, self.limits, q)

    # -- what `diagnose` asks ------------------------------------------------------------------------------------

    @property
    def tolerance(self) -> Array:
        """(tasks, 2)"""
        return self.data.records["tolerance"]

    def excess(self, targets: Array) -> Array:
        """(tasks,) metres by which targets are farther than the links are long."""
        return np.maximum(out_of_reach(self.data, targets), 0.0)

    def depends(self) -> Array:
        """(nq,) bool: the coordinates that the tasks depend on."""
        return np.isin(np.arange(self.model.nq), self.data.q_index)

    def reached(self, targets: Array, q: Array, seed: int) -> Array | None:
        """(nq,) a pose that meets all tasks, found from q (nq,); None when none was."""
        code, there, *_ = self._engine.solve(targets, self.limits.clamp(q), seed)
        return there if code == CONVERGED else None

    def without_limits(self, coordinates: Sequence[int]) -> IKProblem:
        limits = self.limits.without(coordinates)
        return type(self)(self.model, self.tasks, self.backend, self.attempts, self.iterations, limits)

    def some_tasks(self, indices: Sequence[int]) -> IKProblem:
        tasks = [self.tasks[index] for index in indices]
        return type(self)(self.model, tasks, self.backend, self.attempts, self.iterations, self.limits)

    def linearised(self, targets: Array, q: Array) -> tuple[Array, Array, list[Array]]:
        """e (m,) and J (m, nv of the support) of the rows that are not free, in the scale of the solve; J around q."""
        data, own = self.data, q[self.data.q_index]
        active, scale = (data.records["weights"] != 0.0).ravel(), 1.0 / np.sqrt(data.damping)

        def at(q: Array) -> tuple[Array, Array]:
            e, J, _ = linearise(data, self.tasks, targets, q)
            return e[active], J[active] * scale

        others = [reference.integrate(data.tree, own, scale * x) for x in around(len(scale))]
        return *at(own), [at(other)[1] for other in others]

    # -- arguments -----------------------------------------------------------------------------------------------

    def _goal(self, targets: object) -> Array:
        """(tasks, 4, 4); an array of that shape is left to the engine to check."""
        if isinstance(targets, np.ndarray) and targets.dtype is _FLOAT and targets.shape == self.shape:
            return targets
        try:
            given = list(targets)  # type: ignore[call-overload]
        except TypeError:
            raise TaskError(f"targets must be one per task, not {shown(targets)}") from None
        if len(given) != len(self.tasks):
            raise TaskError(f"there are {len(self.tasks)} tasks but {len(given)} targets")
        goal = np.empty(self.shape)
        for i, (task, target) in enumerate(zip(self.tasks, given, strict=True)):
            goal[i] = task.checked_target(target)
        return goal

    def _goals(self, targets: object) -> Array:
        if isinstance(targets, np.ndarray) and targets.shape[1:] == self.shape:
            if targets.dtype.kind in "fiu":
                return np.ascontiguousarray(targets, np.float64)
        try:
            goals = [self._goal(each) for each in targets]  # type: ignore[attr-defined]
            return np.array(goals).reshape(len(goals), *self.shape)
        except TypeError:
            raise TaskError(f"targets must be a list of sets of targets, not {shown(targets)}") from None

    def _start(self, q0: object) -> Array:
        """(nq,); without quaternions an array is left to the engine, which checks and clamps it faster."""
        if self._plain and isinstance(q0, np.ndarray) and q0.dtype is _FLOAT and q0.shape == self.lower.shape:
            return q0
        return self.limits.clamp(self.model.check_configuration(q0))

    def _starts(self, q0: object, count: int) -> Array:
        """(count, nq)"""
        if q0 is None:
            return np.tile(self.middle, (count, 1))
        try:
            several = np.ndim(q0) == 2  # type: ignore[arg-type]
        except ValueError:  # of different lengths
            several = True
        if not several:
            return np.tile(self._start(q0), (count, 1))
        if len(q0) != count:  # type: ignore[arg-type]
            raise ConfigurationError(f"there are {count} sets of targets but {len(q0)} starts")  # type: ignore[arg-type]
        return np.array([self._start(each) for each in q0]).reshape(count, self.model.nq)  # type: ignore[attr-defined]


def _of_one_level(tasks: tuple[Task, ...]) -> tuple[FrameTask, ...]:
    """Raises TaskError for tasks that the kernel does not solve: it weighs tasks on one tip against each other."""
    levels = sorted({task.priority for task in tasks})
    if len(levels) > 1:
        shown = ", ".join(map(str, levels))
        raise TaskError(f"tasks of several priorities ({shown}) are not for IKProblem: take solve_ik or HierarchicalIK")
    known = tuple(filter(is_plain_task, tasks))
    for task in tasks:
        if task not in known:
            raise TaskError(f"{task.name} is not for IKProblem: take solve_ik or HierarchicalIK")
    return known


def _enough(data: IKData) -> int:
    """Attempts for a problem: more for every whole turn that a screw may make."""
    factor = 1.0
    for node in np.flatnonzero(data.tree.motion == Motion.HELICAL):
        iq = data.tree.iq[node]
        angle = abs(data.tree.scale[node]) * data.spread[iq] * 2.0
        factor *= max(1.0, angle // (2.0 * np.pi))
    return int(min(ATTEMPTS * factor, MOST_ATTEMPTS))


def checked_count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 2**31:
        raise TaskError(f"{what} must be a whole number of at least 1, below 2^31, not {shown(value)}")
    return int(value)


def checked_seed(value: int) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TaskError(f"seed must be a whole number, not {shown(value)}") from None


def _engine_type(backend: str) -> type:
    """Raises BackendError."""
    if get_backend(backend).name == "numpy":
        return ReferenceEngine
    from .native import NativeEngine

    return NativeEngine


def joints_at_limits(model: RobotModel, limits: PositionLimits, q: Array) -> tuple[str, ...]:
    """Names of the joints of which a coordinate of q (nq,) is at a limit."""
    at_limit = limits.at_limit(q)
    return tuple(joint.name for joint in model.moving_joints if at_limit[model.slot(joint.name).q].any())
