"""Locked joints: a robot that holds some of its joints where they are."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..errors import ModelError
from ..model.joint import Joint
from ..model.joint_types import plane_basis
from ..model.limits import PositionLimits
from ..model.robot import RobotModel, checked_model
from ..spatial.swing_twist import Cone


def locked_model(model: RobotModel, names: Iterable[str], q: Array) -> RobotModel:
    """The robot, with all its coordinates, whose joints `names` stay where they are in q (nq,), moved inside the
    limits: that value is both of their limits. A joint that mimics holds the one that it follows, a wheeled base its
    wheels.

    Raises UnknownNameError, ConfigurationError; ModelError for a joint that does not move, or is floating: its limits
    cannot hold a rotation.
    """
    names = tuple(names)
    locked_q = checked_model(model).limits.clamp(model.check_configuration(q))
    lower, upper = model.lower.copy(), model.upper.copy()
    cones = {cone.q: cone for cone in model.limits.cones}
    for name in _with_wheels(model, names):
        joint, slot = model.joint(name), model.slot(name)
        if not can_lock(joint):
            why = "it is fixed" if not joint.nq else "it is floating, and limits cannot hold its rotation"
            raise ModelError(f"joint {name!r} cannot be locked: {why}", joint)
        if joint.kind.has_cone:
            cones[slot.q.start] = _closed_cone(name, slot.q.start, slot.v.start, locked_q[slot.q])
        else:
            lower[slot.q] = upper[slot.q] = locked_q[slot.q]
    lower.flags.writeable = upper.flags.writeable = False
    made = copy.copy(model)
    made.lower, made.upper = lower, upper
    starts = {model.slot(name).q.start for name in (*model.locked, *names)}
    made.locked = tuple(joint.name for joint in model.moving_joints if model.slot(joint.name).q.start in starts)
    made.limits = PositionLimits(lower, upper, tuple(cones[at] for at in sorted(cones)))
    made.__dict__["tree"] = replace(model.tree, lower=lower, upper=upper)
    return made


def can_lock(joint: Joint) -> bool:
    """Whether limits can hold the joint: it moves, and is not floating."""
    return joint.nq > 0 and joint.type != "floating"


def _with_wheels(model: RobotModel, names: Iterable[str]) -> list[str]:
    found = dict.fromkeys(names)
    drives = [model.joint(name).drive for name in found]
    wheels = [wheel for drive in drives if drive is not None for wheel in (drive.left, drive.right)]
    return list(found | dict.fromkeys(wheels))


def _closed_cone(name: str, at_q: int, at_v: int, rotation: Array) -> Cone:
    """The cone of a ball that holds a rotation (4,): every rotation is a mere twist about its own axis."""
    length = float(np.linalg.norm(rotation[1:]))
    axis = rotation[1:] / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    twist = 2.0 * math.atan2(length, float(rotation[0]))
    twist -= 2.0 * math.pi if twist > math.pi else 0.0
    return Cone(name, at_q, at_v, np.column_stack((*plane_basis(axis), axis)), 0.0, 0.0, twist, twist)
