"""Random serial arms as people build them: 6 to 12 joints, 15 % of them prismatic, limited ranges."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel

from support.random_problems.random_trees import random_placement


def random_arm(seed: int, scale: float = 1.0) -> RobotModel:
    """`scale`: of all lengths, the strokes included. The tip is the last link."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(6, 13))
    joints = []
    for i in range(count):
        placement = random_placement(rng, 0.3)
        placement[:3, 3] *= scale
        slides = rng.random() < 0.15
        middle, half = (
            (rng.uniform(-0.2, 0.2), rng.uniform(0.1, 0.4)) if slides else (rng.uniform(-1, 1), rng.uniform(0.8, 3))
        )
        unit = scale if slides else 1.0
        joints.append(
            Joint(
                f"joint{i}",
                "prismatic" if slides else "revolute",
                f"link{i}",
                f"link{i + 1}",
                placement=placement,
                lower=(middle - half) * unit,
                upper=(middle + half) * unit,
            )
        )
    return RobotModel(f"arm{seed}", [Link(f"link{i}") for i in range(count + 1)], joints)
