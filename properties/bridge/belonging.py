"""Which objects a scene or a view layer has."""

from __future__ import annotations

import bpy


def has_object(owner: bpy.types.Scene | bpy.types.ViewLayer, obj: bpy.types.Object) -> bool:
    """Whether an object is among the owner's own. Beside it there may be one of the same name from another file, as the
    source of a library override."""
    found = owner.objects.get(obj.name)
    return found == obj or (found is not None and any(each == obj for each in owner.objects))
