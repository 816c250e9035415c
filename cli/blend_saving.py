"""Saving the open Blender file: beside the old one, read back, and only then in its place."""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import suppress
from pathlib import Path

from ..robokin.errors import FileFormatError
from ..robokin.files.replacing import beside, replacing
from .blend_file import is_whole_blend
from .blender import reason_of
from .errors import UsageError
from .interrupts import check_interrupt
from .report import kept_report


def save_with_report(arguments: argparse.Namespace, report: dict) -> str:
    """Save the open file as `arguments.output`, or in its own place, and the report in the file `arguments.json`, both
    or neither; return where it is. `show_report` does the rest. Raises RobokinError."""
    import bpy

    target = arguments.output or bpy.data.filepath
    with kept_report(report, arguments.json):
        save_as(target)
    return target


def save_as(path: str) -> None:
    """Save the open file as `path`, complete with what it refers to by relative paths; a file that was there stays
    as Blender keeps it, as .blend1. Raises RobokinError, and then leaves it as it was."""
    import bpy

    check_interrupt()
    target = Path(os.path.realpath(path))
    _refuse_library(path, target)
    # Nothing moves when a file is saved in its place, where a link to it may have been opened.
    is_elsewhere = not (target.exists() and bpy.data.filepath and os.path.samefile(target, bpy.data.filepath))
    with replacing(path) as part:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, relative_remap=is_elsewhere)
        except RuntimeError as error:
            raise UsageError(f"{path}: cannot be saved ({reason_of(error)})") from None
        finally:
            with suppress(OSError):
                os.unlink(f"{part}@")  # where Blender itself writes first
        if not is_whole_blend(part):  # a full disk is no error to Blender
            raise FileFormatError(path, None, "cannot be written whole: is the disk full?")
        if target.exists():
            _keep_version(target, bpy.context.preferences.filepaths.save_version)


def _refuse_library(path: str, target: Path) -> None:
    """Blender does, but does not know what the file will be called."""
    import bpy

    for library in bpy.data.libraries:
        if os.path.realpath(bpy.path.abspath(library.filepath)) == str(target):
            raise UsageError(f"{path}: cannot be saved (the open file links from it)")


def _keep_version(target: Path, count: int) -> None:
    """Keep the file as .blend1, what was that as .blend2, and so on; as many as the preferences of Blender say."""
    for number in range(count, 1, -1):
        with suppress(FileNotFoundError):
            os.replace(f"{target}{number - 1}", f"{target}{number}")
    if count:
        part = beside(target)
        try:
            try:
                os.link(target, part)
            except OSError:  # a file system without hard links
                shutil.copy2(target, part)
            os.replace(part, f"{target}1")
        finally:
            with suppress(OSError):
                part.unlink()
