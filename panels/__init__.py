"""Panels: draw prepared values."""

from __future__ import annotations

from types import ModuleType

from ..properties.registration import register_modules_factory
from . import (
    collisions,
    criteria,
    gizmos,
    joint,
    joint_values,
    link,
    make_robot,
    menus,
    overlays,
    postures,
    robot,
    solve,
    tables,
    tasks,
    why,
)
from .animate import dynamics, moves, retarget
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
    dynamics,
    moves,
    retarget,
    why,
    tables,
    collisions,
    menus,
    overlays,
    gizmos,
)


register, _unregister = register_modules_factory(MODULES)


def unregister() -> None:
    _unregister()
    redraw_cache.unregister()
