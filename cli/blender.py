"""Blender for the commands that need it: the `bpy` module in a console script, or the Blender that runs us."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..robokin.errors import UnknownNameError
from .errors import UsageError
from .quiet import output_dropped

if TYPE_CHECKING:
    import bpy

ROOT = __package__.rpartition(".")[0]


@contextmanager
def blender() -> Iterator[None]:
    """Blender with Robokin registered, its chatter kept off standard output. Raises UsageError without Blender."""
    try:
        import bpy
    except ImportError as error:
        raise UsageError(
            f"this command needs Blender ({error}): install its module with pip install 'robokin[blender]', or run"
            " blender --background --command robokin ..."
        ) from None
    addon = import_module(ROOT)
    registered = hasattr(bpy.types.Object, "robokin")
    with output_dropped():
        if not registered:
            addon.register()
        try:
            yield
        finally:
            # Blender 4.5's module never ends with classes left registered.
            if not registered:
                addon.unregister()


@contextmanager
def blender_file(path: str | None) -> Iterator[None]:
    """`blender()` with the file at `path` open; None: the file that is open. Raises UsageError."""
    with blender():
        import bpy

        if path is not None:
            try:
                bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False)
            except RuntimeError as error:
                raise UsageError(f"{path}: this Blender cannot open it ({_reason(error)})") from None
        elif not bpy.data.filepath:
            raise UsageError("FILE is missing: name a .blend file (inside Blender: or open one)")
        yield


def find_robot(name: str | None) -> bpy.types.Object:
    """The robot called `name` in the open file; the only one when None. Raises UsageError, UnknownNameError."""
    import bpy

    from ..properties.bridge import is_robot

    scene = bpy.context.scene
    robots = {obj.name: obj for obj in scene.objects if is_robot(obj)}
    if name is not None:
        if name not in robots:
            raise UnknownNameError("robot", name, robots)
        return robots[name]
    if len(robots) != 1:
        file = Path(bpy.data.filepath).name
        if not robots:
            raise UsageError(f"{file}: no robot in the scene {scene.name!r}")
        raise UsageError(f"{file} holds several robots; choose one with --robot: {', '.join(sorted(robots))}")
    return next(iter(robots.values()))


def save_as(path: str) -> None:
    """Save the open file as `path`, complete with what it refers to by relative paths. Raises UsageError."""
    import bpy

    try:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(path), copy=True, relative_remap=True)
    except RuntimeError as error:
        raise UsageError(f"{path}: cannot be saved ({_reason(error)})") from None


def _reason(error: RuntimeError) -> str:
    """What an operator reported, without Blender's frame around it."""
    return str(error).strip().removeprefix("Error: ").rstrip()
