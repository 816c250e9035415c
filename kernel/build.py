"""Builds the kernel into wheels, for every platform from any machine: zig cc (the `ziglang` package) cross-compiles.

python kernel/build.py [--target host|all|NAME ...] [--out DIR]

The wheels `robokin_kernel-<version>-py3-none-<platform>.whl` hold one C library without Python symbols, so that each
serves every Python 3. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
HEADERS = HERE / "include"
PACKAGE = "robokin_kernel"
# No fast-math and no contraction to fused multiply-add: every platform computes the same bits.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", "-shared", "-s"]
EARLIEST = (1980, 1, 1, 0, 0, 0)  # of the zip format: a fixed time makes wheels reproducible


@dataclass(frozen=True)
class Target:
    """A platform: zig's name for it, the wheel's tag, and the library's file name around the version."""

    triple: str
    tag: str
    prefix: str
    suffix: str
    flags: tuple[str, ...] = ("-fPIC",)


def _linux(cpu: str) -> Target:
    return Target(f"{cpu}-linux-gnu.2.28", f"manylinux_2_28_{cpu}", "lib", ".so")


def _windows(cpu: str, tag: str) -> Target:
    return Target(f"{cpu}-windows-gnu", f"win_{tag}", "", ".dll", ())


def _macos(cpu: str, tag: str) -> Target:
    return Target(f"{cpu}-macos.11.0", f"macosx_11_0_{tag}", "lib", ".dylib")


TARGETS = {
    "linux-x64": _linux("x86_64"),
    "linux-arm64": _linux("aarch64"),
    "windows-x64": _windows("x86_64", "amd64"),
    "windows-arm64": _windows("aarch64", "arm64"),
    "macos-x64": _macos("x86_64", "x86_64"),
    "macos-arm64": _macos("aarch64", "arm64"),
}


def release() -> str:
    """The version that its header states."""
    found = re.search(r'#define RK_VERSION "([^"]+)"', (HEADERS / "robokin_kernel.h").read_text("utf-8"))
    if not found:
        raise SystemExit("robokin_kernel.h defines no RK_VERSION")
    return found[1]


def version() -> str:
    """The version of its wheels (PEP 440): the release, and a digest of what is compiled. Blender keeps an installed
    wheel whose version it is given again, so that other sources need another version."""
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    for path in [*sorted(HEADERS.rglob("*.h")), *sorted(SOURCES.rglob("*.[ch]"))]:
        digest.update(path.read_bytes())
    return f"{release()}+k{digest.hexdigest()[:8]}"


def host() -> str:
    """Name of the target that this machine runs."""
    name = host_name()
    if name not in TARGETS:
        raise SystemExit(f"no target for {platform.system()} on {platform.machine()} (targets: {', '.join(TARGETS)})")
    return name


def host_name() -> str:
    """What the target of this machine would be called."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}.get(platform.system(), "")
    cpu = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower(), "")
    return f"{system}-{cpu}"


def library_name(target: Target) -> str:
    """Named by version: Windows cannot replace a library that a running program has loaded."""
    return f"{target.prefix}{PACKAGE}-{version()}{target.suffix}"


def compile_library(target: Target, folder: Path) -> Path:
    """Compile all of src/ for `target` into `folder`; the path of the library."""
    library = folder / library_name(target)
    sources = sorted(str(path) for path in SOURCES.rglob("*.c"))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target.triple, *FLAGS, *target.flags]
    if target.suffix == ".dylib":
        command.append(f"-Wl,-install_name,@rpath/{library.name}")
    command += ["-I", str(HEADERS), "-I", str(SOURCES), *sources, "-o", str(library)]
    try:
        subprocess.run(command, check=True)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{target.triple}: zig cc failed (is `ziglang` installed in this Python?)") from error
    return library


def build_wheel(target: Target, out: Path) -> Path:
    """Compile for `target` and pack the wheel into `out`; its path."""
    info = f"{PACKAGE}-{version()}.dist-info"
    files = package_files(target)
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    return pack_wheel(files, info, target, out)


def package_files(target: Target) -> dict[str, bytes]:
    """The Python package of the kernel, compiled for `target`: contents by path."""
    with tempfile.TemporaryDirectory() as folder:
        library = compile_library(target, Path(folder))
        return {
            f"{PACKAGE}/__init__.py": _init(library).encode(),
            f"{PACKAGE}/{library.name}": library.read_bytes(),
        }


def pack_wheel(files: dict[str, bytes], info: str, target: Target, out: Path) -> Path:
    """Pack a wheel for `target` of contents by path into `out`; its path. info: its folder NAME-VERSION.dist-info."""
    files = {**files, f"{info}/WHEEL": _wheel_file(target).encode()}
    files[f"{info}/RECORD"] = _record(files, f"{info}/RECORD").encode()
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{info.removesuffix('.dist-info')}-py3-none-{target.tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whatever machine builds
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return wheel


def _init(library: Path) -> str:
    content = library.read_bytes()
    return f'''"""Robokin's C kernel as a shared library; `robokin.backend.native` calls it."""

from pathlib import Path

__version__ = "{version()}"
# Of the library: a program that maps one that was cut off ends where it reads on.
SIZE = {len(content)}
SHA256 = "{hashlib.sha256(content).hexdigest()}"


def library_path() -> str:
    """Path of the shared library."""
    return str(Path(__file__).resolve().with_name("{library.name}"))
'''


def _metadata() -> str:
    readme = (HERE / "README.md").read_text("utf-8")
    return f"""Metadata-Version: 2.4
Name: robokin-kernel
Version: {version()}
Summary: Kinematics, dynamics and inverse kinematics of robot trees: the C kernel of Robokin
License-Expression: GPL-3.0-or-later
License-File: LICENSE
Requires-Python: >=3.11
Description-Content-Type: text/markdown

{readme}"""


def _wheel_file(target: Target) -> str:
    return f"Wheel-Version: 1.0\nGenerator: robokin\nRoot-Is-Purelib: false\nTag: py3-none-{target.tag}\n"


def _record(files: dict[str, bytes], own_name: str) -> str:
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{own_name},,\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", nargs="+", default=["host"], metavar="NAME", choices=["host", "all", *TARGETS],
                        help=f"host, all, or any of {', '.join(TARGETS)}")  # fmt: skip
    parser.add_argument("--out", type=Path, default=HERE.parent / "dist", help="folder of the wheels (default: dist)")
    options = parser.parse_args(arguments)
    names: list[str] = []
    for name in options.target:
        names += list(TARGETS) if name == "all" else [host() if name == "host" else name]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # of threads that wait for compilers
        for wheel in pool.map(lambda name: build_wheel(TARGETS[name], options.out), dict.fromkeys(names)):
            print(f"{wheel} ({wheel.stat().st_size} bytes)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
