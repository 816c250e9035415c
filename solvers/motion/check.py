"""Check a motion as it stands: limits on positions, velocities and accelerations, and what its tasks are left with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.backend import get_backend
from ...robokin.collision import CollisionModel
from ...robokin.configuration import check_vector
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import swing_twist
from ...robokin.spatial.swing_twist import Cone
from ...robokin.units import FORCES, coordinate_units, counted, freedom_units
from ..descent.data import compile_ik
from ..descent.steps import reachable
from ..ik.problem import IKProblem
from ..ik.tip_ik import is_plain
from ..limits.viability import dof_coordinates
from ..progress import at_once, scaled
from ..results import Status, named_residuals, part_names
from ..tasks import FrameTask, Task
from ..velocity.recent_problems import own_copies
from ..velocity.task_levels import TaskLevels, checked_tasks, tolerances
from .collisions import collision_violations
from .dynamics import effort_rounding, least_efforts
from .more_limits import more_violations, tipping_violations
from .motion import Motion, checked_motion, coordinate_names, mean_steps, velocity_names
from .rolled import wheel_slip
from .singularities import MotionSingularities
from .task_check import motion_residuals, motion_targets, poses_of
from .violation import Violation

ROLLED = 1e-9  # [m] of slip that is none
_CHUNK = 64  # samples between two reports of progress


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """violations: by frame, then joint. residuals: (F, tasks, 2) position [m] and orientation [rad] errors; of other
    tasks: of their parts.   parts: their names; None: those of tasks on one tip.
    slip: (F, wheeled bases) [m], since the sample before.   singularities: how near tools are to them, if that was
    asked for; they break no limit.
    statuses: per frame; CONVERGED when every residual is within its tolerance and the positions inside their limits,
    LIMIT when only the positions are not, OUT_OF_REACH when a distance certificate says so, EMPTY when no task has an
    influence, else MAX_ITERATIONS. Judged, as in `track`, are the tasks whose influence is 1."""

    violations: tuple[Violation, ...]
    residuals: Array
    statuses: tuple[Status, ...]
    slip: Array
    parts: Sequence[tuple[str, ...]] | None = None
    singularities: MotionSingularities | None = None

    @property
    def ok(self) -> bool:
        """Every limit kept and every task met."""
        return not self.violations and all(s in (Status.CONVERGED, Status.EMPTY) for s in self.statuses)

    @property
    def frames_broken(self) -> int:
        """How many samples break a limit."""
        return len({violation.frame for violation in self.violations})

    def summary(self) -> str:
        """One line."""
        kinds = Counter(violation.kind for violation in self.violations)
        missed = sum(s not in (Status.CONVERGED, Status.EMPTY) for s in self.statuses)
        limits = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        near = self.singularities.near if self.singularities else ()
        more = f"; near a singularity {len({each.frame for each in near})}" if near else ""
        many = counted(missed, "misses a task", "miss a task")
        return f"{counted(len(self.statuses), 'frame')}: {many}; limits broken: {limits or 'none'}{more}"

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "frames": [
                {
                    "frame": frame,
                    "status": str(status),
                    "residuals": named_residuals(residuals, self.parts),
                }
                for frame, (status, residuals) in enumerate(zip(self.statuses, self.residuals, strict=True))
            ],
            "violations": [violation.to_dict() for violation in self.violations],
            **({"warnings": [each.to_dict() for each in self.singularities.near]} if self.singularities else {}),
            **({"slip": [float(most) for most in self.slip.max(axis=0)]} if self.slip.size else {}),
        }


def check_motion_steps(
    motion: Motion,
    tasks: Sequence[Task] = (),
    targets: object | None = None,
    float32: bool = False,
    gravity: object | None = None,
    collisions: CollisionModel | None = None,
    singularity: float = 0.0,
    limits: Mapping[str, object] | None = None,
    support: Sequence[Array] | None = None,
    efforts: bool = True,
) -> Generator[float, None, MotionCheck]:
    """Check limits of every sample and the tasks, with their targets (F, tasks, 4, 4) or each its own target.

    Tasks that are not all on one tip and of one priority take a list of targets per frame, each in its task's terms.

    Positions are compared as they are given. Velocities and accelerations are differences of rounded positions, so
    they are allowed what rounding of the given positions and times can make of them (about 1e-15/dt and 1e-15/dt^2).
    `float32`: the positions come from single-precision channels; then positions are allowed one rounding (6e-8
    relative) and the differences accordingly. gravity: (3,) [m/s^2] in the root frame; where it is given, what the
    drives must give (`least_efforts`) is compared with the effort limits, too, as far as samples show it.
    collisions: what may not touch, looked at in each sample and half-way to the next. singularity: a sample with a
    smaller singular value is near one; 0: it is not looked. limits: "jerk", "power" (which needs gravity) and "tools",
    as of `retime`, besides those of the joints. support: points (n, 3) [m] in the root frame that the robot stands on
    in each sample; with gravity its zero-moment point is compared with their hull. efforts: whether, with gravity,
    efforts are compared. Raises TaskError for targets of the wrong shape.
    """
    eps = float(np.finfo(np.float32 if float32 else np.float64).eps)
    slip = wheel_slip(checked_motion(motion).model, motion.q)
    violations = _violations(motion, eps, float32, gravity if efforts else None) + _slips(motion, slip, eps)
    violations += _more(motion, eps, gravity, limits, support)
    violations += collision_violations(motion, collisions) if collisions is not None else []
    if not isinstance(singularity, (int, float, np.number)):
        raise TaskError(f"singularity must be a number, not {shown(singularity)}")
    violations.sort(key=lambda violation: violation.frame)
    singular = MotionSingularities.of(motion, checked_tasks(tasks), singularity) if singularity > 0.0 else None
    outside = {violation.frame for violation in violations if violation.kind in ("lower", "upper")}
    if not is_plain(checked_tasks(tasks)):
        found = yield from _check_levels(motion, tasks, targets, violations, outside, slip)
        return replace(found, singularities=singular)
    plain = [task for task in tasks if isinstance(task, FrameTask)]
    residuals = yield from scaled(task_residuals_steps(motion.model, motion.q, plain, targets), 0.0, 0.8)
    statuses = yield from scaled(_statuses(motion, plain, targets, residuals, outside), 0.8, 1.0)
    return MotionCheck(tuple(violations), residuals, statuses, slip, singularities=singular)


check_motion = at_once(check_motion_steps, MotionCheck)


def _check_levels(
    motion: Motion,
    tasks: Sequence[Task],
    targets: object | None,
    violations: Sequence[Violation],
    outside: set[int],
    slip: Array,
) -> Generator[float, None, MotionCheck]:
    """`check_motion_steps` of tasks that the kernel does not know."""
    levels = TaskLevels(motion.model, own_copies(tasks))
    wanted = motion_targets(levels, targets, motion)
    residuals = yield from motion_residuals(levels, wanted, motion)
    whole = np.array([task.influence >= 1.0 for task in levels.tasks], bool)
    met = (residuals <= tolerances(levels.tasks))[:, whole].all(axis=(1, 2))
    poses = [i for i in poses_of(levels.tasks) if whole[i]]
    problem = IKProblem(motion.model, [levels.tasks[i] for i in poses])
    is_empty = not any(task.influence for task in levels.tasks)
    statuses = []
    for frame, each in enumerate(wanted):
        if is_empty:
            statuses.append(Status.EMPTY)
        elif met[frame]:
            statuses.append(Status.LIMIT if frame in outside else Status.CONVERGED)
        else:
            far = problem.search.excess([each[i] for i in poses]).any()
            statuses.append(Status.OUT_OF_REACH if far else Status.MAX_ITERATIONS)
    return MotionCheck(tuple(violations), residuals, tuple(statuses), slip, part_names(levels.tasks))


def _more(
    motion: Motion, eps: float, gravity: object | None, limits: object, support: Sequence[Array] | None
) -> list[Violation]:
    g = None if gravity is None else check_vector(gravity, 3, "gravity")
    found = []
    if limits is not None:
        found += more_violations(motion, limits, g, *_difference_rounding(motion, eps, eps * abs(motion.q)))
    if support is not None and g is not None:
        found += tipping_violations(motion, g, support)
    return found


def _slips(motion: Motion, slip: Array, eps: float) -> list[Violation]:
    found = []
    for i, base in enumerate(motion.model.rolling_bases):
        own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
        arm = np.array([1.0, 1.0, np.hypot(*base.centre) + base.separation])
        size = abs(motion.q[:, own]) @ arm + abs(motion.q[:, wheels]) @ abs(base.rolled)
        allowed = np.full(len(motion), ROLLED)
        allowed[1:] += 4.0 * eps * (size[1:] + size[:-1])
        for frame in np.flatnonzero(slip[:, i] > allowed):
            found.append(Violation(int(frame), base.joint, "slip", float(slip[frame, i]), float(allowed[frame]), "m"))
    return found


def task_residuals_steps(
    model: RobotModel, q: Array, tasks: Sequence[FrameTask], targets: object | None = None
) -> Generator[float, None, Array]:
    """Yield the share done now and then; return (F, tasks, 2) norms of the position [m] and orientation [rad] errors
    over the axes not free, for q (F, nq)."""
    targets = task_targets(tasks, targets, len(q))
    residuals = np.zeros((len(q), len(tasks), 2))
    if not tasks:
        return residuals
    placements = get_backend().frame_placements(model.tree, q)
    for i, task in enumerate(tasks):
        tips = placements[:, model.link_index(task.link)] @ task.offset
        used = task.weights != 0.0
        for frame, (T, target) in enumerate(zip(tips, targets[:, i], strict=True)):
            e, _ = task.tip_rows(T, target)
            if task.frame == "tip":
                e = (e.reshape(2, 3) @ T[:3, :3]).ravel()
            e = e * used
            residuals[frame, i] = np.linalg.norm(e[:3]), np.linalg.norm(e[3:])
            if frame % _CHUNK == 0:
                yield (i + frame / len(q)) / len(tasks)
    return residuals


task_residuals = at_once(task_residuals_steps, Array)


def task_targets(tasks: Sequence[FrameTask], targets: object | None, frames: int) -> Array:
    """(frames, tasks, 4, 4) from targets of that shape, or of each task's own when None. Raises TaskError."""
    if targets is None:
        own = np.array([task.target for task in tasks]).reshape(len(tasks), 4, 4)
        return np.broadcast_to(own, (frames, len(tasks), 4, 4))
    try:
        array = float_array(targets)
    except ValueError:
        raise TaskError(f"targets must be numbers of shape (frames, tasks, 4, 4), not {shown(targets)}") from None
    if array.ndim == 3 and len(tasks) == 1:
        array = array[:, None]
    if array.shape != (frames, len(tasks), 4, 4):
        raise TaskError(f"targets must have shape ({frames}, {len(tasks)}, 4, 4), not {array.shape}")
    if not np.isfinite(array).all():
        frame, task = (int(i) for i in np.argwhere(~np.isfinite(array))[0][:2])
        raise TaskError(f"{tasks[task].name}: the target of frame {frame} is not finite")
    return array


