"""Robots to start from, written from published parameters: kinematics, limits, masses and plain shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import UnknownNameError
from ..model.robot import RobotModel
from .cartesian import gantry, scara
from .desk_arm import desk_arm
from .humanoid import humanoid
from .mobile_arm import mobile_arm
from .panda import panda
from .planar import four_part_arm, planar_2r, planar_3r, planar_4r
from .puma560 import puma560
from .puppet import puppet


@dataclass(frozen=True)
class LibraryRobot:
    """One entry: `make(root)` -> RobotModel; `tip`: the link that tasks hold; `up`: the axis that points up in the
    text it comes from, "y" or "z" (such a robot's root frame is that of the text, not turned); `root`: its own base."""

    name: str
    label: str
    description: str
    make: Callable[[str], RobotModel]
    tip: str = "tool"
    up: str = "z"
    root: str = "fixed"


ROBOTS: dict[str, LibraryRobot] = {
    robot.name: robot
    for robot in (
        LibraryRobot("planar_2r", "Planar 2R", "Two revolute joints in a plane", planar_2r, up="y"),
        LibraryRobot("planar_3r", "Planar 3R", "Three revolute joints in a plane", planar_3r, up="y"),
        LibraryRobot(
            "four_part_arm",
            "Four-Part Arm",
            "Breen's planar arm of four parts, the first fixed",
            four_part_arm,
            "end_effector",
            "y",
        ),
        LibraryRobot(
            "planar_4r", "Planar 4R", "Breen's planar arm with all four angles free", planar_4r, "end_effector", "y"
        ),
        LibraryRobot("desk_arm", "Desk Arm", "Five hobby servos, after Sukesh", desk_arm, up="y"),
        LibraryRobot("scara", "SCARA", "Four axes, the geometry of the Adept Cobra 600", scara),
        LibraryRobot("gantry", "Gantry", "Three slides at right angles", gantry),
        LibraryRobot("puma560", "Puma 560", "Six axes, spherical wrist, identified masses", puma560),
        LibraryRobot(
            "panda", "Panda (Franka)", "Seven axes, geometry and identified masses of the Franka Emika Panda", panda
        ),
        LibraryRobot(
            "mobile_arm",
            "Mobile Arm (UR5e on Wheels)",
            "Six axes of the UR5e on two driven wheels, the PMB-2",
            mobile_arm,
            root="wheeled",
        ),
        LibraryRobot("humanoid", "Humanoid", "32 joints, human proportions and masses", humanoid, "left_hand"),
        LibraryRobot("puppet", "Puppet", "An artist's lay figure: ten ball joints, four hinges", puppet, "left_hand"),
    )
}


def library_robot(name: str, root: str = "") -> RobotModel:
    """A new robot of the library. root: "fixed", "floating", "planar", "wheeled"; empty: as the robot is built.

    Raises UnknownNameError.
    """
    if not isinstance(name, str) or name not in ROBOTS:
        raise UnknownNameError("robot in the library", name, ROBOTS)
    robot = ROBOTS[name]
    return robot.make(robot.root if isinstance(root, str) and not root else root)


__all__ = ["ROBOTS", "LibraryRobot", "library_robot"]
