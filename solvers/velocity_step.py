"""One differential step: the velocity that meets tasks of strict priorities inside all limits, and with the freedom
that is left serves the criteria.

In displacements x = D^-1 v dt, lengths counted in L and angles in radians, the levels are, first to last:
position bounds of floating joints (those of all others, and all velocity and acceleration limits, are the box that
nothing leaves); the loop closures; the constraints A v = c; the constraints lower <= A v <= upper; the tasks by
priority, J x = e or lower <= J x <= upper, which would meet their targets at the end of the step. What is left
minimises the criteria's 1/2 v'Hv + g'v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..robokin import quaternion
from ..robokin.backend import get_backend
from ..robokin.configuration import check_tangent, integrate
from ..robokin.errors import TaskError
from ..robokin.joint_types import Motion
from ..robokin.model import RobotModel
from .coupled_levels import CoupledLevels
from .criteria import Criterion, checked_criteria, combine
from .criteria.kinds import KINDS
from .hierarchy import Level, solve_hierarchy
from .recent_problems import RecentProblems
from .state import State
from .task_levels import TaskLevels, checked_tasks
from .tasks import Task
from .tasks.checks import numbers
from .viability import StepLimits

if TYPE_CHECKING:
    from .native_step import NativeStep

Array = np.ndarray

LARGEST_STEP = np.pi  # of a degree of freedom, in radians or L: farther, a linear prediction means nothing
ROUNDING = 4.0 * np.finfo(float).eps  # by which steps are shortened, so that q + v dt is inside the limits too
SHORTENED = 1e-12  # so that rounding does not take what is stopped at a bound across it
MET = 1e-6  # constraints lacking more than this, relative to the row's norm, are reported


@dataclass(frozen=True, eq=False)
class VelocityConstraint:
    """lower <= A v <= upper, all that the robot does included; equal sides say A v = c. A: (m, nv). sides: (m,).

    It comes before all tasks and after the limits; equations come before inequalities, else the first one wins.
    Raises TaskError.
    """

    A: Array
    lower: Array
    upper: Array
    name: str = "constraint"

    def __post_init__(self) -> None:
        A = np.atleast_2d(numbers(self.A, f"{self.name}: A"))
        object.__setattr__(self, "A", A)
        for side in ("lower", "upper"):
            array = np.array(getattr(self, side), float)
            array = np.full(len(A), array) if array.ndim == 0 else array
            if array.shape != (len(A),) or np.isnan(array).any():
                raise TaskError(f"{self.name}: {side} must be {len(A)} numbers, one per row of A")
            object.__setattr__(self, side, array)
        if (self.lower > self.upper).any():
            raise TaskError(f"{self.name}: lower {self.lower.tolist()} is above upper {self.upper.tolist()}")


# Not frozen: that would take longer to make than the kernel takes for the step.
@dataclass(eq=False, slots=True)
class StepLevel:
    """What a level of tasks gets. residual: (m,) what J v dt lacks in its rows, weighted, lengths over L.
    freedom: directions of motion left for the levels below.   tasks: their names."""

    priority: int
    tasks: tuple[str, ...]
    residual: Array
    freedom: int


@dataclass(eq=False, slots=True)
class VelocityStep:
    """v: (nv,) inside all limits.   levels: by priority.

    residuals: (tasks, 2) what the parts of each task will lack after the step, in their units ([m] and [rad] for the
    pose of a tip, see `Task.parts`), as predicted by its Jacobian.   errors: the same before the step.
    unmet: names of the constraints that the limits or each other do not allow.
    limits_active: joints as fast as a limit allows, now or in time to brake.   costs: value of each criterion by its
    name.
    """

    v: Array
    levels: tuple[StepLevel, ...]
    residuals: Array
    errors: Array
    unmet: tuple[str, ...]
    limits_active: tuple[str, ...]
    costs: dict[str, float]


def velocity_step(
    model: RobotModel,
    q: object,
    tasks: Sequence[Task],
    criteria: Sequence[Criterion] = (),
    dt: float = 1.0 / 24.0,
    previous: object | None = None,
    constraints: Sequence[VelocityConstraint] = (),
    damping: float = 0.0,
    backend: str = "auto",
) -> VelocityStep:
    """The velocity v (nv,) of the next `dt` seconds from q (nq,); q moves on to integrate(model, q, v * dt).

    tasks: met in the order of their `priority`; a lower one moves nothing that a higher one asks for.
    criteria: what to prefer in the freedom that is left; the least velocity when there are none.
    previous: (nv,) velocity of the last step, for acceleration limits; 0 unless given.
    damping: (dimensionless) added to the squared singular values of every level of tasks. With 0 tasks are met exactly
    where they can be, at any speed that the limits allow; 1e-4 or more keeps slow what is nearly singular.
    Calls with tasks and criteria that are alike, but for the tasks' targets, are compiled once.
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    try:
        given = tuple(tasks), tuple(criteria)
    except TypeError:
        given = checked_tasks(tasks), checked_criteria(criteria)  # say what is wrong
    problem, targets = _recent.get(
        lambda own, preferred: VelocityProblem(model, own, preferred, dt, damping, backend),
        *(model, *given, (dt, damping, get_backend(backend).name)),
    )
    return problem.step_towards(targets, q, previous, constraints)


