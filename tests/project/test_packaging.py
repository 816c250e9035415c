"""What is packed: the extension's manifest, its contents, the Python package, and that they agree."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from robokin_addon.cli import version

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("cli", "operators", "panels", "properties", "robokin", "scene", "solvers")


def toml(name: str) -> dict:
    return tomllib.loads((ROOT / name).read_text("utf-8"))


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"script_{Path(name).stem}", ROOT / name)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MANIFEST = toml("blender_manifest.toml")


def test_one_version() -> None:
    assert toml("pyproject.toml")["project"]["version"] == MANIFEST["version"] == version()
    assert f"## {MANIFEST['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_python_package_lists_every_package() -> None:
    found = {".".join(("robokin_addon", *path.parent.relative_to(ROOT).parts)) for path in sub_packages()}
    assert toml("pyproject.toml")["tool"]["setuptools"]["packages"] == sorted({"robokin_addon", *found})


def sub_packages() -> list[Path]:
    return [path for part in PARTS for path in (ROOT / part).rglob("__init__.py")]


def test_every_platform_has_the_kernel_that_is_built_for_it() -> None:
    build = script("kernel/build.py")
    assert MANIFEST["platforms"] == list(build.TARGETS)
    names = [f"./wheels/robokin_kernel-{build.release()}-py3-none-{t.tag}.whl" for t in build.TARGETS.values()]
    assert MANIFEST["wheels"] == names


def test_the_manifest_keeps_to_what_blender_asks() -> None:
    assert len(MANIFEST["tagline"]) <= 64
    assert MANIFEST["tagline"][-1].isalnum()
    assert MANIFEST["license"] == ["SPDX:GPL-3.0-or-later"]
    assert "GNU GENERAL PUBLIC LICENSE" in (ROOT / "LICENSE").read_text("utf-8")


# What each permission of Blender's manifest stands for, as it is written in our sources.
USES = {
    "clipboard": r"window_manager\.clipboard",
    "files": r"\b(write_text|read_text|write_bytes|read_bytes|open)\(",
    "network": r"\b(import|from) (socket|urllib\.request|http|requests|ssl|ftplib)\b",
    "camera": r"\bimport cv2\b",
    "microphone": r"\bimport (pyaudio|sounddevice)\b",
}


def test_the_manifest_asks_for_what_is_used() -> None:
    sources = [path.read_text("utf-8") for part in PARTS for path in (ROOT / part).rglob("*.py")]
    used = {name for name, pattern in USES.items() if any(re.search(pattern, source) for source in sources)}
    assert set(MANIFEST["permissions"]) == used == {"clipboard", "files"}
    for reason in MANIFEST["permissions"].values():
        assert 0 < len(reason) <= 64 and reason[-1].isalnum()


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    wheels, folder = tmp_path / "wheels", tmp_path / "staged"
    wheels.mkdir()
    folder.mkdir()
    build = script("kernel/build.py")
    for wheel in MANIFEST["wheels"]:
        (wheels / Path(wheel).name.replace(build.release(), build.version())).touch()
    script("tools/build_extension.py").stage(folder, wheels)
    return folder


def test_the_extension_holds_the_package_and_nothing_else(staged: Path) -> None:
    files = {"__init__.py", "blender_manifest.toml", "LICENSE", "README.md", "CHANGELOG.md"}
    assert {path.name for path in staged.iterdir()} == {*files, *PARTS, "wheels"}
    packed = {path.relative_to(staged) for part in PARTS for path in (staged / part).rglob("*") if path.is_file()}
    assert {path.suffix for path in packed} == {".py"}
    assert packed == {path.relative_to(ROOT) for part in PARTS for path in (ROOT / part).rglob("*.py")}


def test_the_extension_holds_the_wheels_of_its_manifest(staged: Path) -> None:
    named = tomllib.loads((staged / "blender_manifest.toml").read_text("utf-8"))["wheels"]
    assert {f"./wheels/{path.name}" for path in (staged / "wheels").iterdir()} == set(named)
    assert len(named) == len(MANIFEST["wheels"])


def test_a_changed_kernel_has_a_wheel_of_another_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Blender keeps an installed wheel whose version an update names again: with it the old kernel would stay."""
    build = script("kernel/build.py")
    before = build.version()
    assert re.fullmatch(re.escape(build.release()) + r"\+k[0-9a-f]{8}", before)
    shutil.copytree(build.SOURCES, tmp_path / "src")
    monkeypatch.setattr(build, "SOURCES", tmp_path / "src")
    assert build.version() == before
    changed = next((tmp_path / "src").rglob("*.c"))
    changed.write_text(changed.read_text("utf-8") + "\n", "utf-8")
    assert build.version() != before


BUILD = """
import sys
function, out = sys.argv[1:]
sys.path.insert(0, "tools")
import build_backend
assert build_backend.ZIG in build_backend.get_requires_for_build_wheel()
print("built", getattr(build_backend, function)(out))
"""

SOLVE = """
import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import PoseTask, solve_ik
model = library_robot("panda")
q = 0.5 * (model.lower + model.upper)
target = forward_kinematics(model, q + 0.1)["tool"]
print(solve_ik(model, [PoseTask("tool", target)], q, backend="native").status)
"""


def built(function: str, source: Path, out: Path) -> Path:
    """What the build backend of an unpacked source makes."""
    out.mkdir()
    command = [sys.executable, "-c", BUILD, function, str(out)]
    run = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return out / run.stdout.splitlines()[-1].removeprefix("built ")


@pytest.mark.slow
def test_what_pip_installs_has_the_kernel(tmp_path: Path) -> None:
    """From a checkout, and from a source distribution, which must hold all that it takes."""
    checkout = tmp_path / "checkout"
    unwanted = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "out")
    shutil.copytree(ROOT, checkout, ignore=unwanted)
    with tarfile.open(built("build_sdist", checkout, tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    wheel = built("build_wheel", source, tmp_path / "wheel")
    build = script("kernel/build.py")
    assert wheel.name == f"robokin-{MANIFEST['version']}-py3-none-{build.TARGETS[build.host()].tag}.whl"
    assert [path.name for path in wheel.parent.iterdir()] == [wheel.name]
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(wheel)], check=True, timeout=120)
    assert (site / "robokin_kernel" / build.library_name(build.TARGETS[build.host()])).is_file()
    environment = os.environ | {"PYTHONPATH": str(site), "ROBOKIN_BACKEND": "native"}
    run = subprocess.run([sys.executable, "-c", SOLVE], env=environment, capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["CONVERGED"], run.stderr


def test_one_version_of_zig() -> None:
    assert f'ZIG = "{toml("pyproject.toml")["project"]["optional-dependencies"]["build"][0]}"' in (
        ROOT / "tools" / "build_backend.py"
    ).read_text("utf-8")
