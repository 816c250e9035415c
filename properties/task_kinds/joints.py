"""Tasks of joint values."""

from __future__ import annotations

from collections.abc import Iterable

from mathutils import Euler

from ...robokin import Joint, RobokinError
from ...robokin.units import coordinate_units, freedom_units
from ...solvers import PostureTask
from ..postures import find_posture, posture_values
from .context import TaskContext
from .kind import ANGLE, BOTH, LENGTH, TaskKind


def _posture_target(a: TaskContext) -> dict:
    values, _ = posture_values(a.robot.model, find_posture(a.obj, a.task.posture))
    values = {name: value for name, value in values.items() if a.robot.model.joint(name).mimic is None}
    if not values:
        raise RobokinError(f"{a.name}: the posture {a.task.posture!r} names no joint of the robot")
    return values


def _posture(a: TaskContext, target: dict) -> PostureTask:
    joints = [a.robot.model.joint(name) for name in target]
    return PostureTask(target, joint_weights(a, joints), a.turned, a.near, (a.cone, a.band), **a.common)


def joint_weights(a: TaskContext, joints: Iterable[Joint]) -> dict[str, float]:
    """Joints that only slide have the weight of positions, the others that of rotations."""
    sliding, turning = a.task.position_weight, a.task.orientation_weight
    return {joint.name: sliding if set(freedom_units(joint)) == {"m"} else turning for joint in joints}


def joint_of(a: TaskContext) -> Joint:
    """Raises RobokinError where nothing can be asked of it."""
    joint = a.robot.joint_of_bone[a.task.tip]
    if not joint.nv or joint.mimic is not None:
        why = f"follows {joint.mimic.joint!r}" if joint.mimic else "is fixed"
        raise RobokinError(f"{a.name}: the joint of bone {a.task.tip!r} {why}, so nothing can be asked of it")
    return joint


def _joint_target(a: TaskContext) -> dict[str, list[float]]:
    """The joint's value: lengths from the location, angles from the rotation, each in their order."""
    lengths = iter(a.number("location") * a.robot.metres_per_unit)
    angles = iter(a.number("rotation"))
    ball = iter(Euler(a.number("rotation")).to_quaternion())
    sources = {"m": lengths, "rad": angles, "": ball}
    joint = joint_of(a)
    return {joint.name: [float(next(sources[unit])) for unit in coordinate_units(joint)]}


def _joint(a: TaskContext, target: dict) -> PostureTask:
    return PostureTask(target, joint_weights(a, [joint_of(a)]), a.turned, a.near, (a.cone, a.band), **a.common)


KINDS = {
    "POSTURE": TaskKind(
        "Posture",
        "The joints take the values of a stored posture",
        "ARMATURE_DATA",
        15,
        (("Angle", ANGLE), ("Length", LENGTH)),
        tip="",
        fields=("posture",),
        target_at=_posture_target,
        build=_posture,
    ),
    "JOINT": TaskKind(
        "Joint Value",
        "The joint of a bone takes a value",
        "CON_ROTLIMIT",
        16,
        (("Angle", ANGLE), ("Length", LENGTH)),
        tip="Bone",
        pose=BOTH,
        fields=BOTH,
        animated=BOTH,
        target_at=_joint_target,
        build=_joint,
    ),
}
