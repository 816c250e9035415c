"""The tutorials, word by word: each label that a page names is drawn on the page of the tab that it speaks of, each
menu leads where it says."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest
from robokin_addon.operators.tools import toolbar
from robokin_addon.properties import criteria
from robokin_addon.properties.pages import PAGES
from robokin_addon.properties.task_kinds import KINDS
from support.blender.panels import FakeLayout, draw_page
from support.blender.scene_robots import add_robot, add_target

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ("README.md", "docs/tutorial.md", "docs/tutorial-door.md", "docs/tutorial-lasers.md", "docs/six-poses.md")
LABEL = re.compile(r"(?<![*\w])(\*{1,2})(?=[A-Z])([^*\n]+)\1(?!\*)")
# Blender's own: keys, modes, menus.
KEY = re.compile(r"(Ctrl |Shift )?([A-Z]|Tab)")
BLENDERS = {
    "Robot",  # the tab
    "Object",  # of Ctrl P
    "Add > Curve > Circle",
    "Add > Empty > Plain Axes",
    "Add > Mesh > Cube",
    "Curve > Object Data > Resolution Preview U",
}
MENUS = {
    "File > Import": "TOPBAR_MT_file_import",
    "Add > Armature": "VIEW3D_MT_armature_add",
    "Object": "VIEW3D_MT_object",
}
PAGE_NAMES = {label: name for name, label, *_ in PAGES}
TASKS = {kind.label: name for name, kind in KINDS.items()}
CRITERIA = {label: name for name, label, *_ in criteria.KINDS}


def prose(page: str) -> str:
    """Without code; of the read me the quick start."""
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return text.partition("## Quick start in the window")[2].partition("\n## ")[0] if page == "README.md" else text


def drawn_in(menu: str) -> dict:
    """What we draw in a menu of Blender's, or in one of our own."""
    cls, layout = getattr(bpy.types, menu), FakeLayout()
    for draw in getattr(cls.draw, "_draw_funcs", (cls.draw,)):
        if draw.__module__.startswith("robokin_addon"):
            draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def leads_somewhere(path: str) -> bool:
    start = max((start for start in MENUS if path.startswith(start)), key=len, default=None)
    if start is None:
        return False
    drawn, (*inner, last) = drawn_in(MENUS[start]), path[len(start) + 3 :].split(" > ")
    for name in inner:
        if name not in drawn["menus"]:
            return False
        drawn = drawn_in(drawn["menus"][name])
    return last in drawn["words"]


def words() -> set[str]:
    """All that can be read on the page that is shown, unfolded, in the export's file browser, and in the toolbar."""
    found = {tool.bl_label for tool in toolbar._TOOLS} | {
        p.name for p in bpy.ops.robokin.export_motion.get_rna_type().properties
    }
    for name, drawn in draw_page().items():
        found |= drawn["words"] | {getattr(bpy.types, name).bl_label}
    return found


@pytest.fixture
def robot(scene):
    """A robot with something of each: a move, and a bake whose target is too fast."""
    robot = add_robot()
    target = add_target(robot)
    for frame, y in ((1, 0.0), (2, 0.15)):
        target.location.y += y
        target.keyframe_insert("location", frame=frame)
    scene.frame_end = 2
    for kind in ("JOINT", "LINE"):
        assert bpy.ops.robokin.move_add(kind=kind) == {"FINISHED"}
    assert bpy.ops.robokin.bake() == {"FINISHED"}
    return robot


@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_labels_are_drawn_where_a_tutorial_looks_for_them(robot, tutorial):
    text = prose(tutorial)
    for match in LABEL.finditer(text):
        label, before = match[2], text[: match.start()]
        if re.search(r"\bpages? $", before) and label in PAGE_NAMES:
            bpy.context.window_manager.robokin_page = PAGE_NAMES[label]
        elif label in TASKS:
            bpy.ops.robokin.task_add(kind=TASKS[label])
            if KINDS[TASKS[label]].has_spot:
                robot.robokin.tasks[-1].use_spot = True
        elif " > " in label and label.split(" > ")[0] in PAGE_NAMES:
            page, _, label = label.partition(" > ")
            bpy.context.window_manager.robokin_page = PAGE_NAMES[page]
            assert label in words(), (page, label)
        elif " > " in label:
            assert label in BLENDERS or leads_somewhere(label), label
        elif not (label in BLENDERS or label in CRITERIA or KEY.fullmatch(label)):
            assert label in words(), (bpy.context.window_manager.robokin_page, label)


@pytest.mark.parametrize("tutorial", ["docs/tutorial-door.md", "docs/tutorial-lasers.md"])
def test_fields_of_tasks_are_drawn_in_the_order_of_the_table(robot, tutorial):
    """A field is there only once those above it are set."""
    text = prose(tutorial)
    (kind,) = re.findall(r"(?:two tasks|a task) \*([^*]+)\*", text)
    rows = re.findall(r"^\| (.+?) \|", text.partition("| field |")[2].partition("\n\n")[0], flags=re.MULTILINE)
    fields = [re.sub(r"\*[^*]+\*: ", "", row) for row in rows if row[0] != "-"]
    assert len(fields) > 2
    bpy.context.window_manager.robokin_page = "TASKS"
    bpy.ops.robokin.task_add(kind=TASKS[kind])
    task = robot.robokin.tasks[-1]
    for field in fields:
        assert field in words(), field
        task.use_target |= field == "Follow an Object"
        task.use_spot |= field == "Spot of a Beam"
