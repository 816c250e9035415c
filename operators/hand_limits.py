"""Joints stop at their limits while they are posed by hand, whatever moves them: a drag, a typed value, a script.

The limit constraints (properties/bridge/rig.py) do this for drags of joints within half a turn; this handler does it
for every channel. It acts on edits only: changing the frame does not call it.
"""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from ..properties.bridge import clamp_pose, is_robot
from ..robokin import RobokinError


@persistent
def stop_at_limits(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Clamp the robots that were touched. What is written here is evaluated within the same update."""
    touched = {u.id.original for u in depsgraph.updates if isinstance(u.id, bpy.types.Object) and is_robot(u.id)}
    for obj in touched:
        if obj.pose is None or obj.mode == "EDIT" or not obj.is_editable:
            continue
        try:
            clamp_pose(obj)
        except RobokinError:
            continue  # no robot for now, or a channel that is not a number: the panel says why


def register() -> None:
    bpy.app.handlers.depsgraph_update_post.append(stop_at_limits)


def unregister() -> None:
    bpy.app.handlers.depsgraph_update_post.remove(stop_at_limits)
