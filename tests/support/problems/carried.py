"""An arm that a rail or a turntable carries."""

from __future__ import annotations

from dataclasses import replace

from robokin_addon.robokin import Joint, Link, RobotModel, library_robot

PANDA = library_robot("panda")


def carried(kind: str, lower: float, upper: float) -> RobotModel:
    """The Panda on a joint `base` at the world's origin, along x or about z."""
    axis = (1, 0, 0) if kind == "prismatic" else (0, 0, 1)
    base = Joint("base", kind, "world", "plate", axis=axis, lower=lower, upper=upper)
    joints = [replace(j, parent="plate") if j.parent == PANDA.root_link.name else j for j in PANDA.joints[1:]]
    links = [Link("world"), Link("plate"), *PANDA.links[1:]]
    return RobotModel("carried", links, [base, *joints])
