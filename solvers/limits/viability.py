"""Bounds on the next step such that position, velocity and acceleration limits can be kept for ever.

Everything is counted per step: with a step of dt seconds, d = v dt is the displacement of a step, so the velocity
limit is a displacement V dt and the acceleration limit a change of displacement A dt^2. The discrete integrator is
q_k = q_{k-1} + d_k with |d_k - d_{k-1}| <= A dt^2. A state (q_{k-1}, d_{k-1}) is viable when braking as hard as
allowed from the next step on stops before the limit; from a viable state the bounds are never empty, and every step
inside them leads to a viable state. The discrete braking distance is exact, not the parabola v^2 / 2a.
(The idea: Del Prete, "Joint position and velocity bounds in discrete-time acceleration/torque control of robot
manipulators", IEEE RA-L 2018; here for velocity steps.)
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from ...robokin.arrays import LEAST, Array, shown
from ...robokin.errors import ConfigurationError
from ...robokin.model.joint_types import MotionPrimitive as Elementary
from ...robokin.model.robot import RobotModel
from ...robokin.model.rolling import RollingBase
from ...robokin.spatial import so3
from ...robokin.spatial.swing_twist import Cone
from .coupled import balls_are_safe, base_is_safe, braked, shortened

# Velocities and accelerations are differences of rounded positions: this much of the limits is left unused so that
# the differences of what was written stay inside too.
ROUNDING = 1e-9
MOST = 1e9  # steps
# [s] Shorter steps change no position beyond its rounding, of longer ones displacements overflow.
SHORTEST_STEP, LONGEST_STEP = 1e-15, 1e9


def braking_step(gap: Array, max_change: Array) -> Array:
    """Largest step towards a limit `gap` away after which one can still stop before it.

    A step d followed by d - u, d - 2u, ... (u = `max_change`, the last one positive) covers (n + 1) (d - n u / 2) with
    n = floor(d / u); this is the inverse of that increasing, piecewise linear function. Same unit for all.
    A negative gap (the limit is passed) gives the step back to the limit.
    """
    gap, max_change = np.broadcast_arrays(np.asarray(gap, float), np.asarray(max_change, float))
    step = np.array(gap)
    braked = np.isfinite(gap) & np.isfinite(max_change) & (gap > 0.0)
    g, u = gap[braked], max_change[braked]
    # At the tie n (n + 1) / 2 u = g both n and n - 1 give the same step, so rounding of n does no harm.
    n = np.floor(0.5 * (np.sqrt(1.0 + 8.0 * g / u) - 1.0))
    step[braked] = g / (n + 1.0) + 0.5 * n * u
    return step


def braking_distance(step: Array, max_change: Array) -> Array:
    """How far it goes on after a step when it brakes at once. One shape; `max_change` may be infinite."""
    size = abs(step)
    with np.errstate(divide="ignore", invalid="ignore"):
        count = np.trunc(np.minimum(size / max_change, MOST))  # of steps that follow
        distance = np.where(count > 0.0, count * (size - 0.5 * (count + 1.0) * max_change), 0.0)
    return np.copysign(distance, step)


def frames_to_stand(distance: Array, step: Array, max_step: Array, max_change: Array) -> float:
    """In how many steps all get so far and stand there, at most; what is too fast passes that place and comes back.
    distance: not negative. step: the last one, in that direction."""
    most = 0.0
    for gap, last, largest, change in zip(distance, step, max_step, max_change, strict=True):
        if not largest > 0.0:
            continue
        if np.isinf(change):
            most = max(most, gap / largest)
            continue
        back = 0.0
        if last > 0.0 and last * last > 2.0 * change * gap:
            back, gap, last = last / change, 0.5 * last * last / change - gap, 0.0
        fastest = np.sqrt(change * gap + 0.5 * last * last)
        cruising = max(fastest - largest, 0.0)
        frames = back + (2.0 * (fastest - cruising) - last) / change
        most = max(most, frames + (cruising * (fastest + largest) / (change * largest) if cruising > 0.0 else 0.0))
    return float(most)


def viable_steps(
    previous: Array, to_lower: Array, to_upper: Array, max_step: Array, max_change: Array
) -> tuple[Array, Array]:
    """(lo, hi): the steps d that keep all limits now and leave a state from which they can be kept for ever.

    previous: the last step. to_lower = q - lower, to_upper = upper - q: distances to the position limits.
    max_step: bound on |d|. max_change: bound on |d - previous|. One shape; infinite without a limit.
    From a state that is not viable the bounds collapse to one step: the velocity limit holds first, then the position
    limit, and the acceleration is as small as they permit.
    """
    low, high = -braking_step(to_lower, max_change), braking_step(to_upper, max_change)
    # Outside the position limits: come back, at full speed at most.
    low, high = np.where(high < 0.0, np.minimum(low, high), low), np.where(low > 0.0, np.maximum(high, low), high)
    fastest = np.asarray(max_step, float)
    low, high = np.clip(low, -fastest, fastest), np.clip(high, -fastest, fastest)
    lo = np.clip(previous - max_change, low, high)
    hi = np.clip(previous + max_change, low, high)
    return lo, hi


@dataclass(frozen=True, eq=False)
class StepLimits:
    """The limits of a robot per step of `dt` seconds, one entry per degree of freedom (nv,).

    max_step: V dt, of balls what `keyed_velocity` leaves. max_step_change: A dt^2. coordinate: index in q of the
    position that the degree of freedom adds to, -1 where it has none (rotations of ball and floating joints; lengths
    of floating joints move in the child frame).
    lower, upper: position bounds of the degrees of freedom, infinite where there is none.
    cones, bases: of the balls that are limited, and the wheeled bases.
    """

    dt: float
    max_step: Array
    max_step_change: Array
    coordinate: Array
    lower: Array
    upper: Array
    cones: tuple[Cone, ...] = ()
    bases: tuple[RollingBase, ...] = ()

    @classmethod
    def of(cls, model: RobotModel, dt: float) -> StepLimits:
        """Raises ConfigurationError when dt is not a number from SHORTEST_STEP to LONGEST_STEP."""
        if not (isinstance(dt, Real) and SHORTEST_STEP <= dt <= LONGEST_STEP):
            valid = f"from {SHORTEST_STEP:g} to {LONGEST_STEP:g}"
            raise ConfigurationError(f"dt must be a number of seconds {valid}, not {shown(dt)}")
        coordinate = dof_coordinates(model)
        scalar = coordinate >= 0
        lower = np.where(scalar, model.lower[coordinate], -np.inf) if model.nv else np.zeros(0)
        upper = np.where(scalar, model.upper[coordinate], np.inf) if model.nv else np.zeros(0)
        keep = 1.0 - ROUNDING
        with np.errstate(over="ignore"):  # a limit that means none
            max_step, max_change = keyed_velocity(model, dt) * (dt * keep), model.acceleration * (dt * dt * keep)
        max_change = np.maximum(max_change, LEAST**2)  # distances are divided by it
        return cls(dt, max_step, max_change, coordinate, lower, upper, model.limits.cones, model.rolling_bases)

    @property
    def braked(self) -> bool:
        """Whether some acceleration is limited."""
        return bool(np.isfinite(self.max_step_change).any())

    @property
    def curved(self) -> bool:
        """Whether some rate of a ball or floating joint is limited."""
        finite = np.isfinite(self.max_step) | np.isfinite(self.max_step_change)
        return bool((finite & (self.coordinate < 0)).any())

    def bounds(self, q: Array, previous: Array) -> tuple[Array, Array]:
        """Viable steps (lo, hi), each (nv,), from configuration q (nq,) reached by the step `previous` (nv,)."""
        position = np.where(self.coordinate >= 0, q[self.coordinate], 0.0) if len(q) else np.zeros(0)
        return viable_steps(previous, position - self.lower, self.upper - position, self.max_step, self.max_step_change)

    def viable(self, q: Array, step: Array) -> Array:
        """The step nearest to `step` (nv,) after which the state (q, step) is viable: what a start velocity becomes."""
        position = np.where(self.coordinate >= 0, q[self.coordinate], 0.0) if len(q) else np.zeros(0)
        with np.errstate(invalid="ignore"):
            gaps = np.stack((position - self.lower, self.upper - position))
            low, high = braking_step(gaps, self.max_step_change) + self.max_step_change
        kept = np.minimum(np.maximum(np.minimum(np.maximum(step, -low), high), -self.max_step), self.max_step)
        for cone in self.cones:
            own = slice(cone.v, cone.v + 3)
            if kept[own].any():  # what is at rest may rest
                kept[own] = self._viable_ball(cone, q[cone.q : cone.q + 4], kept[own], self.max_step_change[own])
        for base in self.bases:
            wheels = list(base.wheel_v)
            kept[wheels] = self._viable_wheels(base, q[base.q : base.q + 3], kept[wheels], self.max_step_change[wheels])
            kept[base.v : base.v + 3] = base.rolled_jacobian(q[base.q : base.q + 3], np.zeros(2)) @ kept[wheels]
        return kept

    @staticmethod
    def _viable_ball(cone: Cone, ball: Array, step: Array, max_change: Array) -> Array:
        return shortened(
            step, 0.0 * step, lambda x: bool(balls_are_safe(cone, ball, braked(x, max_change), max_change))
        )

    def _viable_wheels(self, base: RollingBase, start: Array, step: Array, max_change: Array) -> Array:
        own = slice(base.v, base.v + 3)
        ends = self.lower[own], self.upper[own], self.max_step[own]
        return shortened(
            step, 0.0 * step, lambda x: base_is_safe(base, start, braked(x, max_change), max_change, *ends)
        )

    def coasting(self, q: Array, step: Array) -> Array:
        """(nv,) the next step when everything brakes to a stand, from q (nq,) reached by `step`."""
        lo, hi = self.bounds(q, step)
        slower = np.minimum(np.maximum(0.0, lo), hi)
        for columns in self._coupled_columns():
            slower[columns] = braked(step[columns], self.max_step_change[columns])
        return slower

    def _coupled_columns(self) -> list[list[int]]:
        """Columns that brake together, along one direction."""
        return [*([c.v, c.v + 1, c.v + 2] for c in self.cones), *(list(base.wheel_v) for base in self.bases)]


def keyed_velocity(model: RobotModel, dt: float) -> Array:
    """(nv,) what velocities from frame to frame may be so that linear keys keep the model's limits between them too: a
    quaternion that goes straight turns its ball fastest half-way, by θ from frame to frame at 4 tan(θ / 4) / dt.

    A floating joint goes straight in its parent, while its own axes turn by θ / 2 to both sides of the mean.
    """
    found, tree = np.array(model.velocity), model.tree
    for motion, end in zip(tree.motion, tree.iv, strict=True):
        if motion in (Elementary.BALL, Elementary.FREE):
            first = end if motion == Elementary.BALL else end + 3
            own = slice(first, first + 3)
            quarter = min(float(np.linalg.norm(np.minimum(found[own] * (0.25 * dt), 1.0))), 1.0)  # θ of at most π
            found[own] *= np.arctan(quarter) / quarter if quarter > 0.0 else 1.0
            if motion == Elementary.FREE:
                found[end:first] = _sliding_speed(found[end:first], np.minimum(dt * found[own], np.pi))
    return found


def _sliding_speed(limit: Array, turn: Array) -> Array:
    """(3,) speeds along the axes with which no limit (3,) is passed while these turn by `turn` (3,) between frames.

    From the mean axes to those at the ends of a frame a speed v changes by at most n x v sin(θ / 2) and
    (n n' - 1) v θ² / 6, of turns θ about n. Others take at most as much of a limit as its own axis: half at least.
    """
    across = np.minimum(0.5 * abs(so3.cross(np.eye(3), turn)) + np.outer(turn, turn) / 6.0, 1.0)
    across[np.diag_indices(3)] = 0.0
    across[np.isinf(limit)] = 0.0
    most = np.full((3, 3), np.inf)
    np.divide(limit[:, None], across.sum(axis=1, keepdims=True), out=most, where=across > 0.0)
    speed = np.minimum(limit, most.min(axis=0))
    used = np.where(np.isfinite(limit), speed, 0.0) + across @ np.where(np.isfinite(speed), speed, 0.0)
    return speed * float((limit / used)[used > 0.0].min(initial=1.0)) if used.any() else speed


def dof_coordinates(model: RobotModel) -> Array:
    """(nv,) index in q of the coordinate whose time derivative is that degree of freedom, -1 where there is none."""
    coordinate = np.full(model.nv, -1)
    tree = model.tree
    for node in range(tree.n_nodes):
        if Elementary(tree.motion[node]).has_axis:
            coordinate[tree.iv[node]] = tree.iq[node]
    return coordinate
