"""A tool's path past singularities: slower, at most so far beside it, or in another posture."""

from __future__ import annotations

import enum
from collections.abc import Generator
from copy import copy
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel, solvable_model
from ..motion.motion import Motion
from ..progress import at_once, scaled
from ..tasks import PoseTask
from ..trajectories.motion_limits import MotionLimits
from .beside import away_in_time, deviating, inside_limits, kept_in_time, with_halves
from .led_postures import ROUTES, SLOWER, STARTS, led_from
from .postures_along import PosturesAlong, PostureSequence
from .schedule import scheduled
from .slower import LeapError, slower_sequence
from .tool_path import ToolPath, deviation

EXACT = (1e-4, 1e-3)  # [m], [rad] that a tool on its path may be beside it, for splines


class Past(enum.StrEnum):
    """What is done at singularities."""

    SLOW_DOWN = "slow-down"
    DEVIATE = "deviate"
    KEEP_POSTURE = "keep-posture"
    CHANGE_POSTURE = "change-posture"


@dataclass(frozen=True, eq=False)
class Traversal:
    """motion: inside the limits on positions and velocities, a sample a frame.   at: (n,) which frame of the path each
    is at, increasing.   added: frames that it takes longer.   deviation: (2 n - 1, 2) [m], [rad] from the path, at the
    samples and half-way between."""

    motion: Motion
    at: Array
    added: int
    deviation: Array


def traverse_steps(
    model: RobotModel,
    task: PoseTask,
    poses: object,
    q0: Array | None = None,
    dt: float = 1.0 / 24.0,
    past: str = Past.SLOW_DOWN,
    position: float = 0.01,
    orientation: float = 0.05,
) -> Generator[float, None, Traversal]:
    """Lead the tip of a robot through `poses` (F, 4, 4), one each dt [s].

    q0: (nq,) where the nearest posture is looked for; None: the middle of the joints' limits.
    past: "slow-down": along the path exactly, from rest to rest, no faster than asked but for single frames beside a
    singularity (up to a fifth) and its ends; "deviate": in time, by at most `position` [m] and `orientation` [rad]
    beside the path; "keep-posture": in time and along the path, in the branch that it begins in; "change-posture": in
    time and along the path, from whatever posture allows it.
    Positions, velocities and accelerations are inside the limits (velocities that are absent: usual ones).
    An arm of up to six joints with a closed form takes the best of its few postures at each pose, but to deviate. Any
    other robot moves in itself to come past; with balls or a floating base it can only deviate. To slow down or to
    deviate, the path begins in the nearest posture that allows it, of eight at most.
    Raises TaskError where no such path was found, for a task that leaves an axis free, and for a robot without joints
    that move.
    """
    targets = _checked(task, poses, dt, past, position, orientation)
    if not solvable_model(model).nv:
        raise TaskError(f"{task.name}: {model.name!r} has no joints that move")
    accelerations = {"acceleration": _within_a_frame(model, dt)}
    limits = MotionLimits.of(model, accelerations)
    limited = copy(model)
    limited.velocity = limits.velocity
    start = model.limits.middle(model.neutral()) if q0 is None else model.check_configuration(q0)
    along = PosturesAlong(limited, task, ToolPath(targets), start)
    if along.has_balls and past != Past.DEVIATE:
        raise TaskError(f"{task.name}: {model.name!r} has balls or a floating base, and can only deviate, not {past}")
    first = along.unwound(along.starts(), start)
    if not len(first):
        raise TaskError(f"{task.name}: the first pose of its path cannot be reached")
    if along.are_few:
        first = first[np.argsort(abs(first - start).max(axis=1), kind="stable")]
    first = first[:STARTS]
    frames = len(targets)
    halves = np.arange(2 * frames - 1) / 2.0
    bound = (position, orientation)
    if past == Past.DEVIATE:
        q = yield from deviating(along, first, dt, bound)
    else:
        if past == Past.SLOW_DOWN and frames > 1:
            along, sequence = yield from _slower(along, first, dt)
            found = scheduled(along, sequence, accelerations, dt)
            count = int(np.ceil(found.duration / dt - 1e-6))
            times = np.minimum(dt * np.arange(2 * count + 1) / 2.0, found.duration)
            q = with_halves(found.sample(times[::2]))
            halves = found.places(along.path, times, along.tips(q))
        else:
            done = 0.0
            if not along.are_few:
                routes = ROUTES if past == Past.CHANGE_POSTURE else 1
                done = 0.5
                along = yield from scaled(led_from(along, first, dt, (), routes), 0.0, done)
                first = along.starts()
            led = kept_in_time if past == Past.KEEP_POSTURE else away_in_time
            steps = led(along, first if past == Past.CHANGE_POSTURE else first[:1], dt)
            sequence = yield from scaled(steps, done, 1.0)
            q = inside_limits(limited, sequence.q, dt)
    off = deviation(along.path.at(halves), along.tips(q))
    motion = Motion.of(model, dt * np.arange(len(q[::2])), q[::2])
    share = abs(motion.v) / limits.velocity
    most = off.max(axis=0)
    wrong = ""
    if share.max(initial=0.0) > 1.0 + 1e-9:
        frame = int(share.max(axis=1).argmax())
        wrong = f"the joints would be {share.max():.3g} times too fast at frame {frame}"
    elif past == Past.DEVIATE and (most > bound).any():
        wrong = f"the tool would be {most[0]:.3g} m and {most[1]:.3g} rad beside its path"
    elif past != Past.DEVIATE and (off[::2].max(axis=0) > EXACT).any():
        wrong = f"the tool would be {off[::2, 0].max():.3g} m and {off[::2, 1].max():.3g} rad beside its path"
    if wrong:
        raise TaskError(f"{task.name}: no such path past the singularity was found, {wrong}: take another way past it")
    return Traversal(motion, halves[::2], len(motion) - frames, off)


