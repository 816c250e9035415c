"""Random robots of every joint type, deterministic by seed: as our model and, elsewhere, as any oracle's.

`random_robot(seed, ...)` is the only generator; oracles are built from the finished RobotModel, so that both sides
always describe the same robot.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from robokin_addon.robokin.spatial import quaternion

ALL_TYPES = tuple(name for name in JOINT_TYPES if name != "wheeled")  # a wheeled base needs its wheels


def random_robot(
    seed: int,
    joints: int = 16,
    root: str = "fixed",
    types: Sequence[str] = ALL_TYPES,
    branching: float = 0.3,
    mimics: float = 0.3,
    massless: float = 0.2,
) -> RobotModel:
    """A random tree. `branching`: chance that a joint hangs on any earlier link instead of the latest one;
    `mimics`: chance that a joint of one degree of freedom follows an earlier one; `massless`: chance of a link
    without inertia. Every type of `types` occurs when there are enough joints."""
    rng = np.random.default_rng(seed)
    kinds = list(types)[:joints] + list(rng.choice(types, max(0, joints - len(types))))
    rng.shuffle(kinds)
    links = [_random_link(rng, "link0", massless)]
    made: list[Joint] = []
    for index, kind in enumerate(kinds, start=1):
        parent = rng.integers(len(links)) if rng.random() < branching else len(links) - 1
        links.append(_random_link(rng, f"link{index}", massless))
        made.append(_random_joint(rng, f"joint{index}", str(kind), f"link{parent}", f"link{index}", made, mimics))
    return RobotModel(f"random{seed}", links, made, root)


def random_placement(rng: np.random.Generator, reach: float = 0.5) -> np.ndarray:
    """(4, 4) uniform rotation, translation within +-reach."""
    T = np.eye(4)
    T[:3, :3] = quaternion.to_matrix(quaternion.normalize(rng.normal(size=4)))
    T[:3, 3] = rng.uniform(-reach, reach, 3)
    return T


def _random_link(rng: np.random.Generator, name: str, massless: float) -> Link:
    if rng.random() < massless:
        return Link(name)
    # The inertia of four point masses: one that a body can have.
    points = rng.uniform(-0.2, 0.2, (4, 3))
    points -= points.mean(axis=0)
    weight = rng.uniform(0.1, 3.0)
    inertia = weight * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)
    return Link(name, 4 * weight, rng.uniform(-0.1, 0.1, 3), inertia)


def _random_axis(rng: np.random.Generator) -> np.ndarray:
    """Half of the axes are coordinate axes, of either sign, as in real robots."""
    if rng.random() < 0.5:
        return np.eye(3)[rng.integers(3)] * rng.choice((-1.0, 1.0))
    axis = rng.normal(size=3)
    return axis / np.linalg.norm(axis)


def _random_joint(
    rng: np.random.Generator, name: str, kind: str, parent: str, child: str, made: list[Joint], mimics: float
) -> Joint:
    joint_type = JOINT_TYPES[kind]
    followable = [j.name for j in made if j.kind.mimicable]
    mimic = None
    if joint_type.mimicable and followable and rng.random() < mimics:
        multiplier = rng.choice((-1.0, 1.0)) * rng.uniform(0.5, 2.0)
        mimic = Mimic(str(rng.choice(followable)), multiplier, rng.uniform(-0.5, 0.5))
    lower, upper = -np.inf, np.inf
    if joint_type.bounded:
        lower, upper = rng.uniform(-2.5, -0.5, joint_type.nv), rng.uniform(0.5, 2.5, joint_type.nv)
        if joint_type.has_cone:
            lower[:2] = -upper[:2]
    return Joint(
        name,
        kind,
        parent,
        child,
        placement=random_placement(rng),
        axis=_random_axis(rng),
        lower=lower,
        upper=upper,
        velocity=rng.uniform(1.0, 3.0),
        pitch=rng.uniform(-0.2, 0.2),
        order=str(rng.choice(joint_type.orders[:6] or [""])),  # those that a bone has as a rotation mode
        mimic=mimic,
    )
