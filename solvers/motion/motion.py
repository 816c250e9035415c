"""A motion: configurations over time, with velocities and accelerations by differences on the manifold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.robot import Joint, RobotModel, checked_model
from ...robokin.spatial import quaternion, swing_twist

FASTEST = 1e9  # [1/s] of samples: more would not fit into memory


@dataclass(frozen=True, eq=False)
class Motion:
    """F samples of a robot's motion; SI and radians.

    times: (F,) [s], increasing.   q: (F, nq).   v: (F, nv) with v_k = (q_k - q_{k-1}) / (t_k - t_{k-1}) on the manifold
    (twists of ball and floating joints in the child frame, linear part first), v_0 the start velocity.
    a: (F, nv) with a_k = 2 (v_k - v_{k-1}) / (t_k - t_{k-2}), a_0 = 0: steps may differ, `mean_steps`.
    Build it with `Motion.of`, which validates and differentiates.
    """

    model: RobotModel
    times: Array
    q: Array
    v: Array
    a: Array

    @classmethod
    def of(cls, model: RobotModel, times: object, q: object, start_velocity: object | None = None) -> Motion:
        """From times (F,) and configurations (F, nq). `start_velocity`: (nv,) before the first sample, 0 unless given.

        Raises ConfigurationError when shapes disagree, a number is not finite or the times do not increase.
        """
        t = _finite(times, (None,), "times")
        q = _finite(q, (len(t), checked_model(model).nq), "q")
        if len(t) == 0:
            raise ConfigurationError("a motion needs at least one sample")
        if (np.diff(t) <= 0.0).any():
            late = int(np.argmax(np.diff(t) <= 0.0)) + 1
            raise ConfigurationError(f"times must increase: sample {late} is at {t[late]:g} s, after {t[late - 1]:g} s")
        start = np.zeros(model.nv) if start_velocity is None else _finite(start_velocity, (model.nv,), "start velocity")
        for first in model.tree.quaternions:
            length = np.linalg.norm(q[:, first : first + 4], axis=1)
            if (length < 1e-9).any():
                raise ConfigurationError(f"q has a zero quaternion in sample {int(np.argmin(length))}")
            # Unit quaternions up to rounding stay bit-equal, so that writing and reading back does too.
            off = abs(length - 1.0) > 1e-12
            q[off, first : first + 4] /= length[off, None]
        v, a = np.zeros((len(t), model.nv)), np.zeros((len(t), model.nv))
        v[0] = start
        if len(t) > 1:
            v[1:] = get_backend().difference(model.tree, q[:-1], q[1:]) / mean_steps(t, 1)
            a[1:] = np.diff(v, axis=0) / mean_steps(t, 2)
        for array in (t, q, v, a):
            array.flags.writeable = False
        return cls(model, t, q, v, a)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.times[-1] - self.times[0])

    @property
    def jerk(self) -> Array:
        """(F, nv) with j_k = 3 (a_k - a_{k-1}) / (t_k - t_{k-3}), j_0 = 0."""
        found = np.zeros_like(self.a)
        found[1:] = np.diff(self.a, axis=0) / mean_steps(self.times, 3)
        return found

    def at(self, times: object) -> Motion:
        """The motion at other times (S,), inside the motion's own.

        Between samples the joints move at constant velocity (along the geodesic on the manifold), as linear keys do,
        and wheeled bases roll as their wheels turn. Positions stay between those of the neighbouring samples; those of
        cones, floating joints and wheeled bases, which go along curves, inside their limits where both samples are.
        Velocities are those of the samples. So a motion inside its position and velocity limits stays inside at any
        rate. v and a are those of the sample that ends the
        interval; so they keep the limits too (differences of finer samples would put a whole change of velocity into
        one of them). Raises ConfigurationError outside the motion.
        """
        t = _finite(times, (None,), "times")
        if len(t) and (t.min() < self.times[0] or t.max() > self.times[-1]):
            raise ConfigurationError(f"times must lie within {self.times[0]:g} .. {self.times[-1]:g} s")
        after = np.searchsorted(self.times, t, side="left")  # the sample at or after each time
        before = np.maximum(after - 1, 0)
        span = self.times[after] - self.times[before]
        share = np.divide(t - self.times[before], span, out=np.zeros(len(t)), where=span > 0.0)
        backend = get_backend()
        move = backend.difference(self.model.tree, self.q[before], self.q[after])
        q = backend.integrate(self.model.tree, self.q[before], share[:, None] * move)
        exact = self.times[after] == t
        for base in self.model.rolling_bases:
            own, wheels = slice(base.q, base.q + 3), list(base.wheel_q)
            start, end = self.q[before, own], self.q[after, own]
            turned = self.q[after][:, wheels] - self.q[before][:, wheels]
            # What the wheels do not give of the path, as of poses that were solved one by one, is spread over it.
            slipped = end - base.roll(start, turned)
            q[:, own] = base.roll(start, share[:, None] * turned) + share[:, None] * slipped
        q[exact] = self.q[after[exact]]
        for cone in self.model.limits.cones:
            # A geodesic between two rotations may leave a cone that holds both.
            own = slice(cone.q, cone.q + 4)
            inside = swing_twist.contains(cone, self.q[:, own])
            for row in np.flatnonzero(inside[before] & inside[after] & ~exact):
                q[row, own] = swing_twist.project(cone, q[row, own])
        curved = curved_positions(self.model)
        for i in (*scalar_coordinates(self.model), *curved):
            ends = self.q[before, i], self.q[after, i]
            low, high = np.minimum(*ends), np.maximum(*ends)
            if i in curved:
                low, high = np.minimum(low, self.model.lower[i]), np.maximum(high, self.model.upper[i])
            # Else the rounding of the interpolation could leave the range of the two samples.
            q[:, i] = np.clip(q[:, i], low, high)
        return replace(self, times=t, q=q, v=self.v[after], a=self.a[after])

    def resample(self, rate: float) -> Motion:
        """Samples every 1/rate seconds from the first time on, up to the last time; see `at`. Raises
        ConfigurationError when the rate [Hz] is not a positive number below FASTEST."""
        check_rate(rate)
        count = int(np.floor(self.duration * rate + 1e-9)) + 1
        return self.at(np.minimum(self.times[0] + np.arange(count) / rate, self.times[-1]))

    def unwrapped(self) -> Motion:
        """The motion without jumps of full turns: angles continue over +-180 degrees where their limits allow it
        (not those that mimic joints follow), quaternions keep their sign. v and a are taken anew."""
        q = np.array(self.q)
        tree = self.model.tree
        for node in np.flatnonzero(tree.motion == MotionPrimitive.ROTATION):
            i = tree.iq[node]
            if (tree.iq == i).sum() > 1:  # a mimic joint follows: a turn of this one is not a turn of that one
                continue
            angle = np.unwrap(q[:, i])
            if (angle >= self.model.lower[i]).all() and (angle <= self.model.upper[i]).all():
                q[:, i] = angle
        for first in tree.quaternions:
            q[:, first : first + 4] = quaternion.continuous(q[:, first : first + 4])
        return Motion.of(self.model, self.times, q, self.v[0])


def mean_steps(times: Array, order: int) -> Array:
    """(F - 1, 1) [s] what the difference of two derivatives of order - 1 is divided by to be the next one: the mean of
    so many steps, the last of which leads to the sample. So a derivative of order n is n! times Newton's divided
    difference, which is a weighted mean of what the derivative is there: limits that hold at all times hold for it.
    Before the first sample steps are as the first one."""
    steps = np.diff(times)
    known = np.concatenate((np.repeat(steps[:1], order - 1), steps))
    return np.mean([known[i : i + len(steps)] for i in range(order)], axis=0)[:, None]


def check_rate(rate: object) -> None:
    """Raises ConfigurationError for what is no positive number of samples per second below FASTEST."""
    if not (isinstance(rate, (int, float, np.number)) and 0.0 < rate < FASTEST):
        raise ConfigurationError(f"rate must be above 0 and below {FASTEST:g} samples per second, not {shown(rate)}")


def checked_motion(motion: object) -> Motion:
    """Raises ConfigurationError for what is not a motion, such as an array of configurations."""
    if not isinstance(motion, Motion):
        raise ConfigurationError(f"a Motion is needed, as Motion.of and track make it, not {shown(motion)}")
    return motion


def scalar_coordinates(model: RobotModel) -> list[int]:
    """Indices in q of lengths and angles: all but those of ball and floating joints."""
    tree = model.tree
    return [
        int(i) for i in np.unique([tree.iq[n] for n in range(tree.n_nodes) if MotionPrimitive(tree.motion[n]).has_axis])
    ]


def curved_positions(model: RobotModel) -> list[int]:
    """Indices in q of what does not go straight at a constant velocity: lengths of floating joints, and the coordinates
    of wheeled bases."""
    tree = model.tree
    floating = tree.iq[tree.motion == MotionPrimitive.FREE]
    return [int(first) + k for first in (*floating, *(base.q for base in model.rolling_bases)) for k in range(3)]


def coordinate_names(joint: Joint) -> list[str]:
    """Names of a joint's nq coordinates, in order.

    One coordinate: the joint's name. Several: "joint/x", with x, y, z (lengths; "length" when there is one),
    angle (angle1, angle2 ... when there are several), qw, qx, qy, qz. So planar is x, y, angle; floating is
    x, y, z, qw, qx, qy, qz.
    """
    return _names(joint, ball=("qw", "qx", "qy", "qz"), free=("x", "y", "z"))


def velocity_names(joint: Joint) -> list[str]:
    """Names of a joint's nv velocities, as `coordinate_names`; floating: vx, vy, vz, wx, wy, wz; ball: wx, wy, wz."""
    return _names(joint, ball=("wx", "wy", "wz"), free=("vx", "vy", "vz"))


