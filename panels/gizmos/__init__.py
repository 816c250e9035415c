"""Gizmos: what of a robot can be dragged in the 3D view."""

from __future__ import annotations

from . import joint_gizmo

CLASSES = joint_gizmo.CLASSES
register, unregister = joint_gizmo.register, joint_gizmo.unregister
