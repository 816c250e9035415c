"""Runs mypy on the package under its one name, `robokin_addon`: a link to the checkout makes relative imports resolve.

python tools/type_check.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "robokin_addon"
PARTS = ("cli", "operators", "panels", "properties", "robokin", "scene", "solvers")


def main() -> int:
    folder = ROOT / "build" / "typing"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / PACKAGE
    if not link.is_symlink():
        link.symlink_to(ROOT, target_is_directory=True)
    packages = [argument for part in PARTS for argument in ("--package", f"{PACKAGE}.{part}")]
    environment = os.environ | {"MYPYPATH": str(folder)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *packages]
    return subprocess.run(command, cwd=folder, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
