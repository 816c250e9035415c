"""From one configuration to another, synchronised, inside all limits."""

from __future__ import annotations

import numpy as np

from ...robokin.backend import get_backend
from ...robokin.configuration import check_tangent
from ...robokin.errors import ConfigurationError, UnknownNameError
from ...robokin.model.robot import RobotModel, solvable_model
from . import native, quintic, reference
from .axes import Axes
from .motion_limits import MotionLimits
from .reference import CLOSE, Planned
from .sampled import checked_duration
from .trajectory import Trajectory

PROFILES = ("jerk", "trapezoid", "quintic")


def point_to_point(
    model: RobotModel,
    q0: object,
    q1: object,
    v0: object = None,
    v1: object = None,
    profile: str = "jerk",
    *,
    a0: object = None,
    a1: object = None,
    limits: object = None,
    duration: float | None = None,
    backend: str = "auto",
) -> Trajectory:
    """The fastest motion from q0 to q1 in which all joints arrive at once.

    q0, q1: (nq,).   v0, v1: (nv,) velocities, a0, a1: (nv,) accelerations at the start and the end, 0 unless given.
    profile: "jerk" limits the jerk (seven phases for the joint that needs longest), "trapezoid" the acceleration alone,
    "quintic" takes polynomials of fifth degree (minimum jerk).
    limits: {"velocity", "acceleration", "jerk"} in place of what the model has not; see `MotionLimits.of`.
    duration: [s] not shorter than this; longer where the joints cannot take so long, or stop on the way for it.

    Limits on position, velocity, acceleration and jerk hold at all times, not at samples alone. A start that is too
    fast is first brought inside. A joint that would pass a position limit stops before it, or turns about where
    it has no room to stop, and then goes to its end.
    Angles go the way that the numbers go, over as many turns; balls and floating joints along their geodesic.
    Raises ConfigurationError, which names the joint, for an end outside the limits, and where no way is inside them;
    UnknownNameError for other profiles.
    """
    solvable_model(model)
    if not isinstance(profile, str) or profile not in PROFILES:
        raise UnknownNameError("profile", profile, PROFILES)
    q0, q1 = model.check_configuration(q0, "q0"), model.check_configuration(q1, "q1")
    zero = np.zeros(model.nv)
    given = (("v0", v0), ("v1", v1), ("a0", a0), ("a1", a1))
    rates = [zero if value is None else check_tangent(model, value, name) for name, value in given]
    least = 0.0 if duration is None else checked_duration(duration)
    bound = MotionLimits.of(model, limits)
    axes = Axes.between(model, q0, q1, rates, bound)
    _check_bounds(axes)
    if len(axes.start) and axes.coordinate.min() < 0:
        axes.bound_curved()
    if profile == "quintic":
        return _quintic(axes, bound, least)
    order = 3 if profile == "jerk" else 2
    plan = (native if get_backend(backend).name == "native" else reference).point_to_point
    found, axis, time, knots = plan(order, axes.start, axes.end, axes.limits, axes.bounds, least)
    if found != Planned.FOUND:
        raise ConfigurationError(_refusal(axes, axis, found))
    return Trajectory.of_knots(bound, axes, time, knots)


def _quintic(axes: Axes, limits: MotionLimits, least: float) -> Trajectory:
    time = quintic.fastest(axes.start, axes.end, axes.limits, axes.bounds, least) if len(axes.start) else least
    if time is None:
        raise ConfigurationError("no polynomial of fifth degree keeps the limits: take the profile 'jerk'")
    if time > 0.0:
        c = quintic.coefficients(axes.start, axes.end, time)
    else:
        c = axes.start * (1.0, 1.0, 0.5)
    return Trajectory(axes.model, time, limits, axes, np.zeros((len(c), 1)), c[:, None])


def _check_bounds(axes: Axes) -> None:
    low, high = axes.bounds[:, 0], axes.bounds[:, 1]
    for what, p in (("q0", axes.start[:, 0]), ("q1", axes.end[:, 0])):
        outside = (p < low) | (p > high)
        if outside.any():
            outside &= np.maximum(low - p, p - high) > CLOSE * (1.0 + abs(p))
        if outside.any():
            i = int(np.argmax(outside))
            raise ConfigurationError(
                f"{what}: joint {axes.names[i]!r} is at {p[i]:g}, outside its limits {low[i]:g} .. {high[i]:g}"
            )


def _refusal(axes: Axes, axis: int, found: Planned) -> str:
    name, (V, A, _) = axes.names[axis], axes.limits[axis]
    if found == Planned.END:
        _, v, a = axes.end[axis]
        return (
            f"joint {name!r} cannot arrive with the velocity {v:g} and the acceleration {a:g} inside its limits "
            f"{V:g} and {A:g}"
        )
    if axes.coordinate[axis] < 0:
        return f"joint {name!r} leaves its limits beyond its way: with these velocities it cannot brake before them"
    low, high = axes.bounds[axis]
    (p0, v0, _), (p1, v1, _) = axes.start[axis], axes.end[axis]
    return (
        f"joint {name!r} leaves its limits {low:g} .. {high:g} on the way: from {p0:g} at the velocity {v0:g}, or to "
        f"{p1:g} at {v1:g}, it cannot brake before them"
    )
