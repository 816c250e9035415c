"""The robots that are measured, from the example-robot-data package."""

from __future__ import annotations

import sysconfig
from pathlib import Path

# name -> URDF, tips that are given targets, whether the base floats
ROBOTS = {
    "panda": ("panda_description/urdf/panda.urdf", ["panda_link8"], False),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", ["tool0"], False),
    "talos": (
        "talos_data/robots/talos_full_v2.urdf",
        ["gripper_left_base_link", "gripper_right_base_link", "left_sole_link", "right_sole_link"],
        True,
    ),
    "g1": (
        "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
        ["left_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link"],
        True,
    ),
}


def robot_file(robot: str) -> Path:
    return Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots" / ROBOTS[robot][0]
