"""What Blender refuses while it draws."""

from __future__ import annotations

from contextlib import contextmanager

import bpy

_GUARDED = (
    *(bpy.types.ID, bpy.types.PropertyGroup, bpy.types.Bone, bpy.types.EditBone, bpy.types.PoseBone),
    *(bpy.types.Constraint, bpy.types.AnimData, bpy.types.FCurve, bpy.types.Driver, bpy.types.DriverTarget),
)
_WRITES = ("__setattr__", "__setitem__", "__delitem__")


def _refuse(owner, name, *_):
    raise AttributeError(f"Writing to ID classes in this context is not allowed: {type(owner).__name__}, {name!r}")


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
