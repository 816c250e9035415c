"""The C tests of the kernel, under the address and undefined-behaviour sanitisers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.oracles.compilers import c_compiler

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
TESTS = sorted((KERNEL / "tests").glob("test_*.c"))
FLAGS = ["-std=c11", "-O1", "-g", "-ffp-contract=off", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
INCLUDES = ["-I", str(KERNEL / "include"), "-I", str(KERNEL / "src")]
SANITISERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]


def compile_objects(folder: Path) -> list[Path]:
    sources = sorted((KERNEL / "src").rglob("*.c"))
    command = [*c_compiler(), *FLAGS, *SANITISERS, *INCLUDES, "-c", *map(str, sources)]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    return [folder / f"{source.stem}.o" for source in sources]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return compile_objects(tmp_path_factory.mktemp("kernel"))


def test_there_are_c_tests() -> None:
    assert {path.stem for path in TESTS} >= {"test_manifold", "test_tree", "test_trig"}


@pytest.mark.slow
@pytest.mark.parametrize("source", TESTS, ids=lambda path: path.stem)
def test_c(source: Path, objects: list[Path], tmp_path: Path) -> None:
    program = tmp_path / source.stem
    command = [*c_compiler(), *FLAGS, *SANITISERS, *INCLUDES, str(source), *map(str, objects)]
    subprocess.run([*command, "-lm", "-o", str(program)], check=True, timeout=120)
    result = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-4000:]
    assert result.stdout == f"{source.stem.removeprefix('test_')}: ok\n"
