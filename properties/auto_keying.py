"""Keys that the user has inserted by whatever moves a thing, as Blender's own tools insert them."""

from __future__ import annotations

import bpy

from .overrides import takes_keys


def key_if_wanted(
    obj: bpy.types.Object, owner: bpy.types.Object | bpy.types.PoseBone, path: str, index: int = -1, group: str = ""
) -> None:
    """A key of a channel of an object or of its bone at the present frame, where auto-keying and the preferences say
    so. index: -1 for all of the channel."""
    edit, tool = bpy.context.preferences.edit, bpy.context.scene.tool_settings
    if not (tool.use_keyframe_insert_auto and takes_keys(obj)):
        return
    wanted = {
        "INSERTKEY_NEEDED": edit.use_auto_keyframe_insert_needed,
        "INSERTKEY_AVAILABLE": edit.use_keyframe_insert_available,
        "INSERTKEY_REPLACE": tool.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_CYCLE_AWARE": tool.use_keyframe_cycle_aware,
    }
    options = {name for name, is_on in wanted.items() if is_on}
    owner.keyframe_insert(path, index=index, group=group, options=options, keytype=tool.keyframe_type)
