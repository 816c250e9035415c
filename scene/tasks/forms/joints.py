"""Tasks of joints: their values and velocities."""

from __future__ import annotations

from collections.abc import Iterable

from mathutils import Euler

from ....properties.postures import find_posture, joint_numbers, posture_values
from ....robokin import Joint, RobokinError
from ....robokin.units import coordinate_units, freedom_units
from ....solvers import JointVelocityTask, LinearVelocityTask, PostureTask
from .asked import Asked, Form


def _posture_target(a: Asked) -> dict:
    values, _ = posture_values(a.robot.model, find_posture(a.obj, a.task.posture))
    values = {name: value for name, value in values.items() if a.robot.model.joint(name).mimic is None}
    if not values:
        raise RobokinError(f"{a.name}: the posture {a.task.posture!r} names no joint of the robot")
    return values


def _posture(a: Asked, target: dict) -> PostureTask:
    joints = [a.robot.model.joint(name) for name in target]
    return PostureTask(target, _weights(a, joints), a.turned, a.near, (a.cone, a.band), **a.common)


def _weights(a: Asked, joints: Iterable[Joint]) -> dict[str, float]:
    """Joints that only slide have the weight of positions, the others that of rotations."""
    sliding, turning = a.task.position_weight, a.task.orientation_weight
    return {joint.name: sliding if set(freedom_units(joint)) == {"m"} else turning for joint in joints}


def _joint_of(a: Asked) -> Joint:
    """Raises RobokinError where nothing can be asked of it."""
    joint = a.robot.joint_of_bone[a.task.tip]
    if not joint.nv or joint.mimic is not None:
        why = f"follows {joint.mimic.joint!r}" if joint.mimic else "is fixed"
        raise RobokinError(f"{a.name}: the joint of bone {a.task.tip!r} {why}, so nothing can be asked of it")
    return joint


def _joint_target(a: Asked) -> dict[str, list[float]]:
    """Its lengths from the location, its angles from the rotation, each in their order."""
    lengths = iter(a.number("location") * a.robot.metres_per_unit)
    angles = iter(a.number("rotation"))
    ball = iter(Euler(a.number("rotation")).to_quaternion())
    sources = {"m": lengths, "rad": angles, "": ball}
    joint = _joint_of(a)
    return {joint.name: [float(next(sources[unit])) for unit in coordinate_units(joint)]}


def _joint(a: Asked, target: dict) -> PostureTask:
    return PostureTask(target, _weights(a, [_joint_of(a)]), a.turned, a.near, (a.cone, a.band), **a.common)


def _velocity_target(a: Asked) -> dict[str, list[float]]:
    joint = _joint_of(a)
    sources = {
        "m": iter(a.number("linear_velocity") * a.robot.metres_per_unit),
        "rad": iter(a.number("angular_velocity")),
    }
    return {joint.name: [float(next(sources[unit])) for unit in freedom_units(joint)]}


def _velocity(a: Asked, target: dict) -> JointVelocityTask:
    weight = _weights(a, [_joint_of(a)]).popitem()[1]
    return JointVelocityTask(target, weight, a.turned, a.near, (a.cone, a.band), **a.common)


def _sum_target(a: Asked) -> float:
    return float(a.number("rate")[0])


def _sum(a: Asked, target: float) -> LinearVelocityTask:
    factors = joint_numbers(a.task.coefficients, f"{a.name}: factors")
    weight = a.task.orientation_weight
    return LinearVelocityTask(factors, target, weight, a.turned, a.cone, **a.common)


POSTURE = Form(_posture_target, _posture)
JOINT = Form(_joint_target, _joint)
JOINT_VELOCITY = Form(_velocity_target, _velocity)
LINEAR_VELOCITY = Form(_sum_target, _sum)
