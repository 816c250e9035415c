"""The dependency rule: which part of Robokin may import which, read from the source, and that the pure parts
import without Blender."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from support.sources import parsed

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "robokin_addon"

# What each part of the package may import of the others. The root registers; the command line is the other entry.
ALLOWED = {
    "robokin": set(),
    "solvers": {"robokin"},
    "properties": {"robokin", "solvers"},
    "scene": {"properties", "solvers", "robokin"},
    "operators": {"scene", "properties", "solvers", "robokin"},
    "panels": {"properties", "robokin"},
    "cli": {"scene", "properties", "solvers", "robokin"},
    "": {"cli", "operators", "panels", "properties"},
}
# The order inside a part: a package may import those before it, and modules that lie in the part itself.
ORDER = {
    "solvers": "qp kinematics tasks limits criteria velocity descent optimum families singularities ik methods "
    "postures posing motion tracking trajectories optimal_control retiming planning program traversal",
    "robokin": "spatial model structure files backend collision inertia construction library urdf",
    "properties.bridge": "record model pose rig editing visuals files",
    "scene": "animation tasks criteria bake check repair posing live conversion examples",
}
FILES = 15  # in a folder, at most
LINES = 340  # of a file, at most
POSITIONAL = 10  # arguments of a call without their names
TEST_LINES = 450
LONGER = {"solvers/tracking/tracker.py": 400}  # one object with one state
PURE = ("robokin", "solvers")
BLENDER = {"bpy", "bpy_extras", "mathutils", "gpu", "gpu_extras", "blf", "bl_ui", "bmesh", "addon_utils", "idprop"}
THIRD_PARTY = {"numpy"}


def source_files() -> list[Path]:
    return [ROOT / "__init__.py", *(p for part in ALLOWED if part for p in sorted((ROOT / part).rglob("*.py")))]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join([PACKAGE, *parts]).removesuffix(".__init__")


MODULES = {module_name(path): path for path in source_files()}


def part_of(module: str) -> str:
    """The part "robokin" of "robokin_addon.robokin.urdf"; "" for the root."""
    return [*module.split("."), ""][1]


class Import:
    """One import statement: where it stands, what it names absolutely, and whether it runs when the module loads."""

    def __init__(self, module: str, node: ast.stmt, target: str, relative: bool, at_load: bool, name: str = "") -> None:
        """name: what is taken from the module `target`, unless it is that module."""
        self.module, self.target, self.relative, self.at_load, self.name = module, target, relative, at_load, name
        self.for_types = False
        self.where = f"{MODULES[module].relative_to(ROOT)}:{node.lineno}"


def imports_of(module: str) -> Iterator[Import]:
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def visit(node: ast.AST, at_load: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, child, alias.name, False, at_load)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    above = package.split(".")
                    above = above[: len(above) - child.level + 1]
                    base = ".".join([*above, *([child.module] if child.module else [])])
                for alias in child.names:
                    full = f"{base}.{alias.name}"
                    is_module = full in MODULES
                    yield Import(
                        *(module, child, full if is_module else base, bool(child.level), at_load),
                        "" if is_module else alias.name,
                    )
            elif isinstance(child, ast.If) and ast.unparse(child.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                for item in visit(ast.Module(child.body, []), False):
                    item.for_types = True
                    yield item
                yield from visit(ast.Module(child.orelse, []), at_load)
            elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):  # no expression holds an import
                inside = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
                yield from visit(child, at_load and not inside)

    yield from visit(parsed(path), True)


@cache
def all_imports() -> list[Import]:
    return [i for module in MODULES for i in imports_of(module)]


def ours(item: Import) -> bool:
    return item.target == PACKAGE or item.target.startswith(PACKAGE + ".")


def test_the_source_is_read() -> None:
    assert len(MODULES) > 10
    assert any(i.target == f"{PACKAGE}.robokin.model.tree" and i.relative for i in all_imports())
    on_disk = {p for p in ROOT.iterdir() if (p / "__init__.py").is_file() and p.name not in ("tests", "tools")}
    assert {p.name for p in on_disk} <= set(ALLOWED), "a new part of the package needs its place in the rule"


def test_parts_import_only_what_the_rule_allows() -> None:
    wrong = [
        f"{i.where}: {part_of(i.module) or 'the root'} imports {i.target}"
        for i in all_imports()
        if ours(i)
        and part_of(i.target) != part_of(i.module)
        and part_of(i.target) not in ALLOWED[part_of(i.module)]
        # `from . import __package__`-like uses of the root itself carry no code.
        and not (i.target == PACKAGE and part_of(i.module) not in PURE)
    ]
    assert not wrong, "\n".join(wrong)


def package_in(module: str, part: str) -> str:
    """The package "qp" of "robokin_addon.solvers.qp.level"; "" for what lies in the part itself."""
    inner = module.removeprefix(f"{PACKAGE}.{part}").strip(".").split(".")
    is_package = MODULES[module].name == "__init__.py"
    return inner[0] if len(inner) > 1 or is_package else ""


@pytest.mark.parametrize("part", ORDER)
def test_packages_of_a_part_import_only_those_before_them(part: str) -> None:
    root, order = f"{PACKAGE}.{part}", ORDER[part].split()
    assert {package_in(m, part) for m in MODULES if m.startswith(root)} == {"", *order}
    inside = [i for i in all_imports() if i.module.startswith(root + ".") and i.target.startswith(root + ".")]
    wrong = []
    for i in inside:
        own, other = package_in(i.module, part), package_in(i.target, part)
        if own and other and order.index(other) > order.index(own):
            wrong.append(f"{i.where}: {own} imports {i.target}")
    assert inside and not wrong, "\n".join(wrong)


def test_folders_are_small() -> None:
    tests = (ROOT / "tests").rglob("*.py")
    sizes = Counter(path.parent for path in [*MODULES.values(), *tests] if path.name != "__init__.py")
    assert {str(folder.relative_to(ROOT)): size for folder, size in sizes.items() if size > FILES} == {}


def test_files_are_short() -> None:
    kernel = [path for ending in "ch" for path in (ROOT / "kernel").rglob(f"*.{ending}")]
    tests = (ROOT / "tests").rglob("*.py")
    most = dict.fromkeys(tests, TEST_LINES) | dict.fromkeys([*MODULES.values(), *kernel], LINES)
    sizes = {path: path.read_text("utf-8").count("\n") for path in most}
    named = {str(path.relative_to(ROOT)): size for path, size in sizes.items() if size > most[path]}
    assert len(kernel) > 100 and {path: size for path, size in named.items() if size > LONGER.get(path, 0)} == {}


def test_many_arguments_have_names() -> None:
    calls = [
        (f"{path.relative_to(ROOT)}:{node.lineno}", len(node.args))
        for path in MODULES.values()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
    ]
    assert len(calls) > 10000 and [each for each in calls if each[1] > POSITIONAL] == []


def test_tests_of_the_pure_parts_lie_as_what_they_test() -> None:
    for part in PURE:
        folders = {path.parent for path in (ROOT / "tests" / part).glob("*/*.py")}
        assert folders and {folder.name for folder in folders} <= set(ORDER[part].split())


def test_imports_of_ours_are_relative_and_name_what_exists() -> None:
    parts = set(ALLOWED) - {""} | {PACKAGE}
    absolute = [f"{i.where}: {i.target}" for i in all_imports() if not i.relative and i.target.split(".")[0] in parts]
    assert not absolute, "absolute imports break under the extension's own module name:\n" + "\n".join(absolute)
    missing = [f"{i.where}: {i.target}" for i in all_imports() if i.relative and i.target not in MODULES]
    assert not missing, "\n".join(missing)


def names_in(module: str) -> set[str]:
    """What a module defines or imports at its top, also under a condition."""
    names, todo = {"__package__"}, list(parsed(MODULES[module]).body)
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.If, ast.Try)):
            todo += ast.iter_child_nodes(node)
        elif isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= set(importlib.import_module(f"{module}.{node.module}").__all__)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def test_names_that_are_imported_exist() -> None:
    known = {module: names_in(module) for module in MODULES}
    wrong = [
        f"{i.where}: {i.name} of {i.target}"
        for i in all_imports()
        if i.relative and i.name not in ("", "*") and i.target in known and i.name not in known[i.target]
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_parts_import_numpy_and_the_standard_library_only() -> None:
    known = set(sys.stdlib_module_names) | THIRD_PARTY | {"robokin_kernel"}
    wrong = [
        f"{i.where}: {i.target}"
        for i in all_imports()
        if part_of(i.module) in PURE and not i.relative and i.target.split(".")[0] not in known
    ]
    assert not wrong, "\n".join(wrong)


def test_everything_imports_blender_numpy_and_the_standard_library_only() -> None:
    known = set(sys.stdlib_module_names) | THIRD_PARTY | BLENDER | {"robokin_kernel", PACKAGE}
    wrong = [f"{i.where}: {i.target}" for i in all_imports() if i.target.split(".")[0] not in known]
    assert not wrong, "not in Blender's Python and not bundled:\n" + "\n".join(wrong)


@pytest.mark.parametrize("part", ["", "cli"])
def test_entries_import_blender_only_when_called(part: str) -> None:
    wrong = [
        f"{i.where}: {i.target}"
        for i in all_imports()
        if part_of(i.module) == part
        and i.at_load
        and (i.target.split(".")[0] in BLENDER or part_of(i.target) in ("operators", "panels", "properties"))
    ]
    assert not wrong, "\n".join(wrong)


def test_no_cycles() -> None:
    """Imports form no cycle between modules: not at load time, not inside functions, not for types only."""
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for i in all_imports():
        # A package's __init__ re-exports its modules; they reach their siblings through it without needing it loaded.
        is_export = i.for_types and MODULES[i.module].name == "__init__.py"
        if ours(i) and not is_export and i.target in MODULES and not i.module.startswith(i.target + "."):
            graph[i.module].add(i.target)
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> None:
        assert module not in path, "imports form a cycle: " + " -> ".join([*path[path.index(module) :], module])
        if module in done:
            return
        for target in sorted(graph[module]):
            walk(target, [*path, module])
        done.add(module)

    for module in graph:
        walk(module, [])


BLOCKED_IMPORT = """
import builtins, importlib.util, pkgutil, sys
BLOCKED = set({blender!r})
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in BLOCKED:
            raise ImportError("blocked: " + name)
