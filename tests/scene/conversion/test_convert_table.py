"""The table of Convert Rig in the user's guide: what each constraint becomes, and that what is lost is said there."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import pytest
from robokin_addon.properties.task_kinds import KINDS
from support.blender.rigs import add_rig
from test_convert_copies import CHAIN
from test_convert_every_constraint import goal_for
from test_convert_spaces import convert

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "make-robot.md"
LABELS = {
    item.name: item.identifier for item in bpy.types.Constraint.bl_rna.properties["type"].enum_items if item.identifier
}


def _table() -> list[list[str]]:
    """(constraints, tasks, what is lost) of each row."""
    part = GUIDE.read_text("utf-8").split("### Convert Rig")[1].split("\n### ")[0]
    table = re.search(r"^\| constraint \|.*?\n\n", part, flags=re.MULTILINE | re.DOTALL)
    assert table
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[0].strip().splitlines()[2:]]


def _cases() -> list[tuple[str, str, str]]:
    """(label of a constraint, what it becomes, what is lost), of those that stand for themselves."""
    cases = []
    for constraints, tasks, lost in _table():
        names = [name.removesuffix(" and others") for name in constraints.split(", ") if "iTaSC" not in constraints]
        if "Local Space" in constraints:
            continue
        names = [
            name.removesuffix(" of other spaces")
            for name in names
            if name in LABELS or " of " in name or " and " in name
        ]
        own = tasks.split(", ")
        for i, name in enumerate(names):
            cases.append((name, own[i] if len(own) == len(names) else tasks, lost))
    return cases


CASES = _cases()


def test_every_constraint_has_a_row() -> None:
    rare = {"Camera Solver", "Follow Track", "Object Solver", "Transform Cache", "Geometry Attribute"}  # the others
    assert {name for name, *_ in CASES} >= set(LABELS) - rare


@pytest.mark.parametrize(("label", "becomes", "lost"), CASES, ids=[case[0] for case in CASES])
def test_becomes_what_the_table_says(scene, capfd, label: str, becomes: str, lost: str) -> None:
    rig, kind = add_rig(CHAIN), LABELS[label]
    constraint = rig.pose.bones["hand"].constraints.new(kind)
    if hasattr(constraint, "target"):
        constraint.target = goal_for(kind)
    if kind == "ARMATURE":
        constraint.targets.new().target = add_rig(CHAIN, "other")
        bpy.context.view_layer.objects.active = rig
        constraint.targets[0].subtarget = "hand"
    for name in ("use_min_x", "use_limit_x"):
        if kind.startswith("LIMIT_") and hasattr(constraint, name):
            setattr(constraint, name, True)
    found = [KINDS[task.kind].label for task in convert(rig)]
    said = "could not be converted" in capfd.readouterr().out
    if becomes == "none":
        assert not found and said and lost
        return
    assert len(found) == 1 and re.search(rf"\b{found[0]}\b", becomes), f"{label}: {found}, not {becomes}"
    assert not said or lost
