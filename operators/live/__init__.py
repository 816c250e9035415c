"""Live: a robot follows its targets at once, whenever they, its tasks or the frame change."""

from __future__ import annotations

from ...properties.registration import register_modules_factory
from . import events, rendering

register, unregister = register_modules_factory((rendering, events))
