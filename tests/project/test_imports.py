"""What is not used is not imported: each case is a fresh Python that tells which modules it has in the end."""

from __future__ import annotations

import ast
import compileall
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from robokin_addon import robokin, solvers
from robokin_addon.cli.main import COMMANDS
from support.robots import robot

ROOT = Path(__file__).resolve().parents[2]
LAZY = ("robokin", "robokin.collision", "robokin.inertia", "robokin.urdf", "solvers", "solvers.tasks")

LOAD = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("robokin_addon", {init!r}, submodule_search_locations=[{root!r}])
module = sys.modules["robokin_addon"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
{statements}
print("modules", *sys.modules)
"""


def modules_after(statements: str) -> set[str]:
    """Ours by their names in the package ("solvers.ik"), others by their own."""
    script = LOAD.format(init=str(ROOT / "__init__.py"), root=str(ROOT), statements=statements)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return {name.removeprefix("robokin_addon.") for name in run.stdout.splitlines()[-1].split()}


def ours(modules: set[str], *parts: str) -> list[str]:
    return sorted(name for name in modules if name.startswith(tuple(f"{part}." for part in parts)))


def test_a_package_alone_imports_nothing() -> None:
    modules = modules_after("import robokin_addon.solvers, robokin_addon.robokin")
    assert ours(modules, *LAZY) == ["robokin.lazy", "solvers.tasks"]
    assert "numpy" not in modules


def test_a_solve_imports_neither_motions_nor_files() -> None:
    modules = modules_after("from robokin_addon.solvers import PoseTask, solve_ik")
    unused = {
        "solvers.motion.motion",
        "solvers.motion.files",
        "solvers.motion.check",
        "solvers.velocity.extended_jacobian",
    }
    assert modules & {*unused, "csv", "json", "xml", "difflib", "concurrent.futures"} == set()
    assert not ours(modules, "robokin.urdf", "robokin.construction", "robokin.library", "robokin.inertia")


@pytest.mark.parametrize("command", ["--version", "--help", "info", "fk"])
def test_a_command_imports_what_it_uses(command: str) -> None:
    words = [command] if command.startswith("-") else [command, str(robot("panda"))]
    modules = modules_after(f"from robokin_addon.cli import main\nassert main({words!r}) == 0")
    others = {f"cli.commands.{each.module}" for name, each in COMMANDS.items() if name != command}
    assert not modules & others
    assert not ours(modules, "solvers", "properties", "scene", "operators", "robokin.construction", "robokin.library")
    assert not modules & {"robokin.urdf.xacro.expansion", "robokin.urdf.writer", "robokin.inertia.mesh"}
    assert ("numpy" in modules) == (len(words) == 2)


@pytest.mark.parametrize("package", LAZY)
def test_a_package_exports_what_type_checkers_read(package: str) -> None:
    loaded = importlib.import_module(f"robokin_addon.{package}")
    choice = next(node for node in _tree(package).body if isinstance(node, ast.If))
    read = [name.name for node in choice.body if isinstance(node, ast.ImportFrom) for name in node.names]
    read = [each for name in read for each in (solvers.tasks.__all__ if name == "*" else [name])]
    assert sorted(read) == loaded.__all__
    assert set(loaded.__all__) <= set(dir(loaded))
    assert all(getattr(loaded, name) is not None for name in loaded.__all__)


def test_a_copy_without_sources_exports_the_same(tmp_path: Path) -> None:
    package = tmp_path / "robokin_addon"
    package.mkdir()
    for part in ("robokin", "solvers"):
        shutil.copytree(ROOT / part, package / part, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(package, quiet=1, legacy=True)
    for source in package.rglob("*.py"):
        source.unlink()
    statements = "from robokin_addon import robokin, solvers; print(*robokin.__all__, *solvers.__all__, solvers.track)"
    run = subprocess.run([sys.executable, "-c", statements], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(" ".join([*robokin.__all__, *solvers.__all__]))


def _tree(package: str) -> ast.Module:
    return ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text("utf-8"))


def _beside(package: str) -> Iterator[str]:
    for path in (ROOT / package.replace(".", "/")).iterdir():
        if path.suffix == ".py" or path.is_dir():
            yield path.stem


@pytest.mark.parametrize("package", LAZY)
def test_no_export_is_called_as_a_module(package: str) -> None:
    """It would stand for the module once that is imported."""
    loaded = importlib.import_module(f"robokin_addon.{package}")
    assert not set(loaded.__all__) & set(_beside(package))


@pytest.mark.parametrize("package", LAZY)
def test_what_is_not_there_is_an_attribute_error(package: str) -> None:
    loaded = importlib.import_module(f"robokin_addon.{package}")
    with pytest.raises(AttributeError, match=rf"robokin_addon\.{re.escape(package)}.*'nothing'"):
        loaded.nothing  # noqa: B018
    with pytest.raises(ImportError, match="nothing"):
        exec(f"from robokin_addon.{package} import nothing")


def test_names_of_the_version_before_warn() -> None:
    for before, now in {"Mesh": "MeshSurface", "HierarchicalIK": "IKProblem"}.items():
        with pytest.warns(DeprecationWarning, match=f"{before} is called {now} now"):
            assert getattr(solvers, before) is getattr(solvers, now)
