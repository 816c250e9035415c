"""A script on Blender's module ends well, whether it unregisters or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import robokin_addon

FOLDER = Path(robokin_addon.__file__).resolve().parent
LOAD = f"""
import importlib.util, sys
import bpy
spec = importlib.util.spec_from_file_location(
    "robokin_addon", {str(FOLDER / "__init__.py")!r}, submodule_search_locations=[{str(FOLDER)!r}]
)
addon = sys.modules["robokin_addon"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(addon)
"""


@pytest.mark.parametrize("script", ["addon.register(); addon.unregister()", "addon.register()"])
def test_the_end_of_a_script(script, tmp_path):
    """One that is left registered is unregistered once, and one that is not, is not again."""
    file = tmp_path / "script.py"
    file.write_text(LOAD + script)
    ended = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
