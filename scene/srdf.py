"""Stored postures and the list of links that may touch as an SRDF file, and back."""

from __future__ import annotations

import bpy

from ..properties.bridge import robot_model
from ..properties.pairs.link_pairs import store_link_pairs
from ..properties.postures import posture_values, store_posture
from ..robokin import RobokinError, RobotModel, save_srdf
from ..robokin.units import counted
from ..robokin.urdf.srdf import Srdf


def take_srdf(obj: bpy.types.Object, model: RobotModel, found: Srdf) -> str:
    """Store what a file holds; in words. A posture of the same name is replaced, a pair that is listed stays."""
    for name, values in found.postures.items():
        store_posture(obj, model, name, values)
    store_link_pairs(obj, found.may_touch)
    pairs = f", {counted(len(found.may_touch), 'pair')} of links that may touch" if found.may_touch else ""
    return f"{counted(len(found.postures), 'posture')}{pairs}"


def write_srdf(obj: bpy.types.Object, path: str) -> str:
    """Write the robot's postures and the pairs of its list that may touch; what was written, in words. Raises
    RobokinError."""
    model = robot_model(obj)
    postures = {item.name: posture_values(model, item)[0] for item in obj.robokin.postures}
    pairs = {(item.link_a, item.link_b): item.reason for item in obj.robokin.link_pairs if item.may_touch}
    known = {pair: reason for pair, reason in pairs.items() if set(pair) <= set(model.link_names)}
    if not postures and not known:
        raise RobokinError(f"{obj.name!r} has no stored posture, and no pair of links in its list")
    save_srdf(model, postures, path, known)
    return f"{counted(len(postures), 'posture')}" + (
        f", {counted(len(known), 'pair')} of links that may touch" if known else ""
    )
