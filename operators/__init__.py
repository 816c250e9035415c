"""Operators: read the context, call a function, write, report."""

from __future__ import annotations

from types import ModuleType

from . import hand_limits, import_urdf

MODULES: tuple[ModuleType, ...] = (import_urdf, hand_limits)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
