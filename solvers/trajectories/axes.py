"""The axes of a motion from one configuration to another: each coordinate that is a length or an angle, and the way
along the geodesic of each ball and each floating joint."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.model.robot import Joint, RobotModel
from ..limits.viability import dof_coordinates
from ..motion.motion import velocity_names
from .motion_limits import MotionLimits

STILL = 1e-12  # [rad, m] a way that is none
ALONG = 1e-9  # relative: a velocity that goes along a way
LOOKS = 65  # places of a curved way at which its limits are looked at
NARROWED = 5  # times that the last place inside its limits is looked for between two of these


@dataclass(frozen=True, eq=False)
class _Freedoms:
    """What axes need of a model. coordinate: (nv,) of q, -1 where there is none. bounds: (nv, 2) of those."""

    names: tuple[str, ...]
    coordinate: Array
    bounds: Array
    identity: Array
    are_plain: bool

    @classmethod
    def of(cls, model: RobotModel) -> _Freedoms:
        own = dof_coordinates(model)
        names = tuple(name for joint in model.moving_joints for name in velocity_names(joint))
        bounds = np.stack((model.lower[own], model.upper[own]), axis=1)
        return cls(names, own, bounds, np.eye(model.nv), bool((own >= 0).all()) and not model.rolling_bases)


_kept: weakref.WeakKeyDictionary[RobotModel, _Freedoms] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Axes:
    """n axes. `directions` (n, nv): the velocity per unit of an axis. `coordinate` (n,): of q, -1 of geodesics, whose
    axis counts from 0 at `q0` to 1 at `q1`. start, end (n, 3): p, v, a. limits (n, 3), bounds (n, 2)."""

    model: RobotModel
    q0: Array
    q1: Array
    directions: Array
    coordinate: Array
    names: tuple[str, ...]
    start: Array
    end: Array
    limits: Array
    bounds: Array

    @classmethod
    def between(cls, model: RobotModel, q0: Array, q1: Array, rates: Sequence[Array], limits: MotionLimits) -> Axes:
        """rates: v0, v1, a0, a1. Raises ConfigurationError, which names the joint, where there is no way."""
        kept = _kept.get(model)
        if kept is None:
            kept = _kept[model] = _Freedoms.of(model)
        rows, own, dof_names = limits.rows, kept.coordinate, kept.names
        if kept.are_plain:
            start, end = np.empty((model.nv, 3)), np.empty((model.nv, 3))
            start[:, 0], start[:, 1], start[:, 2] = q0[own], rates[0], rates[2]
            end[:, 0], end[:, 1], end[:, 2] = q1[own], rates[1], rates[3]
            return cls(model, q0, q1, kept.identity, own, dof_names, start, end, rows, kept.bounds)
        _refuse_rolling(model, q0, q1, rates)
        displacement = get_backend().difference(model.tree, q0, q1)
        names: list[str] = []
        table: list[tuple] = []
        for joint in model.moving_joints:
            slot = model.slot(joint.name)
            dofs = range(slot.v.start, slot.v.stop)
            if joint.nq == joint.nv:
                for i in dofs:
                    k = own[i]
                    ends = ((q0[k], rates[0][i], rates[2][i]), (q1[k], rates[1][i], rates[3][i]))
                    table.append((np.eye(model.nv)[i], k, *ends, rows[i], (model.lower[k], model.upper[k])))
                    names.append(dof_names[i])
                continue
            direction = np.zeros(model.nv)
            direction[slot.v] = displacement[slot.v]
            along = [_along(joint, displacement[slot.v], rate[slot.v]) for rate in rates]
            size = abs(displacement[slot.v])
            if size.max(initial=0.0) <= STILL:
                continue
            turned = np.where(size > 0.0, size, np.nan)[:, None]
            bound = np.nanmin(rows[slot.v] / turned, axis=0)
            ends = ((0.0, along[0], along[2]), (1.0, along[1], along[3]))
            table.append((direction, -1, *ends, bound, (-np.inf, np.inf)))
            names.append(joint.name)
        columns: list = (
            list(zip(*table, strict=True)) if table else [np.empty((0, k)) for k in (model.nv, 1, 3, 3, 3, 2)]
        )
        arrays: list[Array] = [np.array(column, float) for column in columns]
        coordinate = arrays[1].reshape(-1).astype(int)
        return cls(model, q0, q1, arrays[0], coordinate, tuple(names), *arrays[2:])

    def states(self, p: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """q (..., nq), v (..., nv), a of the axes' (..., n)."""
        model, own = self.model, self.coordinate
        curved = own < 0
        if not curved.any():
            q = np.broadcast_to(self.q0, (*p.shape[:-1], model.nq)).copy()
        else:
            move = p[..., curved] @ self.directions[curved]
            q = get_backend().integrate(model.tree, np.broadcast_to(self.q0, (*p.shape[:-1], model.nq)), move)
        straight = own[~curved]
        q[..., straight] = np.clip(p[..., ~curved], self.bounds[~curved, 0], self.bounds[~curved, 1])
        return q, v @ self.directions, a @ self.directions

    def bound_curved(self) -> None:
        """Set how far each geodesic may go beyond its ends. Raises ConfigurationError where one leaves its joint's
        limits between them."""
        for axis in np.flatnonzero(self.coordinate < 0).tolist():
            if not self._are_inside(axis, np.linspace(0.0, 1.0, LOOKS)).all():
                raise ConfigurationError(
                    f"joint {self.names[axis]!r}: the shortest way leaves its limits; go by a configuration between"
                )
            if self.start[axis, 1:].any() or self.end[axis, 1:].any():
                self.bounds[axis] = -self._room(axis, 0.0, -1.0), 1.0 + self._room(axis, 1.0, 1.0)

    def _room(self, axis: int, end: float, sign: float) -> float:
        """How far the limits of the joint let it go on from an end; no farther than to brake may need."""
        (V, A, J), ends = self.limits[axis], np.abs([self.start[axis], self.end[axis]]).max(axis=0)
        fast, steep = max(V, ends[1]), max(A, ends[2])
        inside, outside = 0.0, 2.0 * fast * (fast / A + 2.0 * steep / J)
        for _ in range(NARROWED):
            rooms = np.linspace(inside, outside, LOOKS)
            are_inside = self._are_inside(axis, end + sign * rooms)
            if are_inside.all():
                return outside
            first = max(int(np.argmin(are_inside)), 1)
            inside, outside = rooms[first - 1], rooms[first]
        return inside

    def _are_inside(self, axis: int, shares: Array) -> Array:
        """(n,) whether the joint of a geodesic is inside its limits at shares of the way (n,)."""
        q = get_backend().integrate(
            self.model.tree, np.tile(self.q0, (len(shares), 1)), np.outer(shares, self.directions[axis])
        )
        own, limits = self.model.slot(self.names[axis]).q, self.model.limits
        others = [i for i in range(self.model.nq) if not own.start <= i < own.stop]
        in_box = (q[:, own] >= limits.lower[own] - 1e-9) & (q[:, own] <= limits.upper[own] + 1e-9)
        return in_box.all(axis=1) & limits.without(others).contain(q, 1e-9)


def _along(joint: Joint, displacement: Array, rate: Array) -> float:
    """The rate as a share of the displacement. Raises ConfigurationError where it has another direction."""
    square = float(displacement @ displacement)
    share = float(displacement @ rate) / square if square > STILL * STILL else 0.0
    if abs(rate - share * displacement).max() > ALONG * max(1.0, float(abs(rate).max())):
        raise ConfigurationError(
            f"joint {joint.name!r} goes along the shortest way: its velocities and accelerations must, or be 0"
        )
    return share


def _refuse_rolling(model: RobotModel, q0: Array, q1: Array, rates: Sequence[Array]) -> None:
    for base in model.rolling_bases:
        own = [base.q, base.q + 1, base.q + 2, *base.wheel_q]
        dofs = [base.v, base.v + 1, base.v + 2, *base.wheel_v]
        if abs(q1[own] - q0[own]).max() > STILL or any(rate[dofs].any() for rate in rates):
            raise ConfigurationError(
                f"wheeled base {base.joint!r} rolls, it does not go from point to point: leave it where it is, "
                "or track a path"
            )
