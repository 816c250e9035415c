"""What Blender refuses while it draws."""

from __future__ import annotations

import math
from contextlib import contextmanager

import bpy
from robokin_addon.operators.handlers import criterion_readouts

_GUARDED = (
    *(bpy.types.ID, bpy.types.PropertyGroup, bpy.types.Bone, bpy.types.EditBone, bpy.types.PoseBone),
    *(bpy.types.Constraint, bpy.types.AnimData, bpy.types.FCurve, bpy.types.Driver, bpy.types.DriverTarget),
)
_WRITES = ("__setattr__", "__setitem__", "__delitem__")


def _refuse(owner, name, *_):
    raise AttributeError(f"Writing to ID classes in this context is not allowed: {type(owner).__name__}, {name!r}")


def while_blender_draws(monkeypatch):
    """As in a window; timers run in none else, and the module of Blender 4.5 never ends with one that is left."""
    monkeypatch.setattr(criterion_readouts, "_draws", lambda: True)
    monkeypatch.setattr(criterion_readouts, "_start_timer", lambda seconds: None)
    monkeypatch.setattr(criterion_readouts, "SLOW", math.inf)


@contextmanager
def writes_refused():
    """Inside, data of the file cannot be written, as while Blender draws a panel; methods that write are not seen."""
    for cls in _GUARDED:
        for write in _WRITES:
            setattr(cls, write, _refuse)
    try:
        yield
    finally:
        for cls in _GUARDED:
            for write in _WRITES:
                delattr(cls, write)