def _violations(motion: Motion, eps: float, allow_positions: bool, gravity: object | None) -> list[Violation]:
    model = motion.model
    found: list[Violation] = []

    def collect(names: list[str], units: list[str], kind: str, values: Array, limits: Array, broken: Array) -> None:
        for frame, i in np.argwhere(broken):
            value, limit = float(values[frame, i]), float(limits[i])
            found.append(Violation(int(frame), names[i], kind, value, limit, units[i]))

    q_names = [name for joint in model.moving_joints for name in coordinate_names(joint)]
    v_names = [name for joint in model.moving_joints for name in velocity_names(joint)]
    q_units = [unit for joint in model.moving_joints for unit in coordinate_units(joint)]
    v_units = [unit for joint in model.moving_joints for unit in freedom_units(joint)]
    speeds, rates = ([f"{unit}/{per}" for unit in v_units] for per in ("s", "s\u00b2"))
    rounding = eps * abs(motion.q)
    slack = rounding if allow_positions else 0.0
    collect(q_names, q_units, "lower", motion.q, model.lower, motion.q < model.lower - slack)
    collect(q_names, q_units, "upper", motion.q, model.upper, motion.q > model.upper + slack)
    for cone in model.limits.cones:
        found += _cone_violations(cone, motion.q, 8.0 * eps if allow_positions else 0.0)
    v_slack, a_slack = _difference_rounding(motion, eps, rounding)
    v, a = motion.v, motion.a
    collect(v_names, speeds, "velocity", v, model.velocity, abs(v) > model.velocity + v_slack)
    collect(v_names, rates, "acceleration", a, model.acceleration, abs(a) > model.acceleration + a_slack)
    if gravity is not None:
        efforts, _ = least_efforts(motion, check_vector(gravity, 3, "gravity"))
        slack = effort_rounding(motion, v_slack, a_slack) + efforts.sampling_error(model.effort)
        forces = [FORCES[unit] for unit in v_units]
        is_passed = abs(efforts.value) > model.effort + slack
        collect(v_names, forces, "effort", efforts.value, model.effort, is_passed)
    return found


