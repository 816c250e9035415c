"""The numbers on the bones of a robot follow a change of the scene's unit scale."""

from __future__ import annotations

from contextlib import suppress

import bpy

from ...properties.bridge import Changes, adopt_unit, is_robot
from ...properties.handlers import add_handler, going_on, remove_handler
from ...properties.postures import rescale_postures
from ...robokin import RobokinError


def follow_unit_scale(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    if not changes.scene:
        return
    for obj in scene.objects:
        if is_robot(obj) and obj.data.is_editable and not obj.data.is_editmode:
            with going_on("following the unit scale"), suppress(RobokinError):  # no robot for now: the panel says why
                ratio = adopt_unit(obj)
                for other in bpy.data.objects if ratio != 1.0 else ():
                    if other.data == obj.data and other.is_editable:
                        _rescale(other, ratio)


def _rescale(obj: bpy.types.Object, ratio: float) -> None:
    with suppress(RobokinError):
        rescale_postures(obj, ratio)


def register() -> None:
    add_handler("change", follow_unit_scale)


def unregister() -> None:
    remove_handler("change", follow_unit_scale)
