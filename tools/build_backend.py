"""Builds the Python package for pip: that of setuptools, with the kernel for this machine in it (PEP 517).

An editable installation is without the kernel: whoever works on it builds its wheel beside, again and again, as `make`
does. On a machine that the kernel is not built for, the package is plain Python, and NumPy does the work.
"""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ZIG = "ziglang==0.17.*"  # that of the extra `build`; a test compares them

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    required = build_meta.get_requires_for_build_wheel(config_settings)
    return [*required, ZIG] if kernel_target() is not None else required


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    wheel = Path(wheel_directory, build_meta.build_wheel(wheel_directory, config_settings, metadata_directory))
    target = kernel_target()
    if target is None:
        print("the kernel is not built for this machine: NumPy does its work, slower", file=sys.stderr)
        return wheel.name
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    wheel.unlink()
    (info,) = {name.partition("/")[0] for name in files if name.endswith(".dist-info/RECORD")}
    del files[f"{info}/RECORD"]
    return kernel.pack_wheel(files | kernel.package_files(target), info, target, wheel.parent).name


def kernel_target() -> Any:
    """The `Target` of this machine; None where the kernel is not built for it."""
    return kernel.TARGETS.get(kernel.host_name())


def _kernel() -> ModuleType:
    """kernel/build.py."""
    path = Path(__file__).resolve().parent.parent / "kernel" / "build.py"
    spec = importlib.util.spec_from_file_location("kernel_build", path)
    assert spec and spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # where its dataclasses look for names
    spec.loader.exec_module(module)
    return module


kernel = _kernel()
