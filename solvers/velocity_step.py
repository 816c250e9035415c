"""One differential step: the velocity that meets tasks of strict priorities inside all limits, and with the freedom
that is left serves the criteria.

In displacements x = D^-1 v dt, lengths counted in L and angles in radians, the levels are, first to last:
position bounds of floating joints (those of all others, and all velocity and acceleration limits, are the box that
nothing leaves); the constraints A v = c; the constraints lower <= A v <= upper; the tasks by priority, J x = e, which
would meet their targets at the end of the step. What is left minimises the criteria's 1/2 v'Hv + g'v.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..robokin import quaternion
from ..robokin.configuration import check_tangent
from ..robokin.errors import TaskError
from ..robokin.joint_types import Motion
from ..robokin.model import RobotModel
from .criteria import Criterion, State, combine
from .hierarchy import Level, solve_hierarchy
from .ik import checked_tasks
from .ik_data import compile_ik, robot_columns
from .ik_reference import linearise
from .tasks import Task
from .tasks.base import numbers
from .viability import StepLimits

Array = np.ndarray

LARGEST_STEP = np.pi  # of a degree of freedom, in radians or L: farther, a linear prediction means nothing
ROUNDING = 4.0 * np.finfo(float).eps  # by which steps are shortened, so that q + v dt is inside the limits too
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


@dataclass(frozen=True, eq=False)
class StepLevel:
    """What a level of tasks gets. residual: (m,) e - J v dt, weighted, lengths over L.   freedom: directions of motion
    left for the levels below.   tasks: their names."""

    priority: int
    tasks: tuple[str, ...]
    residual: Array
    freedom: int


@dataclass(frozen=True, eq=False)
class VelocityStep:
    """v: (nv,) inside all limits.   levels: by priority.

    residuals: (tasks, 2) position [m] and orientation [rad] that each task will lack after the step, as predicted by
    its Jacobian.   errors: the same before the step.   unmet: names of the constraints that the limits or each other
    do not allow.   limits_active: joints as fast as a limit allows, now or in time to brake.   costs: value of each
    criterion by its name.
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
    Raises TaskError, ConfigurationError, UnknownNameError, ModelError, BackendError.
    """
    return VelocityProblem(model, tasks, criteria, dt, damping, backend).step(q, previous, constraints)


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
        self.model, self.tasks, self.backend, self.dt = model, checked_tasks(tasks), backend, dt
        self.criteria = _checked_criteria(criteria)
        self.limits = StepLimits.of(model, dt)
        damped = numbers(damping, "damping")
        if damped.shape != () or damped < 0.0:
            raise TaskError(f"damping must be a number >= 0, not {damping!r}")
        self.damping = float(damped)
        self.data = compile_ik(model, self.tasks, model.lower, model.upper)
        self.priorities = sorted({task.priority for task in self.tasks})
        self._first = [task for task in self.tasks if task.priority == self.priorities[0]]
        # L of the first level, so that levels below do not change those above.
        self.length = compile_ik(model, self._first, model.lower, model.upper).length
        weights = np.array([record["weights"] for record in self.data.records]).reshape(-1, 6)
        self._rescaled = np.tile(np.repeat((self.data.length / self.length, 1.0), 3), len(self.tasks))
        self._weights = weights.reshape(-1) * self._rescaled
        self._columns = robot_columns(model, self.data)
        self._used = np.array([record["used"] for record in self.data.records]).reshape(-1) > 0.0
        self._priority = np.repeat([task.priority for task in self.tasks], 6)
        neutral = self._state(model.neutral())
        self._scale = neutral.scale
        for criterion in self.criteria:
            criterion.check(neutral)

    def step(
        self, q: object, previous: object | None = None, constraints: Sequence[VelocityConstraint] = ()
    ) -> VelocityStep:
        model = self.model
        start = model.check_configuration(q)
        last = np.zeros(model.nv) if previous is None else check_tangent(model, previous, "previous velocity")
        hard, names = self._constraints(start, constraints)
        e, J, errors = self._task_rows(start)
        lo, hi = self._box(start, last * self.dt)
        wanted = [self._used & (self._priority == priority) for priority in self.priorities]
        state = self._state(start, last)
        H, g = combine(self.criteria, state)
        scale = self._scale
        found = solve_hierarchy(
            np.clip(-LARGEST_STEP, lo, hi),
            np.clip(LARGEST_STEP, lo, hi),
            [*hard, *(Level(J[rows], e[rows], e[rows], self.damping) for rows in wanted)],
            scale[:, None] * H * scale,
            scale * g * self.dt,
            self.backend,
        )
        x = found.x * (1.0 - ROUNDING)
        v = scale * x / self.dt
        levels = tuple(
            StepLevel(
                priority,
                tuple(task.name for task in self.tasks if task.priority == priority),
                found.residuals[len(hard) + k],
                found.freedom[len(hard) + k + 1],
            )
            for k, priority in enumerate(self.priorities)
        )
        return VelocityStep(
            v,
            levels,
            self._residuals(e - J @ x),
            errors,
            tuple(
                name
                for name, level, lacking in zip(names, hard, found.residuals, strict=False)
                if (abs(lacking) > MET * np.sqrt((level.J**2).sum(axis=1))).any()
            ),
            self._limits_active(found.x, lo, hi),
            {criterion.name: criterion.value(state, v) for criterion in self.criteria},
        )

    def _state(self, q: Array, previous: Array | None = None) -> State:
        return State(self.model, q, self._first, self.length, self.backend, previous, self.dt)

    def _task_rows(self, q: Array) -> tuple[Array, Array, Array]:
        """e (6 tasks,) and J (6 tasks, nv) of J x = e, and the residuals (tasks, 2) before the step."""
        data, support = self.data, q[self.data.q_index]
        targets = np.array([task.target for task in self.tasks]).reshape(-1, 4, 4)
        e, own, residuals = linearise(data, self.tasks, targets, support)
        for motion, iq, iv in zip(data.tree.motion, data.tree.iq, data.tree.iv, strict=True):
            if motion == Motion.FREE:  # its lengths move along fixed axes there, in the child frame here
                own[:, iv : iv + 3] = own[:, iv : iv + 3] @ quaternion.to_matrix(support[iq + 3 : iq + 7])
        J = np.zeros((len(e), self.model.nv))
        J[:, self._columns] = own
        return self._rescaled * e, self._rescaled[:, None] * J * self._scale, residuals

    def _box(self, q: Array, last: Array) -> tuple[Array, Array]:
        """Viable displacements, dimensionless; from outside the position limits back, at full speed at most."""
        fastest = self.limits.largest
        lo, hi = (np.clip(side, -fastest, fastest) for side in self.limits.bounds(q, last))
        return lo / self._scale, hi / self._scale

    def _constraints(self, q: Array, constraints: Sequence[VelocityConstraint]) -> tuple[list[Level], list[str]]:
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
        named = [*self._floating_bounds(q), *equations, *inequalities]
        return [level for _, level in named], [name for name, _ in named]

    def _floating_bounds(self, q: Array) -> list[tuple[str, Level]]:
        """Position bounds of floating joints, which hold along the axes of the parent."""
        model, bounds = self.model, []
        for node, motion in enumerate(model.tree.motion):
            iq, iv = int(model.tree.iq[node]), int(model.tree.iv[node])
            at = slice(iq, iq + 3)
            lower, upper = model.lower[at], model.upper[at]
            if motion != Motion.FREE or not (np.isfinite(lower) | np.isfinite(upper)).any():
                continue
            J = np.zeros((3, model.nv))
            J[:, iv : iv + 3] = quaternion.to_matrix(q[iq + 3 : iq + 7])
            sides = np.minimum(lower - q[at], 0.0), np.maximum(upper - q[at], 0.0)
            level = Level(J, *(side / self.length for side in sides))
            name = model.joints[model.tree.node_joint[node]].name
            bounds.append((f"position limits of {name}", level))
        return bounds

    def _residuals(self, lacking: Array) -> Array:
        """(tasks, 2) of weighted rows (6 tasks,)."""
        plain = np.divide(lacking, self._weights, out=np.zeros_like(lacking), where=self._used)
        return np.linalg.norm(plain.reshape(-1, 2, 3), axis=2)

    def _limits_active(self, x: Array, lo: Array, hi: Array) -> tuple[str, ...]:
        at = (x <= lo) | (x >= hi)
        return tuple(joint.name for joint in self.model.moving_joints if at[self.model.slot(joint.name).v].any())


def _checked_criteria(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    try:
        checked = tuple(criteria)
    except TypeError:
        raise TaskError(f"criteria must be a list of criteria, not {criteria!r}") from None
    for criterion in checked:
        if not isinstance(criterion, Criterion):
            raise TaskError(f"{criterion!r} is not a criterion")
    return checked