def _cone_violations(cone: Cone, q: Array, tolerance: float) -> list[Violation]:
    own = q[:, cone.q : cone.q + 4]
    outside = ~swing_twist.contains(cone, own, tolerance)
    measure, twist = swing_twist.measures(cone, own)
    found = []
    for frame in np.flatnonzero(outside):
        if measure[frame] > 1.0:
            found.append(
                Violation(int(frame), f"{cone.joint}/swing", "upper", float(measure[frame]), 1.0, "of the cone")
            )
        if cone.has_twist and not cone.lower <= twist[frame] <= cone.upper:
            kind, limit = ("lower", cone.lower) if twist[frame] < cone.lower else ("upper", cone.upper)
            found.append(Violation(int(frame), f"{cone.joint}/twist", kind, float(twist[frame]), limit, "rad"))
    return found


def _difference_rounding(motion: Motion, eps: float, rounding: Array) -> tuple[Array, Array]:
    """What rounding of positions and times can change in v and a; each (F, nv)."""
    coordinate = dof_coordinates(motion.model)
    # Ball and floating joints: every entry of a unit quaternion rounds, and lengths mix in the child frame.
    whole = 4.0 * (eps + rounding.max(axis=1, initial=0.0))[:, None]
    per_dof = np.where(coordinate >= 0, rounding[:, coordinate] if motion.model.nq else 0.0, whole)
    v_slack, a_slack = np.zeros_like(motion.v), np.zeros_like(motion.a)
    if len(motion) > 1:
        clock = 2.0 * np.finfo(np.float64).eps * abs(motion.times[1:, None])
        v_slack[1:] = (per_dof[1:] + per_dof[:-1] + clock * abs(motion.v[1:])) / mean_steps(motion.times, 1)
        a_slack[1:] = (v_slack[1:] + v_slack[:-1] + clock * abs(motion.a[1:])) / mean_steps(motion.times, 2)
    return v_slack, a_slack


def _statuses(
    motion: Motion, tasks: Sequence[FrameTask], targets: object | None, residuals: Array, outside: set[int]
) -> Generator[float, None, tuple[Status, ...]]:
    if not any(task.influence for task in tasks):
        return (Status.EMPTY,) * len(motion)
    data = compile_ik(motion.model, tasks, motion.model.limits)
    wanted = task_targets(tasks, targets, len(motion))
    met = (residuals <= data.records["tolerance"]).all(axis=(1, 2))
    statuses = []
    for frame in range(len(motion)):
        if met[frame]:
            statuses.append(Status.LIMIT if frame in outside else Status.CONVERGED)
        elif reachable(data, wanted[frame]):
            statuses.append(Status.MAX_ITERATIONS)
        else:
            statuses.append(Status.OUT_OF_REACH)
        if frame % _CHUNK == 0:
            yield frame / len(motion)
    return tuple(statuses)
