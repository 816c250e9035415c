"""Registering modules, each of which has `register` and `unregister`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType


def register_modules_factory(modules: Sequence[ModuleType]) -> tuple[Callable[[], None], Callable[[], None]]:
    """(register, unregister) of the modules, in their order and back; as `bpy.utils.register_classes_factory`."""

    def register() -> None:
        for module in modules:
            module.register()

    def unregister() -> None:
        for module in reversed(modules):
            module.unregister()

    return register, unregister
