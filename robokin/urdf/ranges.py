"""Limits that URDF insists on, for joints that have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.robot import Joint, RobotModel
from .chains import with_chains
from .reader import WITH_RANGE

STAND_IN = 1000.0  # [m or rad] farther than any robot goes, and still exact where URDF readers calculate with it


def with_ranges(model: RobotModel) -> tuple[RobotModel, list[str]]:
    """(the robot in URDF's joint types, every range complete; one line for each joint that was given limits, and for a
    base that moves).

    A revolute joint without limits becomes continuous; an end that is missing otherwise becomes STAND_IN.
    Raises ModelError as `urdf_losses`.
    """
    model = with_chains(model)
    notes: list[str] = []
    if model.root != "fixed":
        notes.append(f"base: a URDF does not say that it is {model.root}; whoever reads it chooses")
    joints = [_ranged(joint, notes) for joint in model.joints[1:]]
    return RobotModel(model.name, model.links, joints, model.root, model.drive), notes


def _ranged(joint: Joint, notes: list[str]) -> Joint:
    if joint.kind.urdf not in WITH_RANGE or np.isfinite((joint.lower, joint.upper)).all():
        return joint
    if joint.type == "revolute" and np.isinf((joint.lower, joint.upper)).all():
        notes.append(f"joint {joint.name!r}: a revolute joint without limits is written as continuous")
        return replace(joint, type="continuous")
    lower = np.where(np.isfinite(joint.lower), joint.lower, np.minimum(-STAND_IN, joint.upper))
    upper = np.where(np.isfinite(joint.upper), joint.upper, np.maximum(STAND_IN, joint.lower))
    notes.append(
        f"joint {joint.name!r}: URDF needs limits of a {joint.kind.urdf} joint; "
        f"{lower[0]:g} and {upper[0]:g} are written"
    )
    return replace(joint, lower=lower, upper=upper)
