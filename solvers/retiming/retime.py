"""New timing for a path: its shape stays, limits hold."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import RobotModel, solvable_model
from ...robokin.spatial import quaternion
from ..motion.motion import Motion, coordinate_names
from ..motion.rolled import rolling
from ..progress import at_once, scaled
from ..trajectories.sampled import checked_duration
from . import path_speed
from .path import Path
from .path_limits import PathLimits
from .reachability import Reachability
from .smooth_timing import SmoothTiming
from .timing import ActiveLimit, Retimed, Timing
from .warp import Warp

STILL = 1e-9  # [rad, m] samples nearer than this are one
FINE = 16  # places in each interval of an animation at which its speed is taken
NEAR = 0.003  # relative: what a timing that keeps an animation's time may be off its speeds
PASSED = 1e-6  # relative: by how much a limit may be passed
ROOM = 1.5  # times what an animation has: what a joint without a limit may have, to keep its time


def retime_steps(
    model: RobotModel,
    path: object,
    limits: object = None,
    duration: float | None = None,
    *,
    as_animated: bool = False,
    gravity: object = None,
    backend: str = "auto",
) -> Generator[float, None, Retimed]:
    """The fastest motion along a path, from rest to rest.

    path: configurations (F, nq), which a cubic spline passes at equal steps of its parameter, a Motion, or a Path.
    limits: {"velocity", "acceleration", "jerk", "power" [W], each one number or (nv,); "tools": {link: {"speed" [m/s],
    "acceleration" [m/s²]}}}; the model's count too, see `MotionLimits.of`. Jerk, power and tools are limited where the
    limits have them, all at once.
    gravity: (3,) [m/s²]; where given, efforts are limited too, of what the drives give, friction and damping at full
    speed taken off.
    duration: [s] in place of the fastest: the whole is slowed down evenly.
    as_animated: no faster than a Motion is, by a monotone curve through its samples that begins and ends at rest
    (Fritsch and Carlson 1980), nor than the means of the intervals beside a sample say. Where that curve breaks no
    limit, the motion takes as long as before: of a joint without a limit what it has as it is animated is assumed,
    where that is more than usual. Pauses are not kept.

    The robot rests at corners; with a limit on the jerk also where accelerations would jump, at a position limit that
    the path follows. Limits hold between the places of the grid too. Where they are lines in the acceleration along the
    path and the square of the speed, by reachability analysis (Pham and Pham 2018); with jerk, power and accelerations
    of tools by an interior-point method, to a local optimum.
    Raises ConfigurationError for what is no path, one that leaves the position limits, a duration that is too short,
    and a path along which a joint cannot give what gravity asks for.
    """
    solvable_model(model)
    bound = PathLimits.of(model, limits, gravity)
    wanted = None if duration is None else checked_duration(duration)
    times = None
    if isinstance(path, Path) and not as_animated:
        curve = path
        rolls = rolling(model, curve.at(np.maximum(np.arange(len(path.knots)) - 1, 0), path.knots)[0])
    else:
        q, knots, times = _samples(model, path, as_animated)
        rolls = rolling(model, q)
        if len(q) == 1:
            return _resting(model, q, wanted or 0.0, bound, rolls)
        curve = Path.through(model, q, knots)
    if times is None:
        solved = yield from _Solved.steps(curve, bound, None, backend)
    else:
        total, (animated, strict) = times.sum(), _animated(curve.knots, times)
        bound = replace(bound, motion=bound.motion.no_less_than(*_largest(curve, animated)))
        solved = yield from scaled(_Solved.steps(curve, bound, strict, backend), 0.0, 0.5)
        if solved.timing.duration < total + times.max():  # it may break no limit, and then keeps its time
            animated[1] *= (1.0 + NEAR) ** 2
            as_it_was = yield from scaled(_Solved.steps(curve, bound, animated, backend), 0.5, 1.0)
            if as_it_was.timing.duration <= total:
                solved = as_it_was.lasting(total).only_longer_than(times.min() / FINE)
    timing, curved = solved.timing, solved.curved
    if wanted is not None:
        if wanted < timing.duration * (1.0 - 1e-9):
            total = timing.duration
            raise ConfigurationError(f"the path takes at least {total:.6g} s inside the limits, not {wanted:g} s")
        slower = wanted > timing.duration * (1.0 + 1e-9)
        solved = solved.lasting(wanted)
        if slower:
            solved = replace(solved, bindings=(ActiveLimit(0.0, wanted, "", "duration"),))
        timing = solved.timing
        if bound.power is not None and curved is not None and curved.share(timing) > 1.0 + PASSED:
            raise ConfigurationError(f"in {wanted:g} s a drive would need more than its power: take another duration")
    motion, own = bound.motion, (solved.warp, solved.intervals, timing, solved.bindings)
    return Retimed(model, timing.duration, motion, curve, *own, rolls)


retime = at_once(retime_steps, Retimed)


@dataclass(frozen=True, eq=False)
class _Solved:
    """The fastest timing along a path. curved: what found it, where limits are not lines."""

    intervals: Array
    timing: Timing
    bindings: tuple[ActiveLimit, ...]
    warp: Warp
    curved: SmoothTiming | None

    @classmethod
    def steps(
        cls, curve: Path, bound: PathLimits, animated: Array | None, backend: str
    ) -> Generator[float, None, _Solved]:
        """animated: (2, m) places along the path, and squares of speeds there that are not passed."""
        if bound.are_linear:
            solve = path_speed.native if get_backend(backend).name == "native" else path_speed.reference
            found = yield from Reachability(curve, bound, animated).solve_steps(solve)
            return cls(*found, Warp(curve.knots[[0, -1]], 1), None)
        rests = curve.corners | (curve.bends if bound.has_jerk else False)
        rests[[0, -1]] = True
        curved = SmoothTiming(curve, curve.knots[rests], bound, animated)
        return cls(curved.intervals, *(yield from curved.solve_steps()), curved.warp, curved)

    def lasting(self, duration: float) -> _Solved:
        """Evenly slower, so that it takes a duration [s]."""
        factor = duration / self.timing.duration
        timing = self.timing.stretched(factor)
        timing.times[-1] = duration
        return replace(self, timing=timing, bindings=tuple(_later(each, factor) for each in self.bindings))

    def only_longer_than(self, shortest: float) -> _Solved:
        """Without what binds for a moment [s], as where a motion that rests begins and ends."""
        return replace(self, bindings=tuple(each for each in self.bindings if each.end - each.start > shortest))


def _later(binding: ActiveLimit, times_as_long: float) -> ActiveLimit:
    start, end = binding.start * times_as_long, binding.end * times_as_long
    return ActiveLimit(start, end, binding.joint, binding.kind)


def _resting(model: RobotModel, q: Array, time: float, limits: PathLimits, rolls: Array) -> Retimed:
    knots = np.array([0.0, 1.0])
    curve = Path.through(model, np.repeat(q, 2, axis=0), knots)
    timing = Timing(np.zeros(2), np.zeros((1, 3)), np.array([0.0, time]))
    return Retimed(model, time, limits.motion, curve, Warp(knots, 1), np.zeros(1, int), timing, (), rolls)


def _samples(model: RobotModel, path: object, as_animated: bool) -> tuple[Array, Array, Array | None]:
    """q (k + 1, nq), knots, and (k,) the times from one to the next of a motion."""
    times = None
    if not isinstance(path, Motion) and isinstance(getattr(path, "motion", None), Motion):
        path = path.motion  # type: ignore[attr-defined]  # what `track` returns
    if isinstance(path, Motion):
        q, times = np.array(path.unwrapped().q), path.times
        if q.shape[1] != model.nq:
            raise ConfigurationError(f"the motion is of a robot with {q.shape[1]} coordinates, not {model.nq}")
    else:
        try:
            q = float_array(path)
        except ValueError:
            raise ConfigurationError(f"a path must be configurations or a Motion, not {shown(path)}") from None
        if q.ndim != 2 or q.shape[1] != model.nq or len(q) == 0:
            raise ConfigurationError(f"a path of {model.name!r} must have shape (any, {model.nq}), not {q.shape}")
        q = np.array([model.check_configuration(each) for each in q])
        for at in model.tree.quaternions:
            q[:, at : at + 4] = quaternion.continuous(q[:, at : at + 4])
    if as_animated and times is None:
        raise ConfigurationError("only a Motion is animated; configurations have no times")
    outside = ~model.limits.contain(q, 1e-9)
    if outside.any():
        sample = int(np.argmax(outside))
        i = int(np.argmax(abs(model.limits.clamp(q[sample]) - q[sample])))
        name = [name for joint in model.moving_joints for name in coordinate_names(joint)][i]
        low, high = model.lower[i], model.upper[i]
        why = f"is at {q[sample, i]:g}, outside its limits {low:g} .. {high:g}"
        if not np.isfinite((low, high)).any():
            why = "leaves its cone"
        raise ConfigurationError(f"sample {sample} of the path: joint {name!r} {why}")
    q = np.clip(q, model.lower, model.upper)
    kept = _moved(q)
    q = q[kept]
    if times is None or len(q) == 1:
        return q, np.arange(len(q), dtype=float), None
    distances = np.linalg.norm(np.diff(q, axis=0), axis=1)
    knots = np.append(0.0, np.cumsum(distances))
    if not as_animated:
        return q, knots, None
    later = np.flatnonzero(kept)[1:]
    return q, knots, times[later] - times[later - 1]


def _animated(knots: Array, times: Array) -> tuple[Array, Array]:
    """(2, m) places along the knots and squares of speeds, of a monotone curve from rest to rest that goes from each
    knot to the next one in its time; and the same, at most what the means of the intervals beside say."""
    means = np.diff(knots) / times
    speeds = np.zeros(len(knots))
    near, far = 2.0 * times[1:] + times[:-1], times[1:] + 2.0 * times[:-1]
    speeds[1:-1] = (near + far) / (near / means[:-1] + far / means[1:])
    u = (np.arange(FINE) / FINE)[:, None]
    start, end = speeds[:-1], speeds[1:]
    rises = u**2 * (3.0 - 2.0 * u) * means + u * (1.0 - u) * ((1.0 - u) * start - u * end)
    found = 6.0 * u * (1.0 - u) * means + (1.0 - u) * (1.0 - 3.0 * u) * start + u * (3.0 * u - 2.0) * end
    places = np.append((knots[:-1] + times * rises).T.ravel(), knots[-1])
    squares = np.append(found.T.ravel(), 0.0) ** 2
    squares[[0, -1]] = squares[[1, -2]]  # where it rests, limits alone say how it begins to move
    beside = np.concatenate((means[:1], 0.5 * (means[1:] + means[:-1]), means[-1:]))
    most = np.interp(places, knots, beside**2)
    return np.array((places, squares)), np.array((places, np.minimum(squares, most)))


def _largest(curve: Path, animated: Array) -> tuple[Array, Array]:
    """(nv,) velocities and accelerations that a joint may have which no limit holds: some more than it has as it is
    animated. animated: as `_animated` gives it."""
    places, x = animated
    x = np.concatenate(([0.0], x[1:-1], [0.0]))  # from rest to rest
    _, first, second, _ = curve.at(np.clip(np.searchsorted(curve.knots, places) - 1, 0, len(curve.knots) - 2), places)
    u = np.divide(0.5 * np.diff(x), np.diff(places), out=np.zeros(len(x) - 1), where=np.diff(places) > 0.0)[:, None]
    ends = [abs(first[own] * u + second[own] * x[own, None]).max(axis=0) for own in (slice(None, -1), slice(1, None))]
    return ROOM * (abs(first) * np.sqrt(x)[:, None]).max(axis=0), ROOM * np.maximum(*ends)


def _moved(q: Array) -> Array:
    """(F,) bool: the samples that are not where the one kept before is."""
    if (np.linalg.norm(np.diff(q, axis=0), axis=1) > STILL).all():
        return np.ones(len(q), bool)
    kept, last = np.zeros(len(q), bool), 0
    kept[0] = True
    for i in range(1, len(q)):
        if np.linalg.norm(q[i] - q[last]) > STILL:
            kept[i], last = True, i
    return kept
