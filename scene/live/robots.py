"""Which robots follow their targets."""

from __future__ import annotations

import bpy

from ...properties.bridge.belonging import has_object
from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.overrides import takes_changes
from ...properties.selected.active_robot import objects_showing
from .inputs import has_tasks


def live_robots(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The robots of the scene that follow their targets."""
    return [obj for obj in live_robots_of_file() if has_object(scene, obj)]


def live_robots_of_file() -> list[bpy.types.Object]:
    """The robots of all scenes that follow their targets. No object of another kind is looked at."""
    found: list[bpy.types.Object] = []
    for armature in bpy.data.armatures:
        for obj in objects_showing(armature) if ROBOT_KEY in armature else ():
            settings = obj.robokin
            if not settings.live or obj.pose is None or armature.is_editmode or not takes_changes(obj):
                continue
            if has_tasks(obj):
                found.append(obj)
    return found
