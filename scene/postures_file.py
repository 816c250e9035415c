"""Stored postures as named poses of an SRDF file."""

from __future__ import annotations

import bpy

from ..properties.bridge import robot_model
from ..properties.postures import posture_values
from ..robokin import RobokinError, save_srdf


def write_srdf(obj: bpy.types.Object, path: str) -> int:
    """Write the robot's postures; how many. Raises RobokinError."""
    model = robot_model(obj)
    postures = {item.name: posture_values(model, item)[0] for item in obj.robokin.postures}
    if not postures:
        raise RobokinError(f"{obj.name!r} has no stored posture")
    save_srdf(model, postures, path)
    return len(postures)
