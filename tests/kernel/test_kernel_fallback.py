"""A kernel that is missing, broken or of another make: NumPy takes over and says why. Each case is a fresh Python."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin.backend.library import ABI, FUNCTIONS, ModelStruct, library_with, load_library
from robokin_addon.robokin.errors import BackendError
from support.oracles.compilers import c_compiler
from support.oracles.kernels import described

TESTS = Path(__file__).resolve().parents[1]
HEADERS = TESTS.parent / "kernel" / "include"
HEADER = HEADERS / "robokin_kernel.h"

PROGRAM = """
import logging, sys
sys.path.insert(0, sys.argv[1])
import conftest
import ctypes
import hashlib
logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
from robokin_addon.robokin import BackendError, Joint, Link, RobotModel, backend, forward_kinematics
model = RobotModel("slider", [Link("a"), Link("b")], [Joint("x", "prismatic", "a", "b")])
print(backend.get_backend("auto").name)
print(forward_kinematics(model, [0.25])["b"][2, 3])
try:
    forward_kinematics(model, [0.25], backend="native")
    print("no error")
except BackendError as error:
    print(error)
"""

SOLVERS = """
from robokin_addon.solvers import PositionTask, PostureTask, all_postures, solve_ik, track, velocity_step
there, posture = PositionTask("b", (0.0, 0.0, 0.5)), PostureTask([0.5], priority=2)
for tasks in ([there], [there, posture]):
    targets = [[task.target for task in tasks]] * 3
    assert solve_ik(model, tasks, [0.25]).converged and velocity_step(model, [0.25], tasks).v[0] > 0.0
    assert track(model, tasks, targets, [0.5]).converged.all()
assert all_postures(model, [there]).q.shape[0] > 0
"""


def run_with(package: str | None, folder: Path, program: str = PROGRAM) -> tuple[list[str], str]:
    """Lines and log of a program when `robokin_kernel` has this source; None: the installed one."""
    path = filter(None, (str(folder), os.environ.get("PYTHONPATH")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    environment.pop("ROBOKIN_BACKEND", None)
    if package is not None:
        (folder / "robokin_kernel").mkdir()
        (folder / "robokin_kernel" / "__init__.py").write_text(package, "utf-8")
    command = [sys.executable, "-c", program, str(TESTS)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines(), result.stderr


def compiled(folder: Path, source: str) -> str:
    """Source of a package around a library compiled from `source`."""
    (folder / "fake.c").write_text(source, "utf-8")
    library = folder / "fake.library"
    subprocess.run([*c_compiler(), "-shared", "-fPIC", str(folder / "fake.c"), "-o", str(library)], check=True)
    return described(library)


def assert_numpy_took_over(package: str, reason: str, folder: Path) -> None:
    lines, log = run_with(package, folder)
    assert lines[:2] == ["numpy", "0.25"]
    assert re.search(reason, lines[2]), lines[2]
    assert log.splitlines() == [f"WARNING: the native kernel is not used, NumPy takes over (slower): {lines[2]}"]


def test_the_installed_kernel_is_used(tmp_path):
    lines, log = run_with(None, tmp_path)
    assert lines == ["native", "0.25", "no error"]
    assert log == ""


def test_solvers_do_without_a_kernel(tmp_path):
    lines, _ = run_with(PACKAGES["missing"][0], tmp_path, PROGRAM + SOLVERS)
    assert lines[0] == "numpy"


LATER = "SIZE, SHA256 = 4, ''\n"
PACKAGES = {
    "missing": ("raise ImportError('no such thing')", "robokin_kernel cannot be imported: no such thing$"),
    "no Python": ("def library_path(:\0", "robokin_kernel cannot be imported: .*null bytes"),
    "cut off": ('"""Robokin\'s C kernel as a sha', "robokin_kernel cannot be imported: unterminated triple-quoted"),
    "that fails": ("1 / 0", "robokin_kernel cannot be imported: division by zero$"),
    "that fails in words": ("raise KeyError('a\\nb')", r"robokin_kernel cannot be imported: 'a\\nb'$"),
    "without a path": ("", "is of another version: .*library_path"),
    "of a version without a checksum": ("def library_path():\n    return __file__", "is of another version: .*SIZE"),
    "without a library": (
        LATER + "def library_path():\n    return '/nowhere/kernel.so'",
        "be read: .*/nowhere/kernel.so",
    ),
    "with a folder": (LATER + "def library_path():\n    return '/'", "be read: / is no file"),
    "with nothing": (LATER + "def library_path():\n    return None", "be read: .*None"),
}