_recent: RecentProblems[VelocityProblem] = RecentProblems()


class VelocityProblem:
    """Tasks and criteria of a model, compiled once and stepped from as many configurations as wanted. Arguments and
    errors: see `velocity_step`."""

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        criteria: Sequence[Criterion] = (),
        dt: float = 1.0 / 24.0,
        damping: float = 0.0,
        backend: str = "auto",
    ) -> None:
        self.model, self.backend, self.dt = model, backend, dt
        self.levels = TaskLevels(model, tasks, backend)
        self.tasks, self.length = self.levels.tasks, self.levels.length
        self.criteria = checked_criteria(criteria)
        self.limits = StepLimits.of(model, dt)
        damped = numbers(damping, "damping")
        if damped.shape != () or damped < 0.0:
            raise TaskError(f"damping must be a number >= 0, not {damping!r}")
        self.damping = float(damped)
        neutral = self.levels.state(model.neutral(), self.levels.targets, dt)
        self._scale = neutral.scale
        for criterion in self.criteria:
            criterion.check(neutral)
        self._coupled = CoupledLevels(self.limits, self._scale)
        self._still = np.zeros(model.nv)
        self._floating = [node for node, motion in enumerate(model.tree.motion) if _is_held(model, node, motion)]
        self._level_names = [self.levels.names(priority) for priority in self.levels.priorities]
        self._criterion_names = [criterion.name for criterion in self.criteria]
        self._joint_of = [joint.name for joint in model.moving_joints for _ in range(joint.nv)]
        self._aims: Sequence[Any] | None = None  # what the kernel was given last
        self._native = self._bound_to_kernel(neutral) if get_backend(backend).name == "native" else None

    def _bound_to_kernel(self, neutral: State) -> NativeStep:
        from .native_step import NativeStep

        records = [(each, each.record(neutral) if type(each) in KINDS.values() else None) for each in self.criteria]
        levels = self.levels
        return NativeStep(
            self.model, self.tasks, levels.indices, records, self.limits, self._scale, self.length, self.damping
        )

    def step(
        self,
        q: object,
        previous: object | None = None,
        constraints: Sequence[VelocityConstraint] = (),
        targets: Sequence[object] | None = None,
    ) -> VelocityStep:
        """targets: one per task, each in its task's own terms; the tasks' own when None."""
        return self.step_towards(self.levels.checked_targets(targets), q, previous, constraints)

    def step_towards(
        self,
        aims: Sequence[Any],
        q: object,
        previous: object | None = None,
        constraints: Sequence[VelocityConstraint] = (),
    ) -> VelocityStep:
        """aims: checked targets, one per task; not to be changed, but for other ones a list of their own."""
        last = self._still if previous is None else check_tangent(self.model, previous, "previous velocity")
        if self._coupled.is_empty and not self._floating:
            return self._step(q, last, aims, constraints)
        start = self.model.check_configuration(q)
        self._coupled.start(last * self.dt)
        while True:
            step = self._step(start, last, aims, constraints)
            step = self._stopped_at_bounds(step, start, last, aims)
            if self._coupled.is_empty or self._coupled.accepts(start, step.v * self.dt):
                return step

    def _step(
        self, q: object, last: Array, aims: Sequence[Any], constraints: Sequence[VelocityConstraint]
    ) -> VelocityStep:
        native, check = self._native, self.model.check_configuration
        if native is None:
            return self._by_reference(check(q), last, aims, constraints)
        if aims is not self._aims:
            native.aim(aims)
            self._aims = aims
        if native.is_alone and isinstance(q, np.ndarray) and q.dtype == float and q.shape == native.q.shape:
            step = self._by_kernel(native, q, last, aims, constraints)
            if step is not None:
                return step
        step = self._by_kernel(native, check(q), last, aims, constraints)
        assert step is not None, "the kernel refuses a configuration that was checked"
        return step

    def _by_reference(
        self, start: Array, last: Array, aims: Sequence[Any], constraints: Sequence[VelocityConstraint]
    ) -> VelocityStep:
        dt, scale = self.dt, self._scale
        lo, hi = self._box(start, last * dt)
        state = self.levels.state(start, aims, dt, last)
        rows = self.levels.step_rows(state, aims)
        hard, names = self._constraints(start, constraints, self.levels.closures(state, rows))
        H, g = combine(self.criteria, state)
        found = solve_hierarchy(
            np.clip(-LARGEST_STEP, lo, hi),
            np.clip(LARGEST_STEP, lo, hi),
            [*hard, *self.levels.levels(state, rows, self.damping)],
            scale[:, None] * H * scale,
            scale * g * dt,
            "numpy",
        )
        v = scale * found.x * (1.0 - ROUNDING) / dt
        return VelocityStep(
            v,
            self._step_levels(found.residuals[len(hard) :], found.freedom[len(hard) + 1 :]),
            self.levels.residuals(rows, v * dt, dt),
            self.levels.residuals(rows, np.zeros(len(v)), dt),
            _unmet(names, hard, found.residuals),
            self._limits_active(np.flatnonzero((found.x <= lo) | (found.x >= hi)).tolist()),
            {criterion.name: criterion.value(state, v) for criterion in self.criteria},
        )

    def _by_kernel(
        self,
        native: NativeStep,
        start: Array,
        last: Array,
        aims: Sequence[Any],
        constraints: Sequence[VelocityConstraint],
    ) -> VelocityStep | None:
        """None when the kernel does not take `start`."""
        levels = self.levels
        hard: list[Level] = []
        names: list[str] = []
        native.q[...], native.previous[...] = start, last
        if native.is_alone:
            if constraints or self._floating or not self._coupled.is_empty:
                hard, names = self._constraints(start, constraints, [])
            found = native.run(hard, {}, None)
            if found is None:
                return None
            errors, residuals = found.errors, found.residuals
            costs = dict(zip(self._criterion_names, found.costs, strict=True))
        else:
            state = levels.state(start, aims, self.dt, last)
            rows = {i: levels.step_rows_of(i, state, aims[i]) for i in native.other_tasks}
            scaled = {i: levels.level_of(i, state, own) for i, own in rows.items()}
            hard, names = self._constraints(start, constraints, levels.closures(state, rows))
            others = [self.criteria[i] for i in native.other_criteria]
            found = native.run(hard, scaled, combine(others, state) if others else None)
            if found is None:
                return None
            errors, residuals = np.zeros((2, len(self.tasks), 2))
            errors[native.native_tasks], residuals[native.native_tasks] = found.errors, found.residuals
            for i, own in rows.items():
                errors[i] = levels.residuals_of(i, own, np.zeros(self.model.nv), self.dt)
                residuals[i] = levels.residuals_of(i, own, found.v * self.dt, self.dt)
            values = dict(zip(native.native_criteria, found.costs, strict=True))
            values |= {i: self.criteria[i].value(state, found.v) for i in native.other_criteria}
            costs = {name: values[i] for i, name in enumerate(self._criterion_names)}
        return VelocityStep(
            found.v,
            self._step_levels(found.lacking[len(hard) :], found.freedom[len(hard) + 1 :]),
            residuals,
            errors,
            _unmet(names, hard, found.lacking) if hard else (),
            self._limits_active(found.active) if found.active else (),
            costs,
        )

    def _step_levels(self, lacking: Sequence[Array], freedom: Sequence[int]) -> tuple[StepLevel, ...]:
        return tuple(map(StepLevel, self.levels.priorities, self._level_names, lacking, freedom))

    def _box(self, q: Array, last: Array) -> tuple[Array, Array]:
        """Viable displacements, dimensionless; from outside the position limits back, at full speed at most."""
        fastest = self.limits.largest
        lo, hi = (np.clip(side, -fastest, fastest) for side in self.limits.bounds(q, last))
        return lo / self._scale, hi / self._scale

    def _constraints(
        self, q: Array, constraints: Sequence[VelocityConstraint], closures: Sequence[tuple[str, Level]]
    ) -> tuple[list[Level], list[str]]:
        """The levels before the tasks, and how reports call them."""
        equations: list[tuple[str, Level]] = []
        inequalities: list[tuple[str, Level]] = []
        for constraint in constraints:
            if not isinstance(constraint, VelocityConstraint):
                raise TaskError(f"{constraint!r} is not a VelocityConstraint")
            if constraint.A.shape[1] != self.model.nv:
                raise TaskError(f"{constraint.name}: A must have {self.model.nv} columns, not {constraint.A.shape[1]}")
            J = constraint.A * self._scale
            size = np.linalg.norm(J, axis=1)
            size[size == 0.0] = 1.0
            sides = [side * self.dt / size for side in (constraint.lower, constraint.upper)]
            equal = constraint.lower == constraint.upper
            for rows, into in ((equal, equations), (~equal, inequalities)):
                if rows.any():
                    level = Level((J / size[:, None])[rows], *(side[rows] for side in sides))
                    into.append((constraint.name, level))
        named = [*self._floating_bounds(q), *self._coupled.levels(q), *closures, *equations, *inequalities]
        return [level for _, level in named], [name for name, _ in named]

    def _stopped_at_bounds(self, step: VelocityStep, start: Array, last: Array, aims: Sequence[Any]) -> VelocityStep:
        """The step with floating joints slowed down, in the same direction, that would leave their position bounds
        because they turn on the way, which rows linear in v do not see."""
        model, v = self.model, step.v.copy()
        end = integrate(model, start, v * self.dt)
        for node in self._floating:
            iq, iv = int(model.tree.iq[node]), int(model.tree.iv[node])
            at = slice(iq, iq + 3)
            way = end[at] - start[at]
            room = np.where(way < 0.0, np.minimum(model.lower[at] - start[at], 0.0), model.upper[at] - start[at])
            room = np.where(way > 0.0, np.maximum(room, 0.0), room)
            beyond = abs(way) > abs(room)
            if beyond.any():
                v[iv : iv + 3] *= (1.0 - SHORTENED) * min(room[beyond] / way[beyond])
        if (v == step.v).all():
            return step
        state = self.levels.state(start, aims, self.dt, last)
        rows = self.levels.step_rows(state, aims)
        moved = v * self.dt
        for own, level in zip(step.levels, self.levels.levels(state, rows, self.damping), strict=True):
            values = level.J @ (moved / self._scale)
            own.residual = np.clip(values, level.lower, level.upper) - values
        step.v, step.residuals = v, self.levels.residuals(rows, moved, self.dt)
        step.costs = {criterion.name: criterion.value(state, v) for criterion in self.criteria}
        return step

    def _floating_bounds(self, q: Array) -> list[tuple[str, Level]]:
        """Position bounds of floating joints, which hold along the axes of the parent."""
        model, bounds = self.model, []
        for node in self._floating:
            iq, iv = int(model.tree.iq[node]), int(model.tree.iv[node])
            at = slice(iq, iq + 3)
            lower, upper = model.lower[at], model.upper[at]
            J = np.zeros((3, model.nv))
            J[:, iv : iv + 3] = quaternion.to_matrix(q[iq + 3 : iq + 7])
            sides = np.minimum(lower - q[at], 0.0), np.maximum(upper - q[at], 0.0)
            level = Level(J, *(side / self.length for side in sides))
            name = model.joints[model.tree.node_joint[node]].name
            bounds.append((f"position limits of {name}", level))
        return bounds

    def _limits_active(self, active: Sequence[int]) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self._joint_of[k] for k in active]))


def _is_held(model: RobotModel, node: int, motion: int) -> bool:
    """Whether a node is a floating joint with position bounds."""
    at = slice(int(model.tree.iq[node]), int(model.tree.iq[node]) + 3)
    return motion == Motion.FREE and bool((np.isfinite(model.lower[at]) | np.isfinite(model.upper[at])).any())


def _unmet(names: Sequence[str], hard: Sequence[Level], lacking: Sequence[Array]) -> tuple[str, ...]:
    return tuple(
        name
        for name, level, own in zip(names, hard, lacking, strict=False)
        if (abs(own) > MET * np.sqrt((level.J**2).sum(axis=1))).any()
    )
