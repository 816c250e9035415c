"""Gizmos: what of a robot can be dragged in the 3D view."""

from __future__ import annotations

import bpy

from . import handle_gizmo, joint_gizmo, shape_gizmo

CLASSES = (*handle_gizmo.CLASSES, *joint_gizmo.CLASSES, *shape_gizmo.CLASSES)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
