"""Overlays: what is drawn over the robots in the 3D view and in the timeline."""

from __future__ import annotations

from ...properties.registration import register_modules_factory
from . import drawing, popover, timeline

MODULES = (drawing, timeline, popover)
CLASSES = popover.CLASSES
register, unregister = register_modules_factory(MODULES)
