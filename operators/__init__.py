"""Operators: read the context, call a function, write, report."""

from __future__ import annotations

from types import ModuleType

MODULES: tuple[ModuleType, ...] = ()


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
