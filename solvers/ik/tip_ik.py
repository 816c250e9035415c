"""Poses for tasks on tips, all of one priority: the fast case, of arrays alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend, reference
from ...robokin.errors import ConfigurationError
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.limits import PositionLimits
from ...robokin.model.robot import RobotModel
from ..descent.data import IKData, compile_ik
from ..descent.engine import CONVERGED, BatchOutcome, Engine, Outcome
from ..descent.native_problem import NativeEngine
from ..descent.steps import linearise, out_of_reach
from ..random_numbers import SplitMix64
from ..tasks import FrameTask, Task
from ..tasks.base import checked_targets
from ..tasks.checks import numbers
from ..tasks.influence import partial
from ..tasks.tips.frame import is_plain_task
from .diagnosis import around
from .reference import ReferenceEngine, restart

ATTEMPTS, MOST_ATTEMPTS = 50, 400
ITERATIONS = 30
_FLOAT = np.dtype(np.float64)  # the very object of most arrays: `is` is fast, and the others take the longer way


def is_plain(tasks: Sequence[Task]) -> bool:
    """Whether the tasks are whole, on one tip each, of one priority, without bands."""
    return all(map(is_plain_task, tasks)) and len({task.priority for task in tasks}) <= 1 and not partial(tasks)


class TipIK:
    """The search for poses of such tasks. Its methods are those of `level_ik.LevelIK`, for targets (tasks, 4, 4)."""

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        limits: PositionLimits,
        backend: str,
        attempts: int | None,
        iterations: int | None,
    ) -> None:
        self.model, self.limits = model, limits
        self.tasks: tuple[FrameTask, ...] = tuple(filter(is_plain_task, tasks))
        self.data = compile_ik(model, self.tasks, limits)
        self.shape, self._has_quaternions = (len(self.tasks), 4, 4), model.tree.quaternions
        self.attempts = _enough(self.data) if attempts is None else attempts
        kind = NativeEngine if get_backend(backend).name == "native" else ReferenceEngine
        self._engine: Engine = kind(self.data, self.tasks, self.attempts, iterations or ITERATIONS)

    def solve(self, targets: Array, q0: Array, seed: int) -> Outcome:
        return self._engine.solve(targets, q0, seed)

    def solve_batch(self, targets: Array, q0: Array, seed: int, threads: int | None) -> BatchOutcome:
        return self._engine.solve_batch(targets, q0, seed, threads)

    def excess(self, targets: Any, counted: Array | None = None) -> Array:
        far = out_of_reach(self.data, np.asarray(targets).reshape(self.shape))
        return far if counted is None else np.where(counted, far, 0.0)

    @property
    def bounded(self) -> Array:
        """(tasks,) bool: for which tasks `excess` knows something."""
        return np.ones(len(self.tasks), bool)

    def depends(self) -> Array:
        return np.isin(np.arange(self.model.nq), self.data.q_index)

    def reached(self, targets: Any, q: Array, seed: int) -> Array | None:
        aims = np.asarray(targets).reshape(self.shape)
        code, there, *_ = self._engine.solve(aims, self.limits.clamp(q), seed, is_trial=True)
        return there if code == CONVERGED else None

    def drawn(self, q: Array, generator: SplitMix64) -> Array:
        there, own = q.copy(), q[self.data.q_index]
        there[self.data.q_index] = restart(self.data, own, own, generator, partial=False)
        return there

    def met(self, targets: Any, q: Array) -> Array:
        return np.zeros(len(self.tasks), bool)  # a solve from there takes no longer than a look

    def only_pose(self, targets: Any, q: Array) -> Array | None:
        return None

    def linearised(self, targets: Any, q: Array) -> tuple[Array, Array, list[Array]]:
        data, own = self.data, q[self.data.q_index]
        active, scale = (data.records["weights"] != 0.0).ravel(), 1.0 / np.sqrt(data.damping)

        def at(q: Array) -> tuple[Array, Array]:
            e, J, _ = linearise(data, self.tasks, np.asarray(targets).reshape(self.shape), q)
            return e[active], J[active] * scale

        others = [reference.integrate(data.tree, own, scale * x) for x in around(len(scale))]
        return *at(own), [at(other)[1] for other in others]

    # -- arguments -----------------------------------------------------------------------------------------------------

    def goal(self, targets: object) -> Array:
        """(tasks, 4, 4) of one target per task, each in its task's own terms; an array of that shape is left to the
        engine to check, the tasks' own targets are taken for None. Raises TaskError."""
        if targets is None:
            return np.array([task.target for task in self.tasks]).reshape(self.shape)
        if isinstance(targets, np.ndarray) and targets.dtype is _FLOAT and targets.shape == self.shape:
            return targets
        goal = np.empty(self.shape)
        for i, target in enumerate(checked_targets(self.tasks, targets)):
            goal[i] = target
        return goal

    def goals(self, targets: object) -> Array:
        """(b, tasks, 4, 4) of b such sets. Raises TaskError."""
        if isinstance(targets, np.ndarray) and targets.shape[1:] == self.shape and targets.dtype.kind in "fiu":
            return np.ascontiguousarray(targets, np.float64)
        goals = [self.goal(each) for each in targets]  # type: ignore[attr-defined]
        return np.array(goals).reshape(len(goals), *self.shape)

    def start(self, q0: object) -> Array:
        """(nq,); without quaternions an array is left to the engine, which checks and clamps it faster. Raises
        ConfigurationError."""
        lower = self.limits.lower
        if isinstance(q0, np.ndarray) and q0.dtype is _FLOAT and q0.shape == lower.shape and not self._has_quaternions:
            return q0
        return self.limits.clamp(self.model.check_configuration(q0))


def poses_of_frames(tasks: Sequence[FrameTask], frames: Sequence[Sequence[Any]]) -> Array:
    """(frames, tasks, 4, 4) of the targets of each frame, each in its task's own terms. Whether matrices are rigid is
    left to the engine to check. Raises TaskError."""
    wanted = np.empty((len(frames), len(tasks), 4, 4))
    for frame, each in enumerate(frames):
        for i, (task, target) in enumerate(zip(tasks, each, strict=True)):
            is_matrix = (target.shape if type(target) is np.ndarray else np.shape(target)) == (4, 4)
            wanted[frame, i] = numbers(target, f"{task.name}: target") if is_matrix else task.target_matrix(target)
    return wanted


def starts_of(search: Any, q0: object, count: int) -> Array:
    """(count, nq) of one start or of as many. Raises ConfigurationError."""
    try:
        several = np.ndim(q0) == 2  # type: ignore[arg-type]
    except ValueError:  # of different lengths
        several = True
    if not several:
        return np.tile(search.start(q0), (count, 1))
    if len(q0) != count:  # type: ignore[arg-type]
        raise ConfigurationError(f"there are {count} sets of targets but {len(q0)} starts")  # type: ignore[arg-type]
    return np.array([search.start(each) for each in q0]).reshape(count, search.model.nq)  # type: ignore[attr-defined]


def _enough(data: IKData) -> int:
    """Attempts for a problem: more for every whole turn that a screw may make."""
    factor = 1.0
    for node in np.flatnonzero(data.tree.motion == MotionPrimitive.HELICAL):
        iq = data.tree.iq[node]
        angle = abs(data.tree.scale[node]) * data.half_range[iq] * 2.0
        factor *= max(1.0, angle // (2.0 * np.pi))
    return int(min(ATTEMPTS * factor, MOST_ATTEMPTS))
