"""What a library override of a linked robot may change and keeps when the file is saved: values, and items of lists.
What animation may change."""

from __future__ import annotations

import bpy

VALUE = {"LIBRARY_OVERRIDABLE"}
LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
STATIC: set = set()  # options of what is read once, not at every frame: it cannot be keyed


def takes_keys(obj: bpy.types.Object) -> bool:
    """Whether keys can be written: not into the action of another file."""
    data = obj.animation_data
    return data is None or data.action is None or data.action.is_editable
