"""The differential step of one set of tasks and criteria, compiled once: its levels, what they get, and the limits.

In displacements x = D^-1 v dt, lengths counted in L and angles in radians, the levels are, first to last:
cones of balls and position bounds of floating joints, which are curved (`curved_step.py`; those of all others, and all
velocity and acceleration limits, are the box that nothing leaves); the wheels; the loop closures; the constraints
A v = c; the constraints lower <= A v <= upper; the tasks by priority, J x = e or lower <= J x <= upper, which would
meet their targets at the end of the step, those of velocities that have a path in two: what is across it, then what is
along it. What is left minimises the criteria's 1/2 v'Hv + g'v.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.backend import get_backend
from ...robokin.configuration import check_tangent
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..criteria import Criterion, checked_criteria, combine, criterion_names
from ..criteria.kinds import KINDS
from ..fixed_arrays import compiled
from ..kinematics.state import State
from ..limits.rolling import rolling_level
from ..limits.viability import StepLimits
from ..qp.level import Level
from ..tasks import Task
from ..tasks.checks import numbers
from .constraint import VelocityConstraint, checked_constraints, constraint_levels
from .curved_step import CurvedLimits, CurvedStep
from .native import NativeStep
from .native_layout import NO_LEVELS, ExtraLevels
from .task_levels import TaskLevels

ROUNDING = 4.0 * np.finfo(float).eps  # by which steps are shortened, so that q + v dt is inside the limits too
MET = 1e-6  # constraints with a larger residual, relative to the row's norm, are reported


# Not frozen: that would take longer to make than the kernel takes for the step.
@dataclass(eq=False, slots=True)
class StepLevel:
    """What a level of tasks gets. residual: (m,) of J v dt in its rows, weighted, lengths over L.
    freedom: directions of motion left for the levels below.   tasks: their names."""

    priority: int
    tasks: tuple[str, ...]
    residual: Array
    freedom: int


@dataclass(eq=False, slots=True)
class VelocityStep:
    """v: (nv,) inside all limits.   levels: by priority.

    residuals: (tasks, 2) residuals of the parts of each task after the step, in their units ([m] and [rad] for the
    pose of a tip, see `Task.parts`), as predicted by its Jacobian.   errors: the same before the step.
    unmet: names of the constraints that the limits or each other do not allow.
    limits_active: joints as fast as a limit allows, now or in time to brake, and those stopped by their cone, twist
    or position bounds.   costs: value of each criterion by its
    name.
    """

    v: Array
    levels: tuple[StepLevel, ...]
    residuals: Array
    errors: Array
    unmet: tuple[str, ...]
    limits_active: tuple[str, ...]
    costs: dict[str, float]


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
        compiled(self.criteria)
        self.limits = StepLimits.of(model, dt)
        damped = numbers(damping, "damping")
        if damped.shape != () or damped < 0.0:
            raise TaskError(f"damping must be a number >= 0, not {shown(damping)}")
        self.damping = float(damped)
        neutral = self.levels.state(model.neutral(), self.levels.targets, dt)
        self._scale = neutral.scale
        self.criteria = tuple(criterion for criterion in self.criteria if criterion.fits(neutral))
        self._curved = CurvedLimits(model, self.limits, self._scale, self.length)
        self._still = np.zeros(model.nv)
        self._level_names = [self.levels.names(priority) for priority in self.levels.priorities]
        self._criterion_names = criterion_names(self.criteria)
        self._joint_of = [joint.name for joint in model.moving_joints for _ in range(joint.nv)]
        self._aims: Sequence[Any] | None = None  # the last targets of the kernel
        self._is_aimed = False  # the kernel takes the last aims
        self._native = self._bound_to_kernel(neutral) if get_backend(backend).name == "native" else None

    def _bound_to_kernel(self, neutral: State) -> NativeStep:
        records = [(each, each.record(neutral) if type(each) in KINDS.values() else None) for each in self.criteria]
        levels = self.levels
        return NativeStep(self.model, self.tasks, levels, records, self.limits, self._scale, self.damping)

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
        if type(constraints) is not tuple or constraints:
            constraints = checked_constraints(constraints)
        native, check = self._native, self.model.check_configuration
        last = self._still if previous is None else check_tangent(self.model, previous, "previous velocity")
        curved = None
        if not self._curved.is_empty:
            q = check(q)
            curved = self._curved.at(q, last * self.dt)
        if native is not None and (curved is None or curved.is_plain):
            if aims is not self._aims:
                self._is_aimed, self._aims = native.aim(aims), aims
            if not self._is_aimed:
                return self._by_reference(check(q), last, aims, constraints, curved)
            step = None
            if native.is_alone and isinstance(q, np.ndarray) and q.dtype == float and q.shape == native.q.shape:
                step = self._by_kernel(native, q, last, aims, constraints, curved)
            if step is None and (curved is None or not native.is_alone):
                step = self._by_kernel(native, check(q), last, aims, constraints, curved)
            if step is not None:
                return step
            assert curved is not None, "the kernel refuses a configuration that was checked"
        return self._by_reference(check(q), last, aims, constraints, curved)

    def _by_reference(
        self,
        start: Array,
        last: Array,
        aims: Sequence[Any],
        constraints: Sequence[VelocityConstraint],
        curved: CurvedStep | None,
    ) -> VelocityStep:
        dt, scale = self.dt, self._scale
        curved = self._curved.at(start, last * dt) if curved is None else curved
        state = self.levels.state(start, aims, dt, last)
        rows = self.levels.step_rows(state, aims)
        closures = self.levels.closures(state, rows)
        rolling, own = self._rolling(start), self._constraints(constraints)
        names, hard = _unzipped([*rolling, *closures, *own])
        H, g = combine(self.criteria, state)
        found = curved.solve(
            [*hard, *self.levels.levels(state, rows, self.damping)],
            scale[:, None] * H * scale,
            scale * g * dt,
            get_backend(self.backend).name,
        )
        v = scale * found.x * (1.0 - ROUNDING) / dt
        return VelocityStep(
            v,
            self._step_levels(found.residuals[len(hard) :], found.freedom[len(hard) :]),
            self.levels.residuals(rows, v * dt, dt),
            self.levels.residuals(rows, np.zeros(len(v)), dt),
            self._unmet(names, hard, found.residuals, curved, found.x),
            self._limits_active(curved.at_bounds(found.x), curved, found.x),
            {n: criterion.value(state, v) for n, criterion in zip(self._criterion_names, self.criteria, strict=True)},
        )

    def _by_kernel(
        self,
        native: NativeStep,
        start: Array,
        last: Array,
        aims: Sequence[Any],
        constraints: Sequence[VelocityConstraint],
        curved: CurvedStep | None,
    ) -> VelocityStep | None:
        """None when the kernel does not take `start`, or a level leads out of a curved limit."""
        levels = self.levels
        bent = [] if curved is None else curved.levels
        rolling = self._rolling(start) if self.limits.bases else []
        constrained = self._constraints(constraints) if constraints else []
        extra = NO_LEVELS
        if bent or rolling or constrained:
            extra = ExtraLevels([*bent, *(level for _, level in rolling)], [level for _, level in constrained])
        native.q[...], native.previous[...] = start, last
        if native.is_alone:
            found = native.run(extra, None)
            if found is None or not (curved is None or curved.contain(found.points)):
                return None
            errors, residuals = found.errors[native.order], found.residuals[native.order]
            costs = dict(zip(self._criterion_names, found.costs, strict=True))
        else:
            state = levels.state(start, aims, self.dt, last)
            rows = {i: levels.step_rows_of(i, state, aims[i]) for i in native.other_tasks}
            scaled = {i: levels.parts_of(i, state, own) for i, own in rows.items()}
            if not native.closes_loops:
                rolling += levels.closures(state, rows)
                extra = ExtraLevels([*bent, *(level for _, level in rolling)], extra.after)
            others = [self.criteria[i] for i in native.other_criteria]
            extra = extra._replace(others=scaled) if scaled else extra
            found = native.run(extra, combine(others, state) if others else None)
            if found is None or not (curved is None or curved.contain(found.points)):
                return None
            errors, residuals = np.zeros((2, len(self.tasks), 2))
            errors[native.native_tasks], residuals[native.native_tasks] = found.errors, found.residuals
            for i, own in rows.items():
                errors[i] = levels.residuals_of(i, own, np.zeros(self.model.nv), self.dt)
                residuals[i] = levels.residuals_of(i, own, found.v * self.dt, self.dt)
            values = dict(zip(native.native_criteria, found.costs, strict=True))
            values |= {i: self.criteria[i].value(state, found.v) for i in native.other_criteria}
            costs = {name: values[i] for i, name in enumerate(self._criterion_names)}
        if native.closes_loops and levels.loops:
            closures = native.closures(len(bent) + len(rolling))
            rolling += [(loop.name, level) for (_, loop), level in zip(levels.loops, closures, strict=True)]
        names, hard = _unzipped([*rolling, *constrained])
        first = len(bent) + len(hard)
        point = found.points[-1]
        return VelocityStep(
            found.v,
            self._step_levels(found.level_residuals[first:], found.freedom[first:]),
            residuals,
            errors,
            self._unmet(names, hard, found.level_residuals[len(bent) :], curved, point) if first else (),
            self._limits_active(found.active, curved, point) if found.active or curved is not None else (),
            costs,
        )

    def _step_levels(self, level_residuals: Sequence[Array], freedom: Sequence[int]) -> tuple[StepLevel, ...]:
        """The levels of a step as results. freedom: before each level, and at the end."""
        counts = self.levels.counts
        if len(level_residuals) != len(counts):
            ends = np.cumsum(counts).tolist()
            level_residuals = [
                np.concatenate(level_residuals[end - n : end]) for n, end in zip(counts, ends, strict=True)
            ]
            freedom = [freedom[0], *(freedom[end] for end in ends)]
        return tuple(map(StepLevel, self.levels.priorities, self._level_names, level_residuals, freedom[1:]))

    def _rolling(self, q: Array) -> list[tuple[str, Level]]:
        """How reports call the levels of the wheels, before the loop closures, and these."""
        return [
            (f"rolling of {base.joint}", rolling_level(base, float(q[base.q + 2]), self._scale))
            for base in self.limits.bases
        ]

    def _constraints(self, constraints: Sequence[VelocityConstraint]) -> list[tuple[str, Level]]:
        """The constraints of the levels after the loop closures."""
        equations, inequalities = constraint_levels(constraints, self._scale, self.dt)
        return [*equations, *inequalities]

    def _unmet(
        self,
        names: Sequence[str],
        hard: Sequence[Level],
        level_residuals: Sequence[Array],
        curved: CurvedStep | None,
        x: Array,
    ) -> tuple[str, ...]:
        """What no motion closes of a loop, its step does not miss."""
        outside = [] if curved is None else [f"position limits of {joint}" for joint in curved.unmet(x)]
        loops = {loop.name for _, loop in self.levels.loops}
        missed = []
        for name, level, own in zip(names, hard, level_residuals, strict=False):
            size = np.sqrt((level.J**2).sum(axis=1))
            if ((abs(own) > MET * size) & ((size > 0.0) | (name not in loops))).any():
                missed.append(name)
        return (*outside, *missed)

    def _limits_active(self, active: Iterable[int], curved: CurvedStep | None, x: Array) -> tuple[str, ...]:
        own = [self._joint_of[k] for k in active]
        if curved is None:
            return tuple(dict.fromkeys(own))
        names = {*own, *curved.active(x)}
        return tuple(dict.fromkeys(name for name in self._joint_of if name in names))


def _unzipped(named: Sequence[tuple[str, Level]]) -> tuple[list[str], list[Level]]:
    return [name for name, _ in named], [level for _, level in named]
