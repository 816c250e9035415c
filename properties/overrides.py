"""What a library override of a linked robot may change and keeps when the file is saved: values, and items of lists.
What animation may change, and keys that the user has inserted by whatever moves a thing."""

from __future__ import annotations

from typing import Any

import bpy

VALUE = {"LIBRARY_OVERRIDABLE"}
LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
STATIC: set = set()  # options of what cannot be keyed


def readout(kind: Any, name: str, description: str, **options: Any) -> Any:
    """A property of one of the kinds of `bpy.props`, which an override may change and keys may animate, and which says
    what was found: Blender does not notice what Python writes."""
    return kind(override=VALUE, name=name, description=description, **options)


def field(kind: Any, name: str, description: str, **options: Any) -> Any:
    """A property that says what is wanted: Blender notices what Python writes into it, as what a person enters."""
    return readout(kind, name, description, **{"update": _notice, **options})


def _notice(owner: Any, context: bpy.types.Context) -> None:
    """Blender notices what is written where there is an `update`, whatever it does."""


def static_field(kind: Any, name: str, description: str, **options: Any) -> Any:
    """A field that is read once, not at every frame: it cannot be keyed."""
    return field(kind, name, description, options=STATIC, **options)


def takes_changes(obj: bpy.types.Object) -> bool:
    """Whether an object of this file may be changed: not one that is linked, nor a library override of the system."""
    override = obj.override_library
    return obj.is_editable and not (override is not None and override.is_system_override)


def takes_keys(obj: bpy.types.Object) -> bool:
    """Whether keys can be written: not into the action of another file."""
    data = obj.animation_data
    return data is None or data.action is None or data.action.is_editable


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
