"""Words in the source: one meaning for each class name, and docstrings that stand alone."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from support.sources import parsed

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("robokin", "solvers", "properties", "scene", "operators", "panels", "cli")
OPENINGS = (
    "Of ",
    "As ",
    "Those ",
    "The same ",
    "The same,",
    "The same;",
    "The same:",
    "The same.",
    "By ",
    "That ",
    "Such ",
)


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Modules, and what may give a name, with their paths."""
    wanted = ast.Module | ast.ClassDef | ast.FunctionDef | ast.arg | ast.Name | ast.Attribute
    return [
        (str(path.relative_to(ROOT)), node)
        for part in PARTS
        for path in sorted((ROOT / part).rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, wanted)
    ]


def test_a_class_name_stands_for_one_thing() -> None:
    places = defaultdict(list)
    for path, node in nodes():
        # A class may refine another one of its name.
        if isinstance(node, ast.ClassDef) and node.name not in (getattr(base, "attr", "") for base in node.bases):
            places[node.name].append(f"{path}:{node.lineno}")
    assert len(places) > 100
    # One idea, as a criterion of a pose and as a cost of a motion.
    assert {name: found for name, found in places.items() if len(found) > 1 and name != "KineticEnergy"} == {}


def test_docstrings_stand_alone() -> None:
    """The first word says what it is about, not what was said elsewhere."""
    wrong = []
    for path, node in nodes():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node) or ""
            if text.startswith(OPENINGS):
                wrong.append(f"{path}:{getattr(node, 'lineno', 1)}: {text.splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


def test_comments_of_the_kernels_functions_stand_alone() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sorted((ROOT / "kernel").rglob("*.[ch]"))
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(tuple(f"/* {opening}" for opening in OPENINGS))
    ]
    assert not wrong, "\n".join(wrong)


# Names that textbooks and Blender's manual do not know, by which things here were once called.
RETIRED = set(
    "Leg Plan Stretch Tangent Edge Posing Asked Form Seen Share has_way way_keeping task_surface pose_search rivals "
    "missed_by hopeful endless dress redress keep_records one_look given_task USELESS FAINT SEEN "
    "PRESSED EASE BLURRED Carrier carriers joint_carriers lacking lacks told Told told_faults left_in Left "
    "centred truth way Way ways ahead slowed Slowed held walls wires Posing posing Slopes lacks stretches "
    "lack lack_of is_lacking most_lacking Lack rival has_rival untold WIRES dress_helpers asked carrier is_told".split()
)
# Made from parts, or of somebody else's files.
OTHERS = {
    "properties/bridge/editing/infer_joints.py: ik_min_x",
    "properties/bridge/editing/infer_joints.py: lock_ik_x",
    "properties/joint.py: lower_2",
    "properties/joint.py: lower_3",
    "robokin/mirror.py: FR_hip",
    "robokin/mirror.py: LF_knee",
    "robokin/mirror.py: leftElbow",
}
# The names of others: an opacity; a value in an expression, as Python calls it.
OWN = {"operators/posture/ghosts.py: FAINT", "robokin/urdf/xacro/values.py: truth"}


def names_given(node: ast.AST) -> set[str]:
    """What a node gives a name: a class, a function, its arguments, variables and attributes, public or not."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return {node.name.strip("_")}
    if isinstance(node, ast.arg):
        return {node.arg.strip("_")}
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return {node.id.strip("_")}
    return {node.attr.strip("_")} if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) else set()


def test_retired_names_stay_away() -> None:
    found = {f"{path}: {name}" for path, node in nodes() for name in names_given(node) & RETIRED}
    assert found <= OWN, "\n".join(sorted(found - OWN))


def test_left_is_a_side() -> None:
    """What is not done yet is `remaining`."""
    given: dict[str, set[str]] = defaultdict(set)
    for path, node in nodes():
        given[path] |= names_given(node)
    sides = {path for path, names in given.items() if {"right", "x"} & names}
    assert {path for path, names in given.items() if "left" in names} - sides == set()


def test_docstrings_name_what_exists() -> None:
    """A name in backquotes is one of the program's, a file one of the checkout's."""
    sources = {path: path.read_text("utf-8") for part in PARTS for path in (ROOT / part).rglob("*.py")}
    code = {
        word for text in sources.values() for word in re.findall(r"\w+", re.sub(r'""".*?"""', "", text, flags=re.S))
    }
    code |= {name.strip("_") for name in code} | {path.stem for path in sources}
    code |= {word for path in (ROOT / "kernel").rglob("*.[ch]") for word in re.findall(r"\w+", path.read_text("utf-8"))}
    files = {path.name for part in (*PARTS, "kernel", "docs", "tests") for path in (ROOT / part).rglob("*.*")}
    wrong, count = [], 0
    for path, text in sources.items():
        for docstring in re.findall(r'""".*?"""', text, flags=re.S):
            names = [name.strip("_") for name in re.findall(r"`([A-Za-z_]\w+)`", docstring)]
            named = re.findall(r"\b\w+\.(?:py|c|h|md)\b", docstring)
            count += len(names) + len(named)
            wrong += [f"{path.relative_to(ROOT)}: {name}" for name in {*names} - code | {*named} - files]
    assert count > 500 and set(wrong) <= OTHERS, "\n".join(sorted(wrong))


def lines_with(word: str) -> list[str]:
    """The lines of the program in which a word, a regular expression, stands: file and text."""
    return [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for part in PARTS
        for path in sorted((ROOT / part).rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(rf"\b{word}\b", line)
    ]


def test_nothing_is_told() -> None:
    """It is reported, shown, given or named."""
    found = lines_with("told")
    assert not found, "\n".join(found)


def test_what_a_task_does_not_meet_is_its_residual() -> None:
    """A file can lack a column, and a library a function."""
    lines = lines_with("lack(s|ing|ed)?")
    assert {line.split(":")[0] for line in lines} == {"robokin/backend/library.py", "solvers/motion/files.py"}


def test_retired_names_stay_away_from_the_kernel() -> None:
    words = {"lacking", "spread", "centred", "carriers", "endless", "way", "ways", "held", "told", "ahead"}
    found = []
    for path in sorted((ROOT / "kernel").rglob("*.[ch]")):
        code = re.sub(r'/\*.*?\*/|"[^"\n]*"', "", path.read_text("utf-8"), flags=re.DOTALL)
        found += [f"{path.relative_to(ROOT)}: {name}" for name in words & set(re.findall(r"\w+", code))]
    assert not found, "\n".join(found)


def test_comments_of_the_kernel_name_files_that_exist() -> None:
    known = {path.name for part in (*PARTS, "kernel", "tests") for path in (ROOT / part).rglob("*.*")}
    named = [
        (path, name)
        for path in sorted((ROOT / "kernel").rglob("*.[ch]"))
        for name in re.findall(r"\b\w+\.py\b", path.read_text("utf-8"))
    ]
    assert len(named) > 50
    assert [f"{path.relative_to(ROOT)}: {name}" for path, name in named if name not in known] == []