@pytest.mark.parametrize("case", PACKAGES)
def test_broken_package(case, tmp_path):
    assert_numpy_took_over(*PACKAGES[case], tmp_path)


def test_what_is_no_file_in_place_of_the_library(tmp_path):
    """A pipe would be waited for. On Windows, where pipes have no names in folders, a folder."""
    make = getattr(os, "mkfifo", os.mkdir)
    make(tmp_path / "kernel.so")
    package = LATER + f"def library_path():\n    return {str(tmp_path / 'kernel.so')!r}"
    assert_numpy_took_over(package, "be read: .*kernel.so is no file", tmp_path)


def test_a_package_around_no_library(tmp_path):
    (tmp_path / "kernel.so").write_text("not a library")
    assert_numpy_took_over(described(tmp_path / "kernel.so"), "cannot be loaded: .*kernel.so", tmp_path)


def test_a_damaged_library_is_never_loaded(tmp_path):
    """One that was cut off would end the program where it reads beyond (SIGBUS), a changed one anywhere."""
    import robokin_kernel

    whole = Path(robokin_kernel.library_path()).read_bytes()
    package = described(Path(robokin_kernel.library_path())).replace(robokin_kernel.library_path(), "KERNEL")
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    for number, (content, reason) in enumerate(
        {
            whole[: len(whole) // 2]: f"has {len(whole) // 2} bytes, not {len(whole)}: install the kernel again$",
            whole + b"\0": f"has {len(whole) + 1} bytes, not {len(whole)}",
            b"": "has 0 bytes",
            bytes(changed): "is not as it was built: install the kernel again$",
        }.items()
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "kernel.so").write_bytes(content)
        assert_numpy_took_over(package.replace("KERNEL", str(folder / "kernel.so")), reason, folder)


LIBRARIES = {
    "of a later ABI": (
        f"int rk_abi(void) {{ return {ABI + 1}; }} int rk_sizeof_model(void) {{ return 1; }}",
        rf"fake.library has ABI {ABI + 1}, this version of Robokin needs {ABI}: start Blender again, or .*again$",
    ),
    "with another struct": (
        f"int rk_abi(void) {{ return {ABI}; }} int rk_sizeof_model(void) {{ return 8; }}",
        "its model struct has 8 bytes, not [0-9]+$",
    ),
    "that lacks functions": (
        f"int rk_abi(void) {{ return {ABI}; }} int rk_sizeof_model(void) {{ return {ctypes.sizeof(ModelStruct)}; }}"
        + " ".join(f"void {name}(void) {{}}" for name in FUNCTIONS[2:-2]),
        rf"fake.library lacks {FUNCTIONS[-2]}, {FUNCTIONS[-1]}: it is of another version$",
    ),
    "of somebody else": ("int answer(void) { return 42; }", "rk_abi"),
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_library(case, tmp_path):
    source, reason = LIBRARIES[case]
    assert_numpy_took_over(compiled(tmp_path, source), reason, tmp_path)


def test_a_struct_of_another_size_is_refused():
    size = load_library().rk_sizeof_cone()
    with pytest.raises(BackendError, match=f"^the kernel's rk_cone has {size} bytes, not 4$"):
        library_with(model=ModelStruct, cone=np.dtype(np.int32))


def test_header_and_loader_agree():
    header = HEADER.read_text("utf-8")
    assert re.search(r"#define RK_ABI (\d+)", header)[1] == str(ABI)
    # Names and order of the struct's fields, ints and pointers alike.
    struct = re.search(r"typedef struct rk_model \{(.*?)\} rk_model;", header, re.DOTALL)[1]
    struct = re.sub(r"/\*.*?\*/", "", struct)
    declared = re.findall(r"(\w+)(?=[,;])", struct)
    assert declared == [name for name, _ in ModelStruct._fields_]


def test_all_declared_functions_are_asked_for():
    headers = "".join(header.read_text("utf-8") for header in HEADERS.glob("*.h"))
    declared = re.findall(r"^RK_API \w+ (\w+)\(", headers, re.MULTILINE)
    assert sorted(declared) == sorted(FUNCTIONS)


# Of everything that the headers declare, comments and spaces aside, at ABI 33.
DECLARATIONS = "a43ee1f69f42aae9"


def test_a_change_of_the_headers_raises_the_abi():
    """An extension that meets a kernel of other structs must see that by the number, or it would not fall back."""
    text = "".join(header.read_text("utf-8") for header in sorted(HEADERS.glob("*.h")))
    declared = "".join(re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).split())
    digest = hashlib.sha256(declared.encode()).hexdigest()[:16]
    assert digest == DECLARATIONS, "the headers changed: raise RK_ABI and ABI, then put the new digest here"
