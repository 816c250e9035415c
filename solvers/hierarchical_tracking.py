"""Following targets of tasks of any kind, with strict priorities and criteria, frame by frame.

A frame is one step of the hierarchy inside the viability bounds (`velocity_step.py`), linearised again where it leads
until it does not change: so that what is curved is met at the frame too, not only to first order. All linearisations of
a frame share its bounds, so position, velocity and acceleration limits hold as they do for one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..robokin.backend import get_backend
from ..robokin.configuration import check_tangent
from ..robokin.drive import RollingBase
from ..robokin.errors import TaskError
from ..robokin.model import RobotModel
from .coupled_limits import ball_within, base_within
from .criteria import Criterion, checked_criteria, combine
from .hierarchical_ik import HierarchicalIK, part_names
from .hierarchy import Level, solve_hierarchy
from .ik_engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from .ik_reference import roll
from .posing import LARGEST_STEP, floating_bounds
from .state import State
from .task_levels import TaskLevels, tolerances
from .tasks import Rows, Task
from .tracking import EMPTY, TrackResult
from .tracking_reference import LATE
from .viability import StepLimits

Array = np.ndarray

LINEARISATIONS, UNHURRIED = 10, 12  # of a frame, and of one that is looked at without limits on speed
RESTORING = 4  # of these, at the end: without criteria, of the levels above the first one that cannot be met only
UNMET = 1e-6  # of a row: more than this is lacking of a level that cannot be met
UNCHANGED = 1e-9  # radians or L: a frame that changes by less is done
ROUNDING = 4.0 * np.finfo(float).eps  # by which steps are shortened, so that their ends are inside the limits too
REPORT = 8  # frames between two reports of progress


def follow_levels(
    model: RobotModel,
    tasks: Sequence[Task],
    targets: object,
    criteria: Sequence[Criterion],
    q0: Array | None,
    dt: float,
    start_velocity: object | None,
    seed: int,
    backend: str,
    progress: Callable[[int, int], object] | None,
) -> TrackResult:
    """`track` for tasks that its kernel does not know. targets: a list for each frame, one target per task in its own
    terms. The first frame is solved as a pose, tasks that ask for a velocity left out."""
    tracker = HierarchicalTracker(model, tasks, criteria, dt, backend)
    wanted = tracker.check_targets(targets)
    tracker.start(wanted[0], q0, start_velocity, seed)
    for done, each in enumerate(wanted[1:], 1):
        if progress is not None and done % REPORT == 0 and progress(done, len(wanted)) is False:
            break
        tracker.step(each)
    if progress is not None:
        progress(len(tracker.frames), len(wanted))
    return tracker.result(wanted)


class HierarchicalTracker:
    """Tasks and criteria of a model, and where the robot stands: `start` first (or `stand`), then `step` for every
    frame, or `run` for many. Arguments and errors: see `track`."""

    chunk = REPORT

    def __init__(
        self,
        model: RobotModel,
        tasks: Sequence[Task],
        criteria: Sequence[Criterion] = (),
        dt: float = 1.0 / 24.0,
        backend: str = "auto",
    ) -> None:
        self.model, self.dt, self.backend = model, dt, backend
        self.levels = TaskLevels(model, tasks, backend)
        self.tasks = self.levels.tasks
        self.criteria = checked_criteria(criteria)
        self.limits = StepLimits.of(model, dt)
        self._static = [i for i, task in enumerate(self.tasks) if not task.is_velocity]
        # Where a motion starts the criteria have no say: from there on they lead to their optimum at their own pace.
        self.problem = HierarchicalIK(model, [self.tasks[i] for i in self._static], (), backend)
        self.tolerance = tolerances(self.tasks)
        self.frames: list[tuple[int, Array, Array, int, Array, str]] = []
        neutral = self.levels.state(model.neutral(), self.levels.targets, dt)
        self._scale = neutral.scale
        for criterion in self.criteria:
            criterion.check(neutral)
        self._backend = get_backend(backend)

    def check_targets(self, targets: object) -> list[list[Any]]:
        """Per frame, the checked targets. Raises TaskError."""
        if isinstance(targets, np.ndarray) and targets.ndim == 3 and len(self.tasks) == 1:
            targets = targets[:, None]
        try:
            frames = list(targets)  # type: ignore[call-overload]
        except TypeError:
            raise TaskError("targets must be one set of targets per frame") from None
        if not frames:
            raise TaskError("there are no targets to follow")
        return [self.levels.checked_targets(frame) for frame in frames]

    @property
    def v(self) -> Array:
        """(nv,) the velocity with which the last frame was reached."""
        return self.last / self.dt

    def stand(self, q: object, velocity: object | None = None) -> None:
        """Continue from a configuration (nq,), moved inside the limits, with a velocity (nv,), 0 unless given; fix
        there what is counted from the start."""
        self.q = self.model.limits.clamp(self.model.check_configuration(q))
        self.last = self.limits.viable(self.q, self._velocity(velocity) * self.dt)
        self._origin = self.levels.state(self.q, self.levels.targets, self.dt)

    def run(self, targets: Sequence[Sequence[Any]]) -> TrackResult:
        """As many frames on as there are sets of checked targets."""
        self.start_velocity, self.frames = self.v, []
        for each in targets:
            self.step(each)
        return self.result(targets)

    def start(
        self, targets: Sequence[Any], q0: Array | None = None, start_velocity: object | None = None, seed: int = 0
    ) -> TrackResult:
        """Solve the first frame as a pose, towards checked targets; fix at q0 what is counted from the start."""
        found = self.problem.solve([targets[i] for i in self._static], q0, seed, find_reason=False)
        self.q = found.q
        self.last = self.limits.viable(found.q, self._velocity(start_velocity) * self.dt)
        self.start_velocity = self.last / self.dt
        before = found.q if q0 is None else self.model.limits.clamp(self.model.check_configuration(q0))
        self._origin = self.levels.state(before, targets, self.dt)
        residuals = np.zeros((len(self.tasks), 2))
        residuals[self._static] = found.residual_array
        code = EMPTY if not self.tasks else CONVERGED if (residuals <= self.tolerance).all() else NOT_CONVERGED
        self.frames = [(code, found.q, residuals, found.iterations, np.zeros(self.model.nv, bool), "")]
        return self.result([targets])

    def step(self, targets: Sequence[Any]) -> None:
        """One frame on, towards checked targets."""
        wanted = [self._started(i, target) for i, target in enumerate(targets)]
        q, moved, residuals, count, held = self._frame(wanted, self.limits, LINEARISATIONS)
        code, behind = EMPTY if not self.tasks else CONVERGED, np.zeros(self.model.nv, bool)
        if (residuals > self.tolerance).any():
            code = NOT_CONVERGED
            if held.any():
                unlimited = np.full(self.model.nv, np.inf)
                unhurried = replace(self.limits, largest=unlimited, change=unlimited)
                _, _, then, more, _ = self._frame(wanted, unhurried, UNHURRIED)
                count += more
                if (then <= self.tolerance).all():
                    code, behind = LATE, held
            if code != LATE and self.problem.excess([wanted[i] for i in self._static]).any():
                code = OUT_OF_REACH
        remark = self._remark(wanted) if code == NOT_CONVERGED else ""
        self.last, self.q = moved, q
        self.frames.append((code, q, residuals, count, behind, remark))

    def _started(self, i: int, target: Any) -> Any:
        """What is counted from the start is, for the diagnosis of a frame too."""
        return self.tasks[i].started(self._origin, target)

    def _remark(self, wanted: Sequence[Any]) -> str:
        """What tasks say about where a frame that is not met began."""
        last = [frame[1] for frame in self.frames[-2:]] or [self.q]
        states = [self.levels.state(q, wanted, self.dt) for q in last]
        remarks = [task.remark(states, own) for task, own in zip(self.tasks, wanted, strict=True)]
        return "; ".join(filter(None, remarks))

    def result(self, targets: Sequence[Sequence[Any]]) -> TrackResult:
        codes, q, residuals, iterations, behind, remarks = zip(*self.frames, strict=True)
        return TrackResult(
            self.problem,
            self.dt,
            self.start_velocity,
            [[self._started(i, each[i]) for i in self._static] for each in targets[: len(codes)]],
            np.array(codes, np.int32),
            np.array(q),
            np.array(residuals),
            np.array(iterations, np.int32),
            np.array(behind),
            part_names(self.tasks),
            remarks,
        )

    def _velocity(self, velocity: object | None) -> Array:
        return np.zeros(self.model.nv) if velocity is None else check_tangent(self.model, velocity, "start velocity")

    def _frame(self, targets: Sequence[Any], limits: StepLimits, most: int) -> tuple[Array, Array, Array, int, Array]:
        """Where a frame leads: q (nq,), the displacement (nv,), residuals (tasks, 2), linearisations, and the degrees
        of freedom (nv,) bool that limits on velocity or acceleration hold back."""
        levels, scale = self.levels, self._scale
        fastest = limits.largest
        lo, hi = (np.clip(side, -fastest, fastest) / scale for side in limits.bounds(self.q, self.last))
        lo, hi = np.clip(-LARGEST_STEP, lo, hi), np.clip(LARGEST_STEP, lo, hi)
        start = state = levels.state(self.q, targets, self.dt, self.last / self.dt)
        H, g = combine(self.criteria, start)
        H, g = scale[:, None] * H * scale, scale * g * self.dt
        rates = {i: levels.rows_of(i, start, targets[i]) for i, task in enumerate(self.tasks) if task.is_velocity}
        x, q, count, kept = np.zeros(self.model.nv), self.q, 0, len(levels.priorities)
        for _ in range(most):
            count += 1
            rows = self._rows(state, targets, rates, scale * x)
            hard = [level for _, level in levels.closures(state, rows)]
            above = [*floating_bounds(self.model.limits, self.model, q, levels.length), *self._rolling(q), *hard]
            # At the end what criteria have left over is a correction, the shortest: they may settle too slowly.
            led = kept == len(levels.priorities) and count <= most - RESTORING
            own_H, own_g = (H, g + H @ x) if led else (np.eye(len(x)), np.zeros(len(x)))
            wanted = levels.levels(state, rows, 0.0)[:kept]
            found = solve_hierarchy(lo - x, hi - x, [*above, *wanted], own_H, own_g, self.backend)
            x = np.clip(x + found.x, lo, hi)
            q = self._moved(scale * x, limits, lo * scale, hi * scale)
            state = levels.state(q, targets, self.dt, self.last / self.dt)
            if abs(found.x).max(initial=0.0) < UNCHANGED:
                break
            # A level that cannot be met goes on moving the robot along those above, which are curved.
            lacking = [bool(abs(own).max(initial=0.0) > UNMET) for own in found.residuals[len(above) :]]
            if count >= most - RESTORING and any(lacking):
                kept = min(kept, lacking.index(True))
        moved = self._backend.difference(self.model.tree, self.q, q)
        rows = self._rows(state, targets, rates, moved)
        residuals = levels.residuals(rows, np.zeros(self.model.nv), self.dt)
        at_side = (x <= lo) | (x >= hi)
        hurried = np.isfinite(limits.largest) | np.isfinite(limits.change)
        concerned = np.any([own.J.any(axis=0) for own in rows], axis=0) if rows else np.zeros(len(x), bool)
        return q, moved, residuals, count, at_side & hurried & concerned

    def _rows(self, state: State, targets: Sequence[Any], rates: dict[int, Rows], moved: Array) -> list[Rows]:
        """Of each task; those of velocities are counted from where the frame began, (nv,) `moved` ago, with their J at
        the middle of the way: so that a hinge is followed along its circle."""
        found = []
        middle = state.at(self._backend.integrate(self.model.tree, self.q, 0.5 * moved)) if rates else state
        for i, target in enumerate(targets):
            rows = rates.get(i)
            if rows is None:
                found.append(self.levels.rows_of(i, state, target))
                continue
            J = self.levels.rows_of(i, middle, target).J
            done = J @ moved
            found.append(Rows(J, rows.lower - done, rows.upper - done, rows.weight, rows.part))
        return found

    def _rolling(self, q: Array) -> list[Level]:
        """What wheeled bases can do: v = J_rolled (wheels)."""
        levels = []
        for base in self.model.rolling_bases:
            J = np.zeros((3, self.model.nv))
            J[:, base.v : base.v + 3] = np.eye(3)
            J[:, list(base.wheel_v)] = -base.rolled_jacobian(self.q[base.q : base.q + 3], self._wheels(base, q))
            levels.append(Level(J * self._scale, np.zeros(3), np.zeros(3)))
        return levels

    def _wheels(self, base: RollingBase, q: Array) -> Array:
        """(2,) by which the wheels have turned in the frame."""
        return q[list(base.wheel_q)] - self.q[list(base.wheel_q)]

    def _moved(self, step: Array, limits: StepLimits, lo: Array, hi: Array) -> Array:
        """(nq,) after a displacement (nv,), inside all limits, wheels rolling without slip."""
        last = self.q
        q = self.model.limits.clamp(self._backend.integrate(self.model.tree, last, step * (1.0 - ROUNDING)))
        for cone in limits.cones:
            own, at = slice(cone.v, cone.v + 3), slice(cone.q, cone.q + 4)
            if np.isfinite([limits.largest[own], limits.change[own]]).any():
                q[at] = ball_within(cone, last[at], self.last[own], lo[own], hi[own], limits.change[own], q[at])
        for base in limits.bases:
            own, at, wheels = slice(base.v, base.v + 3), slice(base.q, base.q + 3), list(base.wheel_v)
            q[list(base.wheel_q)] = last[list(base.wheel_q)] + base_within(
                base,
                last[at],
                self.last[wheels],
                self._wheels(base, q),
                limits.change[wheels],
                limits.lower[own],
                limits.upper[own],
                limits.largest[own],
            )
        roll(limits.bases, last, q)
        return q
