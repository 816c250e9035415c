"""Loads the checkout once under the plain package name `robokin_addon`, as an installed copy would be, and gives
tests of the Blender side a registered add-on and an empty scene."""

from __future__ import annotations

import atexit
import gc
import importlib.util
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import bpy

ROOT = Path(__file__).resolve().parent.parent

# No test may see, or write to, the extensions and preferences of the person who runs it.
USER_RESOURCES = tempfile.mkdtemp(prefix="robokin-tests-")
atexit.register(shutil.rmtree, USER_RESOURCES, ignore_errors=True)
os.environ["BLENDER_USER_RESOURCES"] = USER_RESOURCES


def _load_package() -> None:
    if "robokin_addon" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "robokin_addon", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["robokin_addon"] = module
    spec.loader.exec_module(module)


_load_package()


def pytest_report_header() -> str:
    from support.hostile.fuzzing import SEED, VARIABLE

    return f"fuzzers: {VARIABLE}={SEED}"


def pytest_collection_finish() -> None:
    """The collector of garbage need not look again and again through thousands of tests, which stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def addon() -> Iterator[None]:
    """The add-on registered, for the whole session. Blender 4.5's module never ends with classes left registered."""
    import robokin_addon

    robokin_addon.register()
    yield
    robokin_addon.unregister()


SCENES = itertools.count(1)


@pytest.fixture
def scene(addon: None) -> Iterator[bpy.types.Scene]:
    """The scene of a new, empty file. Whatever pauses Live must have ended after the test."""
    import bpy
    from robokin_addon.properties.handlers import is_posing_paused

    if next(SCENES) % 50 == 0:
        # Without a window nobody reads Blender's notices of changes: they pile up, and Blender looks through all of
        # them for each datablock that is removed. Factory settings drop them.
        bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    yield bpy.context.scene
    assert not is_posing_paused()
