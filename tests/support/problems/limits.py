"""Robots with other limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robokin_addon.robokin import RobotModel


def with_rates(model: RobotModel, joints: tuple[str, ...] | None = None, **rates: Any) -> RobotModel:
    """The same robot with limits, as `velocity`, of the given joints (all when None) replaced."""
    changed = [
        replace(joint, **rates) if joint.nv and (joints is None or joint.name in joints) else joint
        for joint in model.joints[1:]
    ]
    return RobotModel(model.name, model.links, changed, model.root, model.drive)
