"""The numbers on the bones of a robot follow a change of the scene's unit scale."""

from __future__ import annotations

from contextlib import suppress

import bpy
from bpy.app.handlers import persistent

from ..properties.bridge import adopt_unit, is_robot
from ..properties.postures import rescale_postures
from ..robokin import RobokinError


@persistent
def follow_unit_scale(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not depsgraph.id_type_updated("SCENE"):
        return
    for obj in scene.objects:
        if is_robot(obj) and obj.data.is_editable and obj.mode != "EDIT":
            with suppress(RobokinError):  # no robot for now: the panel says why
                ratio = adopt_unit(obj)
                for other in bpy.data.objects if ratio != 1.0 else ():
                    if other.data == obj.data and other.is_editable:
                        _rescale(other, ratio)


def _rescale(obj: bpy.types.Object, ratio: float) -> None:
    with suppress(RobokinError):
        rescale_postures(obj, ratio)


def register() -> None:
    bpy.app.handlers.depsgraph_update_post.append(follow_unit_scale)


def unregister() -> None:
    bpy.app.handlers.depsgraph_update_post.remove(follow_unit_scale)
