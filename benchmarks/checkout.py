"""Makes the checkout importable as `robokin_addon`, so that the benchmarks measure what stands here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def load() -> None:
    if "robokin_addon" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "robokin_addon", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    sys.modules["robokin_addon"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["robokin_addon"])
