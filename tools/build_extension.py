"""Packs the extension: one zip for each platform, with its wheels, checked by Blender's own tool.

    python tools/build_extension.py WHEELS OUTPUT

WHEELS holds the wheels of the kernel; any other wheel that the manifest lists is fetched from the package index.
Blender comes as the `bpy` module of the Python that runs this, whose packing tool works without a window.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
FILES = ("__init__.py", "blender_manifest.toml", "LICENSE", "README.md", "CHANGELOG.md")
PACKAGES = ("cli", "operators", "panels", "properties", "robokin", "scene", "solvers")


def packing_tool() -> Path:
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        raise SystemExit("this Python has no bpy, whose packing tool is needed")
    found = sorted(Path(spec.origin).parent.glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    if not found:
        raise SystemExit(f"no packing tool beside {spec.origin}")
    return found[-1]


def kernel_build() -> ModuleType:
    """kernel/build.py."""
    spec = importlib.util.spec_from_file_location("kernel_build", ROOT / "kernel" / "build.py")
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where its dataclasses look for names
    spec.loader.exec_module(module)
    return module


def stage(folder: Path, wheels: Path) -> dict:
    """Put what belongs into the extension, and nothing else, into `folder`; return its manifest, which names the
    kernel's wheels by the version that they have now."""
    for name in FILES:
        shutil.copy(ROOT / name, folder / name)
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    text = (folder / "blender_manifest.toml").read_text("utf-8")
    kernel = kernel_build()
    text = text.replace(f"/{kernel.PACKAGE}-{kernel.release()}-", f"/{kernel.PACKAGE}-{kernel.version()}-")
    (folder / "blender_manifest.toml").write_text(text, "utf-8")
    manifest = tomllib.loads(text)
    (folder / "wheels").mkdir()
    for wheel in manifest["wheels"]:
        target = folder / wheel
        if (wheels / target.name).is_file():
            shutil.copy(wheels / target.name, target)
        else:
            fetch(target)
    return manifest


def fetch(wheel: Path) -> None:
    """Download one wheel, unmodified, from whatever package index pip is configured for."""
    name, version, _ = wheel.name.split("-", 2)
    arguments = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(wheel.parent)]
    subprocess.run([sys.executable, "-m", "pip", *arguments, f"{name}=={version}"], check=True)
    if not wheel.is_file():
        raise SystemExit(f"the package index holds {name} {version}, but not as {wheel.name}")


def main() -> int:
    wheels, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    output.mkdir(parents=True, exist_ok=True)
    tool = [sys.executable, str(packing_tool())]
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary)
        manifest = stage(source, wheels)
        for old in output.glob(f"{manifest['id']}-*.zip"):
            old.unlink()
        build = [*tool, "build", "--source-dir", str(source), "--output-dir", str(output), "--split-platforms"]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    packed = sorted(output.glob(f"{manifest['id']}-{manifest['version']}-*.zip"))
    if len(packed) != len(manifest["platforms"]):
        raise SystemExit(f"{len(packed)} zips for {len(manifest['platforms'])} platforms")
    for archive in packed:
        subprocess.run([*tool, "validate", str(archive)], check=True, stdout=subprocess.DEVNULL)
        print(f"{archive}  {archive.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
