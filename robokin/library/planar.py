"""Arms in a plane: two, three and four revolute joints, and Breen's arm of four parts.

2R and 3R are the arms of the textbooks (Spong, Hutchinson, Vidyasagar, "Robot modeling and control", chapter 3): links
along x at zero, turning about z. The four-part arm is that of lecture notes on D. E. Breen, "Cost minimization for
animated geometric models in computer graphics", 1997 (their figure 1, equations 1 to 5): parts along y at zero, the
first fixed at p1. Lengths, masses and limits are ours: the texts have letters for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..construction.denavit_hartenberg import DHRow, robot_from_dh
from ..construction.solids import BLUE, DARK, LIGHT, ORANGE, STEEL, ball, box, drum, rod, solid
from ..model.geometry import Geometry, Material
from ..model.robot import Joint, RobotModel

THICK = 0.03
DENSITY = 4.0  # kg/m


def planar_2r(root: str = "fixed") -> RobotModel:
    """Two links of 0.5 and 0.4 m."""
    return _planar("Planar 2R", (0.5, 0.4), root)


def planar_3r(root: str = "fixed") -> RobotModel:
    """Three links of 0.5, 0.4 and 0.25 m."""
    return _planar("Planar 3R", (0.5, 0.4, 0.25), root)


def four_part_arm(root: str = "fixed") -> RobotModel:
    """Breen's arm: parts of 0.35, 0.4, 0.3 and 0.2 m, the first fixed; joints are named as the angles, phi_2 ..."""
    return _four_parts("Four-Part Arm", 3, root)


def planar_4r(root: str = "fixed") -> RobotModel:
    """Four parts with all four angles free, phi_1 to phi_4 (section 3 of the notes)."""
    return _four_parts("Planar 4R", 4, root)


def _four_parts(name: str, turning: int, root: str) -> RobotModel:
    """`turning`: how many of the parts turn, the last ones."""
    lengths = (0.35, 0.4, 0.3, 0.2)
    links = [solid("ground", 4.0, [box((0, -0.015, 0), (0.24, 0.03, 0.18), DARK)])]
    joints = []
    offset = 0.0
    for number, (length, paint) in enumerate(zip(lengths, _paints(), strict=False), start=1):
        shapes = _part((0.0, 1.0, 0.0), length, 1.0 - 0.15 * number, paint)
        links.append(solid(f"part_{number}", DENSITY * length, shapes))
        wide = math.radians(135.0)
        is_fixed = number <= len(lengths) - turning
        bounds: dict[str, Any] = {} if is_fixed else {"lower": -wide, "upper": wide, "velocity": 3.0, "effort": 60.0}
        kind = "fixed" if is_fixed else "revolute"
        joints.append(Joint(f"phi_{number}", kind, links[-2].name, links[-1].name, _up(offset), **bounds))
        offset = length
    links.append(solid("end_effector", 0.1, [ball((0, 0, 0), 0.02, ORANGE)]))
    joints.append(Joint("p_5", "fixed", "part_4", "end_effector", _up(offset)))
    return RobotModel(name, links, joints, root)


def _planar(name: str, lengths: Sequence[float], root: str) -> RobotModel:
    wide = math.radians(160.0)
    rows = []
    for number, (length, paint) in enumerate(zip(lengths, _paints(), strict=False), start=1):
        link = solid("", DENSITY * length, _part((1.0, 0.0, 0.0), length, 1.0 - 0.15 * number, paint))
        rows.append(
            DHRow(
                a=length,
                lower=-wide,
                upper=wide,
                velocity=3.0,
                effort=60.0,
                mass=link.mass,
                com=link.com - [length, 0.0, 0.0],
                inertia=link.inertia,
                visuals=link.visuals,
            )
        )
    model = robot_from_dh(rows, name=name, root=root)
    ground = solid("base_link", 4.0, [drum((0, 0, -0.04), (0, 0, 1), 0.08, 0.04, DARK)])
    tool = solid("tool", 0.1, [ball((0, 0, 0), 0.02, ORANGE)])
    return RobotModel(name, [ground, *model.links[1:-1], tool], model.joints[1:], root)


def _part(along: tuple[float, float, float], length: float, share: float, paint: Material) -> list[Geometry]:
    """A part that begins at its joint, slimmer the further out it is."""
    end, r = length * np.array(along), THICK * (0.5 + 0.5 * share)
    return [rod((0, 0, 0), end, r, paint), drum((0, 0, 0), (0, 0, 1), 1.5 * r, 2.6 * r, DARK)]


def _paints() -> tuple[Material, ...]:
    return (LIGHT, BLUE, ORANGE, STEEL)


def _up(length: float) -> np.ndarray:
    T = np.eye(4)
    T[1, 3] = length
    return T
