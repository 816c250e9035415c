"""Arms of the families as their makers publish them (Denavit-Hartenberg tables), and random ones."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel
from robokin_addon.robokin.construction import DHRow, ScrewRow, robot_from_dh, robot_from_screws
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers.families.chain import chain_of

from support.random_problems.random_trees import random_placement

HALF = np.pi / 2.0

# a, alpha, d, lower and upper [degrees]
TABLES = {
    # Universal Robots, "DH parameters for calculations of kinematics and dynamics"
    "ur5": (
        (0.0, HALF, 0.089159, -360, 360),
        (-0.425, 0.0, 0.0, -360, 360),
        (-0.39225, 0.0, 0.0, -360, 360),
        (0.0, HALF, 0.10915, -360, 360),
        (0.0, -HALF, 0.09465, -360, 360),
        (0.0, 0.0, 0.0823, -360, 360),
    ),
    # KUKA KR 6 R900 sixx, data sheet
    "kr6": (
        (0.025, -HALF, 0.4, -170, 170),
        (0.455, 0.0, 0.0, -190, 45),
        (0.035, -HALF, 0.0, -210, 66),
        (0.0, HALF, 0.42, -185, 185),
        (0.0, -HALF, 0.0, -120, 120),
        (0.0, 0.0, 0.08, -350, 350),
    ),
    # ABB IRB 140, product specification
    "irb140": (
        (0.07, -HALF, 0.352, -180, 180),
        (0.36, 0.0, 0.0, -180, 20),
        (0.0, -HALF, 0.0, -230, 50),
        (0.0, HALF, 0.38, -200, 200),
        (0.0, -HALF, 0.0, -115, 115),
        (0.0, 0.0, 0.065, -400, 400),
    ),
    # KUKA LBR iiwa 7 R800, data sheet
    "iiwa": (
        (0.0, -HALF, 0.34, -170, 170),
        (0.0, HALF, 0.0, -120, 120),
        (0.0, HALF, 0.4, -170, 170),
        (0.0, -HALF, 0.0, -120, 120),
        (0.0, -HALF, 0.4, -170, 170),
        (0.0, HALF, 0.0, -120, 120),
        (0.0, 0.0, 0.126, -175, 175),
    ),
}
LIBRARY = ("puma560", "scara", "gantry", "planar_3r")


def family_robot(name: str) -> RobotModel:
    """One of TABLES, or of the library."""
    if name not in TABLES:
        return library_robot(name)
    return robot_from_dh(
        [
            DHRow(a=a, alpha=alpha, d=d, lower=np.radians(lower), upper=np.radians(upper))
            for a, alpha, d, lower, upper in TABLES[name]
        ],
        name=name,
    )


def screws_of(model: RobotModel, tip: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(axis (n, 3), point (n, 3), slides (n,), home (4, 4)) of the chain to a link, the robot at zero."""
    chain = chain_of(model, tip, np.eye(4), model.limits)
    assert chain is not None
    home = chain.home.copy()
    home[:3, 3] += chain.centre
    return chain.axis.copy(), chain.point + chain.centre, chain.slides, home


def screw_robot(
    axis: np.ndarray, point: np.ndarray, slides: np.ndarray, home: np.ndarray, lower: object = -3.1, upper: object = 3.1
) -> RobotModel:
    """The robot of these axes; its tip is the link `tool`."""
    n = len(axis)
    rows = []
    for a, p, s, low, high in zip(
        axis, point, slides, np.broadcast_to(lower, n), np.broadcast_to(upper, n), strict=True
    ):
        limits = {"lower": float(low), "upper": float(high)}
        rows.append(ScrewRow.along(a, **limits) if s else ScrewRow.about(a, p, **limits))
    return robot_from_screws(rows, home)


def random_family(name: str, rng: np.random.Generator) -> RobotModel:
    """An arm with axes of any directions, as far as its family lets them: a key of RANDOM_FAMILIES."""
    n, parallel, meeting, slides = RANDOM_FAMILIES[name]
    axis, point = rng.normal(size=(n, 3)), rng.uniform(-0.4, 0.4, (n, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    for group in parallel:
        axis[list(group)] = axis[group[0]] * rng.choice((-1.0, 1.0), len(group))[:, None]
    for group in meeting:
        own = list(group)
        point[own] = point[own[0]] + rng.uniform(-0.3, 0.3, (len(own), 1)) * axis[own]
    home = random_placement(rng, 0.3)
    return screw_robot(axis, point, np.isin(np.arange(n), slides), home)


# joints, those with parallel axes, those with axes that meet, slides
RANDOM_FAMILIES: dict[str, tuple[int, tuple, tuple, tuple]] = {
    "wrist, 2 and 3 parallel": (6, ((1, 2),), ((3, 4, 5),), ()),
    "wrist, 1 and 2 parallel": (6, ((0, 1),), ((3, 4, 5),), ()),
    "wrist, 1 and 2 meet": (6, (), ((0, 1), (3, 4, 5)), ()),
    "wrist, 2 and 3 meet": (6, (), ((1, 2), (3, 4, 5)), ()),
    "wrist": (6, (), ((3, 4, 5),), ()),
    "shoulder, 4 and 5 parallel": (6, ((3, 4),), ((0, 1, 2),), ()),
    "shoulder, 5 and 6 meet": (6, (), ((0, 1, 2), (4, 5)), ()),
    "shoulder": (6, (), ((0, 1, 2),), ()),
    "2, 3, 4 parallel, 5 and 6 meet": (6, ((1, 2, 3),), ((4, 5),), ()),
    "2, 3, 4 parallel": (6, ((1, 2, 3),), (), ()),
    "1, 2, 3 parallel, 4 and 5 meet": (6, ((0, 1, 2),), ((3, 4),), ()),
    "1, 2, 3 parallel": (6, ((0, 1, 2),), (), ()),
    "3, 4, 5 parallel": (6, ((2, 3, 4),), (), ()),
    "3, 4, 5 parallel, 1 and 2 meet": (6, ((2, 3, 4),), ((0, 1),), ()),
    "4, 5, 6 parallel": (6, ((3, 4, 5),), (), ()),
    "1, 2, 3 parallel, 4 and 5 too": (6, ((0, 1, 2), (3, 4)), (), ()),
    "2, 3, 4 parallel, 5 and 6 too": (6, ((1, 2, 3), (4, 5)), (), ()),
    "3, 4, 5 parallel, 1 and 2 too": (6, ((2, 3, 4), (0, 1)), (), ()),
    "4, 5, 6 parallel, 2 and 3 too": (6, ((3, 4, 5), (1, 2)), (), ()),
    "shoulder and wrist": (7, (), ((0, 1, 2), (4, 5, 6)), ()),
    "planar 3R": (3, ((0, 1, 2),), (), ()),
    "SCARA": (4, ((0, 1, 2, 3),), (), (2,)),
    "SCARA, slide first": (4, ((0, 1, 2, 3),), (), (0,)),
    "gantry": (3, (), (), (0, 1, 2)),
    "gantry and turn": (4, (), (), (0, 1, 2)),
    "turns and gantry": (6, (), (), (2, 3, 5)),
    "gantry and wrist": (6, (), (), (0, 1, 2)),
}
# Those that any change of their axes leaves in their family.
ROBUST = ("gantry", "gantry and turn", "turns and gantry", "gantry and wrist")


def wrapped(angles: np.ndarray) -> np.ndarray:
    """In [-pi, pi)."""
    return np.remainder(angles + np.pi, 2.0 * np.pi) - np.pi
