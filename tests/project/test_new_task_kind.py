"""docs/new-task-kind.md: its changes are applied to a copy of the program, which then has the new kind of task."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "new-task-kind.md"
PARTS = ("robokin", "solvers", "properties", "scene", "operators", "panels", "cli")
# `path`, some words, and below it the file, or what changes in it.
STEPS = re.findall(
    r"^`([\w/]+\.py)`[^\n]*\n\n```(python|diff)\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
)

IN_PYTHON = """
import json, subprocess, sys
from pathlib import Path
import robokin_addon
assert Path(robokin_addon.__file__).parent == Path.cwd() / "robokin_addon"
from robokin_addon.cli import main
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.solvers import HeightTask, solve_ik
model = load_urdf("arm.urdf")
found = solve_ik(model, [HeightTask("pen", 0.4)])
print(found.status, round(forward_kinematics(model, found.q)["pen"][2, 3], 4))
sys.argv = ["robokin", "solve", "arm.urdf", "--task", "kind=height,tip=pen,target=0.35", "--json", "solved.json"]
assert main() == 0
q = model.configuration(json.loads(Path("solved.json").read_text())["q"])
print("command line", round(forward_kinematics(model, q)["pen"][2, 3], 4))
"""
IN_BLENDER = """
import bpy, robokin_addon
robokin_addon.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.ops.robokin.import_urdf(filepath="arm.urdf")
robot = bpy.context.object
bpy.ops.robokin.target_add(kind="HEIGHT", tip="reach")
bpy.context.object.location.z = 0.3
bpy.ops.robokin.solve_pose()
bpy.context.view_layer.update()
print("Blender", robot.robokin.solver.status, round(robot.pose.bones["reach"].head.z, 4))
robokin_addon.unregister()
"""


def apply(text: str, diff: str) -> str:
    """Hunks of lines that stay (" "), come ("+") and go ("-"), each in one place of the text."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        assert text.count(before) == 1, f"{text.count(before)} places for\n{before}"
        text = text.replace(before, "".join(line[1:] for line in lines if line[0] != "-"))
    return text


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the changed program, and a robot beside."""
    folder = tmp_path_factory.mktemp("changed")
    program = folder / "robokin_addon"
    for part in PARTS:
        shutil.copytree(ROOT / part, program / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "blender_manifest.toml"):
        shutil.copy(ROOT / name, program)
    shutil.copy(ROOT / "examples" / "arm.urdf", folder)
    for path, kind, code in STEPS:
        file = program / path
        file.write_text(code if kind == "python" else apply(file.read_text("utf-8"), code), "utf-8")
    return folder


def _run(script: str, folder: Path) -> list[str]:
    source = f"import sys\nsys.path.insert(0, {str(folder)!r})\n{script}"
    run = subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return [line for line in run.stdout.splitlines() if not line.startswith("Info: ")]


def test_as_many_files_as_it_says() -> None:
    (said,) = re.findall(r"\*\*(\d+) files\*\*", PAGE.read_text("utf-8"))
    paths = [path for path, *_ in STEPS]
    assert len(paths) == len(set(paths)) == int(said)
    assert [path for path, kind, _ in STEPS if kind == "python"] == [p for p in paths if not (ROOT / p).exists()]


def test_the_new_kind_is_solved(changed: Path) -> None:
    printed = _run(IN_PYTHON, changed)
    assert printed[0] == "CONVERGED 0.4" and printed[-1] == "command line 0.35"


def test_the_new_kind_is_in_blender(changed: Path) -> None:
    assert _run(IN_BLENDER, changed)[-1] == "Blender CONVERGED 0.3"