traverse = at_once(traverse_steps, Traversal)


def _slower(
    along: PosturesAlong, first: Array, dt: float
) -> Generator[float, None, tuple[PosturesAlong, PostureSequence]]:
    """Yield the share done now and then; return `slower_sequence` from the first posture, or on the first route of an
    arm that moves in itself, from which the tool need not leap, and what it is of."""
    done = 0.0
    if along.are_few:
        for number, start in enumerate(first):
            low, high = number / len(first), (number + 1) / len(first)
            try:
                return along, (yield from scaled(slower_sequence(along, start[None], dt), low, high))
            except LeapError:
                if number == len(first) - 1:
                    raise
    while True:
        half, end = 0.25 + 0.75 * done, 0.5 + 0.5 * done  # each try is half of what is left
        led = yield from scaled(led_from(along, first, dt, SLOWER, 1), done, half)
        try:
            return led, (yield from scaled(slower_sequence(led, led.starts(), dt), half, end))
        except TaskError:
            first, done = led.untried, end
            if not len(first):
                raise


def _checked(task: PoseTask, poses: object, dt: float, past: str, position: float, orientation: float) -> Array:
    """(F, 4, 4). Raises TaskError."""
    if not isinstance(task, PoseTask):
        raise TaskError(f"a path past a singularity needs a PoseTask, not {shown(task)}")
    if not task.weights.all():
        raise TaskError(f"{task.name}: a path past a singularity needs the whole pose of its tip, and no axis free")
    if not (isinstance(dt, (int, float, np.number)) and 0.0 < dt < np.inf):
        raise TaskError(f"dt must be a positive number of seconds, not {shown(dt)}")
    if not isinstance(past, str) or past not in tuple(Past):
        raise TaskError(f"past must be one of {', '.join(Past)}, not {shown(past)}")
    for name, value in (("position", position), ("orientation", orientation)):
        if not (isinstance(value, (int, float, np.number)) and 0.0 <= value < np.inf):
            raise TaskError(f"{name} must be a number from 0 on, not {shown(value)}")
    try:
        given = list(poses)  # type: ignore[call-overload]
    except TypeError:
        raise TaskError(f"{task.name}: a path must be a list of poses, not {shown(poses)}") from None
    if not given:
        raise TaskError(f"{task.name}: a path needs at least one pose")
    return np.array([task.checked_target(pose) for pose in given])


def _within_a_frame(model: RobotModel, dt: float) -> Array:
    """(nv,) accelerations that reach the limits on velocities in one frame: what a bake allows where there are none."""
    return np.asarray(MotionLimits.of(model).velocity / dt)
