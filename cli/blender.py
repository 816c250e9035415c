"""Blender for the commands that need it: the `bpy` module in a console script, or the Blender that runs us."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..robokin.errors import UnknownNameError
from .arguments import BLEND, is_blend
from .errors import UsageError
from .interrupts import check_interrupt, interrupts_held
from .quiet import output_dropped

if TYPE_CHECKING:
    import bpy

ROOT = __package__.rpartition(".")[0]


@contextmanager
def blender() -> Iterator[None]:
    """Blender with Robokin registered, its chatter kept off standard output. Raises UsageError without Blender."""
    with output_dropped(), interrupts_held():
        try:
            import bpy
        except ImportError as error:
            raise UsageError(
                f"this command needs Blender ({error}): install its module (pip install bpy), or run"
                " blender --background --command robokin ..."
            ) from None
        addon = import_module(ROOT)
        registered = hasattr(bpy.types.Object, "robokin")
        if not registered:
            addon.register()
        try:
            check_interrupt()
            yield
        finally:
            # Blender 4.5's module never ends with classes left registered, or after a driver in Python's words.
            if not registered:
                bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
                addon.unregister()


@contextmanager
def blender_file(arguments: argparse.Namespace) -> Iterator[None]:
    """`blender()` with `arguments.file` open; None means the open file, inside Blender. Raises UsageError."""
    path = arguments.file
    if not is_blend(path):
        raise UsageError(f"{path}: is not a {BLEND} file (robokin import makes one of a .urdf)")
    if path is None and not arguments.in_blender:
        raise UsageError(f"FILE is missing: name a {BLEND} file")
    with blender():
        import bpy

        if path is not None:
            try:
                bpy.ops.wm.open_mainfile(filepath=os.path.abspath(path), load_ui=False)
            except RuntimeError as error:
                raise UsageError(f"{path}: this Blender cannot open it ({reason_of(error)})") from None
        elif not bpy.data.filepath:
            raise UsageError(f"FILE is missing: name a {BLEND} file, or open one")
        check_interrupt()
        try:
            with some_window():
                yield
        except (UnicodeDecodeError, SystemError) as error:  # of a text that is none, or of no length
            reason = error.__cause__ or error
            raise UsageError(f"{path or bpy.data.filepath}: damaged: Blender cannot read it ({reason})") from None


@contextmanager
def some_window() -> Iterator[None]:
    """A window in the context, which operators want: a command finds none there once a file has been loaded."""
    import bpy

    windows = bpy.context.window_manager.windows
    if bpy.context.window is not None or not windows:
        yield
    else:
        with bpy.context.temp_override(window=windows[0]):
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


def find_object(name: str) -> bpy.types.Object:
    """An object of the open file's scene. Raises UnknownNameError."""
    import bpy

    objects = {obj.name: obj for obj in bpy.context.scene.objects}
    if name not in objects:
        raise UnknownNameError(f"object in the scene {bpy.context.scene.name!r}", name, objects)
    return objects[name]


def chosen_frames(robot: bpy.types.Object, chosen: tuple[int, int] | None, step: int | None) -> range:
    """The frames from the first chosen one to the last; what is None is as the robot's settings say. Raises UsageError
    for settings that leave none."""
    import bpy

    from ..scene.animation.frames import chosen_span

    settings = robot.robokin.solver
    first, last = chosen or chosen_span(bpy.context.scene, settings)
    if last < first:
        raise UsageError(f"the range of {robot.name!r} ends before it begins: frames {first} to {last}; give --frames")
    return range(first, last + 1, step or settings.step)


def reason_of(error: RuntimeError) -> str:
    """What an operator reported, without Blender's frame around it."""
    return str(error).strip().removeprefix("Error: ").rstrip()