def _names(joint: Joint, ball: tuple[str, ...], free: tuple[str, ...]) -> list[str]:
    if joint.nq == 1:
        return [joint.name]
    motions = joint.kind.motions
    single_length = motions.count(MotionPrimitive.TRANSLATION) == 1
    single_angle = sum(m in (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL) for m in motions) == 1
    lengths = iter(["length"] if single_length else ["x", "y", "z"])
    angles = iter(["angle"] if single_angle else [f"angle{i + 1}" for i in range(len(motions))])
    names: list[str] = []
    for motion in motions:
        if motion == MotionPrimitive.BALL:
            names.extend(ball)
        elif motion == MotionPrimitive.FREE:
            names.extend(free + ball)
        else:
            names.append(next(lengths if motion == MotionPrimitive.TRANSLATION else angles))
    return [f"{joint.name}/{name}" for name in names]


def _finite(value: object, shape: tuple[int | None, ...], what: str) -> Array:
    """A float64 copy of the given shape (None: any length); ConfigurationError otherwise."""
    try:
        array = float_array(value)
    except ValueError:
        raise ConfigurationError(f"{what} must be numbers, not {shown(value)}") from None
    if array.ndim != len(shape) or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ConfigurationError(f"{what} must have shape ({wanted}), not {array.shape}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ConfigurationError(f"{what} is not finite at {where}")
    return array
