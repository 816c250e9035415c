"""Curves are written as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def whole_or_undone(obj: bpy.types.Object) -> Iterator[None]:
    """Where what is inside fails, the object has the action from before, with the curves and modifiers from before."""
    data = obj.animation_data
    action, slot = (data.action, data.action_slot) if data else (None, None)
    handle, kept = slot.handle if slot else None, action.copy() if action else None
    is_fake = action is not None and action.use_fake_user
    try:
        yield
    except BaseException:
        written = obj.animation_data.action if obj.animation_data else None
        if written is not None and written != action:
            bpy.data.actions.remove(written)
        if action is not None:
            obj.animation_data.action = action
            obj.animation_data.action_slot = next((slot for slot in action.slots if slot.handle == handle), None)
            name = action.name
            if action.asset_data is not None:  # a copy is none
                kept.asset_mark()
                kept.asset_data = action.asset_data
            action.user_remap(kept)
            bpy.data.actions.remove(action)
            kept.name, kept.use_fake_user = name, is_fake
        raise
    if kept is not None:
        bpy.data.actions.remove(kept)