sys.meta_path.insert(0, Block())
spec = importlib.util.spec_from_file_location({package!r}, {init!r}, submodule_search_locations=[{root!r}])
module = sys.modules[{package!r}] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for name in {modules!r}:
    importlib.import_module(name)
    print(name)
"""


def test_pure_parts_import_with_blender_blocked() -> None:
    modules = [m for m in MODULES if part_of(m) in ("", *PURE, "cli")]
    script = BLOCKED_IMPORT.format(
        blender=sorted(BLENDER), package=PACKAGE, init=str(ROOT / "__init__.py"), root=str(ROOT), modules=modules
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == modules


@pytest.mark.parametrize("module", [m for m in MODULES if part_of(m) in (*PURE, "cli")])
def test_exported_names_exist(module: str) -> None:
    loaded = importlib.import_module(module)
    exported = getattr(loaded, "__all__", [])
    assert len(exported) == len(set(exported)), f"{module}.__all__ names something twice"
    assert [name for name in exported if not hasattr(loaded, name)] == []


def test_tests_use_the_one_package_name() -> None:
    """`robokin.X` beside `robokin_addon.robokin.X` in one process would be two different classes."""
    parts = set(ALLOWED) - {""}
    wrong = []
    named = "|".join(parts)
    suspect = re.compile(rf"^\s*(from ({named})\b|import .*\b({named})\b)", re.MULTILINE)
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(parsed(path)) if suspect.search(text) else ():  # to parse all takes seconds
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            wrong += [f"{path.relative_to(ROOT)}:{node.lineno}: {n}" for n in names if n.split(".")[0] in parts]
    assert not wrong, "\n".join(wrong)


BESIDE = {"data", "hostile", "kernel", "project", "smoke", "support"}  # folders of tests that are about the whole


def test_tests_stand_in_the_folders_of_what_they_test() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.rglob("*.py")} - {Path()}
    assert len(folders) > 50
    assert [str(each) for each in folders if each.parts[0] not in BESIDE and not (ROOT / each).is_dir()] == []
