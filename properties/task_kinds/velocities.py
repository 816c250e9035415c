"""Tasks that ask for velocities: only for a bake."""

from __future__ import annotations

import numpy as np

from ...robokin.arrays import Array
from ...robokin.units import freedom_units
from ...solvers import AlongCurveTask, JointVelocityTask, LinearVelocityTask, TwistTask
from ..postures import joint_numbers
from .context import TaskContext
from .joints import joint_of, joint_weights
from .kind import ANGLE, AXES, LENGTH, OFFSET, POSITION, TaskKind

_VELOCITIES = ("linear_velocity", "angular_velocity")


def _velocity_target(a: TaskContext) -> dict[str, list[float]]:
    joint = joint_of(a)
    sources = {
        "m": iter(a.number("linear_velocity") * a.robot.metres_per_unit),
        "rad": iter(a.number("angular_velocity")),
    }
    return {joint.name: [float(next(sources[unit])) for unit in freedom_units(joint)]}


def _velocity(a: TaskContext, target: dict) -> JointVelocityTask:
    weight = joint_weights(a, [joint_of(a)]).popitem()[1]
    return JointVelocityTask(target, weight, a.turned, a.near, (a.cone, a.band), **a.common)


def _sum_target(a: TaskContext) -> float:
    return float(a.number("rate")[0])


def _sum(a: TaskContext, target: float) -> LinearVelocityTask:
    factors = joint_numbers(a.task.coefficients, f"{a.name}: factors")
    weight = a.task.orientation_weight
    return LinearVelocityTask(factors, target, weight, a.turned, a.cone, **a.common)


def _along_target(a: TaskContext) -> tuple:
    speed = a.metres("speed")
    return (speed, a.curve, a.plane) if a.task.use_spot else (speed, a.curve)


def _along(a: TaskContext, target: tuple) -> AlongCurveTask:
    speed, curve, *_ = target
    return AlongCurveTask(a.link, curve, speed, weight=a.task.position_weight, tolerance=a.near, **a.on_spot)


def _twist_target(a: TaskContext) -> Array:
    """Told at the target, it is that of a body that moves with it: a hinge stands where the target is."""
    twist = np.concatenate((a.number("linear_velocity") * a.unit, a.number("angular_velocity")))
    return TwistTask.expressed_in(a.T, twist) if a.task.use_target else twist


def _twist(a: TaskContext, twist: Array) -> TwistTask:
    return TwistTask(
        a.link,
        twist,
        np.concatenate((a.position_weights, a.orientation_weights)),
        "space" if a.task.use_target else a.task.frame.lower(),
        linear_tolerance=a.near,
        angular_tolerance=a.turned,
        band=np.repeat((a.band, a.cone), 3),
        **a.on_tip,
    )


KINDS = {
    "ALONG_CURVE": TaskKind(
        "Along Curve",
        "The tip goes along a curve object at a speed; only in a bake",
        "CURVE_PATH",
        17,
        (POSITION,),
        target="CURVE",
        offset=OFFSET,
        fields=("speed", "use_spot", "axis"),
        animated=("speed",),
        has_spot=True,
        banded=False,
        is_velocity=True,
        target_at=_along_target,
        build=_along,
    ),
    "TWIST": TaskKind(
        "Twist",
        "The tip moves at a velocity, or turns about the target as about a hinge; only in a bake",
        "FORCE_VORTEX",
        18,
        (("Linear", LENGTH), ("Angular", ANGLE)),
        target="POSE",
        pose=(),
        offset=OFFSET,
        fields=_VELOCITIES,
        animated=_VELOCITIES,
        axes=AXES,
        has_frame=True,
        is_velocity=True,
        target_at=_twist_target,
        build=_twist,
    ),
    "JOINT_VELOCITY": TaskKind(
        "Joint Velocity",
        "The joint of a bone moves at a velocity; only in a bake",
        "FORCE_MAGNETIC",
        19,
        (("Angular", ANGLE), ("Linear", LENGTH)),
        tip="Bone",
        fields=_VELOCITIES,
        animated=_VELOCITIES,
        is_velocity=True,
        target_at=_velocity_target,
        build=_velocity,
    ),
    "LINEAR_VELOCITY": TaskKind(
        "Velocity Sum",
        "Velocities of joints, each times a factor, add up to a value; only in a bake",
        "CON_TRANSFORM_CACHE",
        21,
        (("Rate", ANGLE),),
        tip="",
        fields=("coefficients", "rate"),
        animated=("rate",),
        is_velocity=True,
        target_at=_sum_target,
        build=_sum,
    ),
}
