"""Arms in a plane, whose poses are known by geometry."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel

FULL = (-np.pi, np.pi)


def planar_arm(*limits: tuple[float, float]) -> RobotModel:
    """Joints about z, links of 1 m and 0.5 m along x; the tip is the link "tip"."""
    lengths = (0.0, 1.0, 0.5)
    joints = []
    for i, (low, high) in enumerate(limits):
        placement = np.eye(4)
        placement[0, 3] = lengths[i]
        joints.append(Joint(f"joint{i}", "revolute", f"link{i}", f"link{i + 1}", placement, lower=low, upper=high))
    end = np.eye(4)
    end[0, 3] = lengths[len(limits)]
    joints.append(Joint("end", "fixed", f"link{len(limits)}", "tip", end))
    return RobotModel("planar arm", [*(Link(f"link{i}") for i in range(len(limits) + 1)), Link("tip")], joints)


def free_arm(*lengths: float) -> RobotModel:
    """Joints about z without limits, links along x; the ends of the links are "end1", "end2" ..."""
    joints, links, before = [], [Link("link0")], 0.0
    for i, length in enumerate(lengths, 1):
        shift, end = np.eye(4), np.eye(4)
        shift[0, 3], end[0, 3] = before, length
        joints.append(Joint(f"joint{i}", "continuous", f"link{i - 1}", f"link{i}", shift))
        joints.append(Joint(f"fixed{i}", "fixed", f"link{i}", f"end{i}", end))
        links += [Link(f"link{i}"), Link(f"end{i}")]
        before = length
    return RobotModel("free arm", links, joints)
