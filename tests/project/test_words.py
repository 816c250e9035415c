"""Words in the source: one meaning for each class name, and docstrings that stand alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("robokin", "solvers", "properties", "scene", "operators", "panels", "cli")
OPENINGS = ("Of ", "As ", "Those ", "The same ", "The same,", "The same;", "The same:", "The same.")


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    """Modules, classes, functions and assignments, with their paths."""
    wanted = ast.Module | ast.ClassDef | ast.FunctionDef | ast.Assign
    return [
        (str(path.relative_to(ROOT)), node)
        for part in PARTS
        for path in sorted((ROOT / part).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
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


# Names that textbooks and Blender's manual do not know, by which things here were once called.
RETIRED = set(
    "Leg Plan Stretch Tangent Edge Posing Asked Form Seen Share has_way way_keeping task_surface pose_search rivals "
    "missed_by hopeful endless dress redress keep_records one_look given_task USELESS FAINT SEEN "
    "PRESSED EASE BLURRED".split()
)
# An opacity.
OWN = {"operators/posture/ghosts.py: FAINT"}


def test_retired_names_stay_away() -> None:
    found = set()
    for path, node in nodes():
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names = {node.name}
        elif isinstance(node, ast.Assign):
            names = {each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        else:
            continue
        found |= {f"{path}: {name}" for name in names & RETIRED}
    assert found <= OWN
