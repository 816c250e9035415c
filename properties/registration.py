"""`register` and `unregister` of modules, of classes, and of what else Blender is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import bpy


def register_modules_factory(modules: Sequence[ModuleType]) -> tuple[Callable[[], None], Callable[[], None]]:
    """(register, unregister) of the modules, in their order and back; as `bpy.utils.register_classes_factory`."""

    def register() -> None:
        for module in modules:
            for cls in getattr(module, "CLASSES", ()):
                if issubclass(cls, bpy.types.Operator) and cls.__doc__:
                    cls.__doc__ = " ".join(cls.__doc__.split())  # a tooltip, whose lines Blender breaks itself
            module.register()

    def unregister() -> None:
        for module in reversed(modules):
            module.unregister()

    return register, unregister


def registration(
    classes: Sequence[type], *entries: tuple[type[bpy.types.Menu | bpy.types.Header], Callable[..., None]]
) -> tuple[Callable[[], None], Callable[[], None]]:
    """(register, unregister) of classes, and of entries (menu, draw) of Blender's own menus."""

    def register() -> None:
        for cls in classes:
            bpy.utils.register_class(cls)
        for menu, draw in entries:
            menu.append(draw)

    def unregister() -> None:
        for menu, draw in reversed(entries):
            menu.remove(draw)
        for cls in reversed(classes):
            bpy.utils.unregister_class(cls)

    return register, unregister
