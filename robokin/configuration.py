"""Configurations as points of a manifold: moving along it, distances on it, limits."""

from __future__ import annotations

import numpy as np

from .arrays import Array, check_size, float_array, shown
from .backend import get_backend
from .errors import ConfigurationError
from .model.joint_types import MotionPrimitive
from .model.robot import RobotModel, checked_model
from .spatial import quaternion, swing_twist


def integrate(model: RobotModel, q: Array, v: Array, *, backend: str = "auto") -> Array:
    """(nq,) configuration reached from q by the constant velocity v (nv,) in unit time.

    Angles and lengths add; a ball turns by exp(w) and a floating joint moves by exp(twist) in the child frame.
    Raises ConfigurationError for a bad q or v.
    """
    q = checked_model(model).check_configuration(q)
    return get_backend(backend).integrate(model.tree, q, check_tangent(model, v, "v"))


def difference(model: RobotModel, q0: Array, q1: Array, *, backend: str = "auto") -> Array:
    """(nv,) v with integrate(q0, v) = q1 (quaternions up to sign). Raises ConfigurationError for a bad q0 or q1."""
    q0, q1 = checked_model(model).check_configuration(q0), model.check_configuration(q1)
    return get_backend(backend).difference(model.tree, q0, q1)


def random_configuration(model: RobotModel, rng: np.random.Generator) -> Array:
    """(nq,) uniform within the limits; unbounded angles in [-pi, pi], lengths in [-1, 1] m, uniform rotations.

    A coordinate bounded on one side only lies within 2 pi or 2 m of its bound. A limited ball is uniform in its swing
    vector and its twist.
    """
    span = np.full(checked_model(model).nq, 1.0)
    if not isinstance(rng, np.random.Generator):
        raise ConfigurationError(f"rng must be a numpy.random.Generator, as default_rng makes it, not {shown(rng)}")
    span[model.tree.iq[np.isin(model.tree.motion, (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL))]] = np.pi
    bounded_below, bounded_above = np.isfinite(model.lower), np.isfinite(model.upper)
    lower = np.where(bounded_below, model.lower, np.where(bounded_above, model.upper - 2.0 * span, -span))
    upper = np.where(bounded_above, model.upper, lower + 2.0 * span)
    q = np.clip(lower + (upper - lower) * rng.random(model.nq), lower, upper)
    for start in model.tree.quaternions:
        # A normally distributed 4-vector has no preferred direction, so its direction is a uniform rotation.
        q[start : start + 4] = quaternion.normalize(rng.normal(size=4))
    for cone in model.limits.cones:
        q[cone.q : cone.q + 4] = swing_twist.drawn(cone, *rng.random(3))
    return q


def in_limits(model: RobotModel, q: Array, tolerance: float = 0.0) -> bool:
    """Whether every coordinate is within its position limits, give or take `tolerance` [rad or m].

    Limits include those that mimic joints impose on the joint they follow, and the cones of spherical joints.
    Raises ConfigurationError for a bad q.
    """
    q = checked_model(model).check_configuration(q)
    try:
        slack = float_array(tolerance)
    except ValueError:
        slack = np.array(np.nan)
    if slack.shape != () or np.isnan(slack):
        raise ConfigurationError(f"the tolerance must be a number, not {shown(tolerance)}")
    return bool(model.limits.contain(q, float(slack)))


def clamp(model: RobotModel, q: Array) -> Array:
    """(nq,) q with every coordinate moved to the nearest value within its limits, every spherical joint to the nearest
    swing and twist within its cone. Raises ConfigurationError."""
    return checked_model(model).limits.clamp(model.check_configuration(q))


def unit_quaternions(model: RobotModel, q: Array) -> Array:
    """Configurations (..., nq) with their quaternions made units, in place; none of them may be zero."""
    for start in model.tree.quaternions:
        own = q[..., start : start + 4]
        own /= np.linalg.norm(own, axis=-1, keepdims=True)
    return q


def beside(model: RobotModel, q: Array, other: Array) -> Array:
    """The other configuration (nq,) with its quaternions of the signs of those of q."""
    other = other.copy()
    for start in model.tree.quaternions:
        if q[start : start + 4] @ other[start : start + 4] < 0.0:
            other[start : start + 4] *= -1.0
    return other


def check_tangent(model: RobotModel, value: object, what: str) -> Array:
    """`value` as a float64 array (nv,); ConfigurationError when it cannot be a velocity or acceleration `what`."""
    return check_vector(value, model.nv, f"{what} of {model.name!r}")


def check_vector(value: object, size: int, what: str) -> Array:
    """`value` as a float64 array (size,) of entries up to MOST; ConfigurationError that speaks of `what` otherwise."""
    try:
        array = float_array(value)
    except ValueError:
        raise ConfigurationError(f"{what} must be {size} numbers, not {shown(value)}") from None
    if array.shape != (size,):
        raise ConfigurationError(f"{what} must have shape ({size},), not {array.shape}")
    check_size(array, what)
    return array
