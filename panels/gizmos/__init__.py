"""Gizmos: what of a robot can be dragged in the 3D view."""

from __future__ import annotations

import bpy

from . import handle_gizmo, joint_gizmo, shape_gizmo

CLASSES = (*handle_gizmo.CLASSES, *joint_gizmo.CLASSES, *shape_gizmo.CLASSES)
register, _unregister = bpy.utils.register_classes_factory(CLASSES)


def unregister() -> None:
    _unregister()
    handle_gizmo.batches_of.cache_clear()
