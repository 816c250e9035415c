"""The pages of the sidebar's tab: which panels are shown."""

from __future__ import annotations

import bpy

PAGES = (
    ("POSE", "Pose", "Joint values and postures", "ARMATURE_DATA", 0),
    ("TASKS", "Tasks", "Targets, what the tips must do, and Solve", "EMPTY_ARROWS", 1),
    ("ANIMATE", "Animate", "Bake, check and export motions", "ACTION", 2),
    ("ROBOT", "Robot", "What the robot is: joints, limits, links, tables", "SETTINGS", 3),
)
PAGE = "robokin_page"


def shown_page(context: bpy.types.Context) -> str:
    return context.window_manager.robokin_page


def new_property() -> object:
    """A property for WindowManager: what a person looks at is none of the file's business."""
    return bpy.props.EnumProperty(name="Page", description="Which panels are shown", items=PAGES)
