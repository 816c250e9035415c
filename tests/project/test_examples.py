"""The numbered examples: each runs, on both backends, and prints what the read me there shows."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from support.few import rest_slow
from support.program import LOAD

FOLDER = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))
IN_BLENDER = [script for script in SCRIPTS if "import bpy" in script.read_text("utf-8")]
PURE = [script for script in SCRIPTS if script not in IN_BLENDER]
LINES = range(15, 51)


def shown(script: Path) -> str:
    """What the read me says that it prints: the first block below its link."""
    text = (FOLDER / "README.md").read_text("utf-8")
    _, link, below = text.partition(f"]({script.name})")
    assert link, f"the read me does not name {script.name}"
    block = re.search(r"^```text\n(.*?)^```", below.split("\n## ")[0], flags=re.MULTILINE | re.DOTALL)
    assert block, f"the read me does not show what {script.name} prints"
    return block[1]


def test_there_are_fourteen_short_scripts() -> None:
    assert [script.name[:2] for script in SCRIPTS] == [f"{i:02}" for i in range(1, 15)]
    for script in SCRIPTS:
        assert len(script.read_text("utf-8").splitlines()) in LINES, script.name
    assert IN_BLENDER and PURE


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
@pytest.mark.parametrize("script", PURE, ids=lambda script: script.stem)
def test_prints_what_the_read_me_shows(script: Path, backend: str, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOKIN_BACKEND", backend)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == shown(script)


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
@pytest.mark.parametrize("script", IN_BLENDER, ids=lambda script: script.stem)
def test_prints_in_blender_what_the_read_me_shows(script: Path, backend: str) -> None:
    """In a process of its own: it registers the add-on. Blender's reports are left out."""
    source = f"{LOAD}import runpy\nrunpy.run_path({str(script)!r}, run_name='__main__')\n"
    environment = {name: value for name, value in os.environ.items() if name != "OCIO"} | {"ROBOKIN_BACKEND": backend}
    run = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert "".join(x for x in run.stdout.splitlines(True) if not x.startswith("Info: ")) == shown(script)
