"""The robots that the engine is asked about: arms, a humanoid, wheels, cones, slides, mimics, a floating base."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, library_robot, load_urdf
from robokin_addon.robokin.arrays import Array

from support.problems.shapes import at
from support.random_problems.random_trees import random_robot
from support.robots import robot

X, Y, Z = np.eye(3)
FREE = {"velocity": np.inf, "acceleration": np.inf}
SLOW = {"velocity": 2.0, "acceleration": 8.0}


@cache
def engine_robot(name: str) -> RobotModel:
    """A robot of `ROBOTS` or `OTHERS`, the same object at every call."""
    return (ROBOTS | OTHERS)[name]()


def body(name: str, length: float = 0.2, along: Array = Y) -> Link:
    """A rod of 4 kg/m along an axis, from the origin of its link on."""
    mass = 4.0 * length
    inertia = mass * length**2 / 12.0 * (np.eye(3) - np.outer(along, along)) + 1e-4 * np.eye(3)
    return Link(name, mass, 0.5 * length * along, inertia)


def ball_bones() -> RobotModel:
    """Three bones of 1 m on ball joints, as `Make Robot` makes them of a chain: any angle, any speed."""
    names = ("root", "upper", "middle", "lower", "tip")
    joints = [
        Joint(name, "spherical", parent, name, at(0.0, float(parent != "root"), 0.0), Y)
        for parent, name in pairwise(names[:4])
    ]
    joints.append(Joint("tip", "fixed", "lower", "tip", at(0.0, 1.0, 0.0)))
    links = [Link("root"), *(body(name, 1.0) for name in names[1:4]), Link("tip")]
    return RobotModel("ball bones", links, joints)


def gripper() -> RobotModel:
    """Four axes and a hand of two fingers, of two parts each, that one joint opens: the tips stay parallel."""
    axes, lengths = (Z, X, X, Y), (0.3, 0.4, 0.3, 0.1)
    links = [Link("base"), *(body(f"arm{i}", length) for i, length in enumerate(lengths, 1))]
    joints = [
        Joint(f"axis{i}", "revolute", links[i - 1].name, links[i].name, at(0.0, before, 0.0), axis, -2.6, 2.6, 2.5)
        for i, (axis, before) in enumerate(zip(axes, (0.0, *lengths), strict=False), 1)
    ]
    for side, sign in (("left", 1.0), ("right", -1.0)):
        links += [body(f"{side}_knuckle", 0.05), body(f"{side}_tip", 0.04)]
        knuckle = None if side == "left" else Mimic("left_knuckle", -1.0)
        joints += [
            Joint(
                f"{side}_knuckle", "revolute", "arm4", f"{side}_knuckle", at(0.02 * sign, 0.1, 0.0), Z, -0.8, 0.8, 2.0
            )
            if knuckle is None
            else Joint(f"{side}_knuckle", "revolute", "arm4", f"{side}_knuckle", at(-0.02, 0.1, 0.0), Z, mimic=knuckle),
            Joint(
                f"{side}_tip",
                "revolute",
                f"{side}_knuckle",
                f"{side}_tip",
                at(0.0, 0.05, 0.0),
                Z,
                mimic=Mimic("left_knuckle", -sign),
            ),
        ]
    return RobotModel("gripper", links, joints)


def iiwa() -> RobotModel:
    """The KUKA LBR iiwa 14 R820: lengths, ranges and speeds of its data sheet."""
    heights = (0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081)
    axes = (Z, Y, Z, -Y, Z, Y, Z)
    ranges = np.radians((170, 120, 170, 120, 170, 120, 175))
    speeds = np.radians((85, 85, 100, 75, 130, 135, 135))
    links = [Link("base"), *(body(f"link{i}", 0.2, Z) for i in range(1, 8)), Link("flange")]
    joints = [
        Joint(f"joint{i}", "revolute", links[i - 1].name, links[i].name, at(0.0, 0.0, height), axis, -far, far, speed)
        for i, (height, axis, far, speed) in enumerate(zip(heights, axes, ranges, speeds, strict=True), 1)
    ]
    joints.append(Joint("flange", "fixed", "link7", "flange", at(0.0, 0.0, 0.045)))
    return RobotModel("iiwa", links, joints)


def ball_tree() -> RobotModel:
    """A branching tree of hinges, slides and balls, the balls with cones."""
    return random_robot(11, 9, types=("spherical", "revolute", "spherical", "prismatic"), branching=0.35, mimics=0.0)


ROBOTS: dict[str, Callable[[], RobotModel]] = {
    "panda": lambda: load_urdf(robot("panda")),
    "ur5": lambda: load_urdf(robot("ur5_robot")),
    "talos": lambda: load_urdf(robot("talos_reduced")),
    "tiago": lambda: load_urdf(robot("tiago_no_hand"), root="wheeled"),
    "ball tree": ball_tree,
    "planar 4R": lambda: library_robot("planar_4r"),
    "ball bones": ball_bones,
    "puppet": lambda: library_robot("puppet"),
    "humanoid": lambda: library_robot("humanoid"),
    "gantry": lambda: library_robot("gantry"),
    "gripper": gripper,
    "solo12": lambda: load_urdf(robot("solo12"), root="floating"),
}

# Robots that showed a fault once.
OTHERS: dict[str, Callable[[], RobotModel]] = {
    "a1f": lambda: load_urdf(robot("a1"), root="floating"),
    "xarm7": lambda: load_urdf(robot("xarm7")),
    "scara": lambda: library_robot("scara"),
    "icub": lambda: load_urdf(robot("icub_reduced")),
}
