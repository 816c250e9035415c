"""Data-blocks that are made for something: all of it, or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

_KINDS = ("objects", "armatures", "meshes", "curves", "materials", "images", "collections")


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Inside, data-blocks are made; where something raises, none of them stays."""
    before = {kind: set(getattr(bpy.data, kind)) for kind in _KINDS}
    try:
        yield
    except BaseException:
        bpy.data.batch_remove([made for kind in _KINDS for made in getattr(bpy.data, kind) if made not in before[kind]])
        raise


def collections_for(obj: bpy.types.Object) -> list[bpy.types.Collection]:
    """The collections in which new objects stand beside `obj`: its own but for linked and overridden ones, to which
    nothing can be added; without any, that of the current scene."""
    found = [each for each in obj.users_collection if each.is_editable and each.override_library is None]
    return found or [bpy.context.scene.collection]
