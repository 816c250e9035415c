"""Loads the checkout once under the plain package name `robokin_addon`, as an installed copy would be."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


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
