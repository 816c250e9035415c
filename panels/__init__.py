"""Panels: draw prepared values."""

from __future__ import annotations

from types import ModuleType

from . import (
    collisions,
    criteria,
    gizmos,
    joint,
    joint_values,
    link,
    make_robot,
    menus,
    moves,
    overlays,
    postures,
    robot,
    solve,
    tables,
    tasks,
    why,
)
from .prepared import redraw_cache

MODULES: tuple[ModuleType, ...] = (
    robot,
    joint,
    link,
    joint_values,
    postures,
    make_robot,
    tasks,
    criteria,
    solve,
    moves,
    why,
    tables,
    collisions,
    menus,
    overlays,
    gizmos,
)


def register() -> None:
    for module in MODULES:
        module.register()


def unregister() -> None:
    for module in reversed(MODULES):
        module.unregister()
    redraw_cache.unregister()
