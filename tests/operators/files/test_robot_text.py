"""Tables in text datablocks: examples, a robot from a text, a robot's own table as text, and there and back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics, library_robot, random_configuration
from robokin_addon.robokin.construction.examples import EXAMPLES
from support.oracles.pinocchio_oracle import Oracle


def text_named(start: str) -> bpy.types.Text:
    return next(text for text in bpy.data.texts if text.name.startswith(start))


@pytest.mark.parametrize("kind", list(EXAMPLES))
def test_every_example_is_a_robot(scene: bpy.types.Scene, kind: str) -> None:
    assert bpy.ops.robokin.table_example(kind=kind) == {"FINISHED"}
    assert bpy.ops.robokin.robot_from_text() == {"FINISHED"}  # the only text
    obj = bpy.context.object
    model = robot_model(obj)
    assert f"robot,{model.name}\n" in bpy.data.texts[0].as_string()
    assert obj.children
    q = random_configuration(model, np.random.default_rng(0))
    expected = Oracle.from_model(model).frames(q)["tool"]
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    assert np.array(obj.pose.bones["tool_joint"].matrix)[:3, 3] == pytest.approx(expected[:3, 3], abs=1e-5)


@pytest.mark.parametrize("kind", ["CLASSIC", "MODIFIED", "SCREWS"])
def test_a_robot_to_text_and_back(scene: bpy.types.Scene, kind: str) -> None:
    bpy.ops.robokin.add_robot(robot="panda")
    original = robot_model(bpy.context.object)
    bpy.context.object.robokin.table_kind = kind
    assert bpy.ops.robokin.robot_to_text() == {"FINISHED"}
    text = text_named(f"Panda {kind.title()}")
    bpy.ops.robokin.table_example()
    with pytest.raises(RuntimeError, match="no text named ''"):  # two of them: which?
        bpy.ops.robokin.robot_from_text()
    assert bpy.ops.robokin.robot_from_text(text=text.name, root="planar") == {"FINISHED"}
    made = robot_model(bpy.context.object)
    assert made.root == "planar"
    oracle, fixed = Oracle.from_model(library_robot("panda")), made.with_root("fixed")
    for seed in range(5):
        q = random_configuration(original, np.random.default_rng(seed))
        assert forward_kinematics(fixed, q)["tool"] == pytest.approx(oracle.frames(q)["tool"], abs=1e-6)


def test_tip_units_and_what_goes_wrong(scene: bpy.types.Scene) -> None:
    bpy.ops.robokin.add_robot(robot="humanoid")
    with pytest.raises(RuntimeError, match="has 5 tips: say which one"):
        bpy.ops.robokin.robot_to_text()
    with pytest.raises(RuntimeError, match="no bone of the robot named 'tail'"):
        bpy.ops.robokin.robot_to_text(tip="tail")
    assert not bpy.data.texts
    bpy.ops.robokin.robot_to_text(tip="left_grip", kind="SCREWS", angles="radians", lengths="mm")
    said = text_named("Humanoid Screws").as_string()
    assert "angles,radians\nlengths,mm\nhome," in said and "left_elbow" in said


def test_a_wrong_table_names_its_line_and_makes_nothing(scene: bpy.types.Scene) -> None:
    text = bpy.data.texts.new("Mine")
    text.write("a,alpha,d,theta\n0,0,1,0\n0,x,1,0\n")
    with pytest.raises(RuntimeError, match="Mine:3: alpha must be a number, not 'x'"):
        bpy.ops.robokin.robot_from_text(text="Mine")
    assert not bpy.data.objects


def test_one_undo_step(scene: bpy.types.Scene) -> None:
    bpy.ops.robokin.table_example(kind="CLASSIC")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.robokin.robot_from_text("EXEC_DEFAULT", True)
    assert bpy.data.objects
    bpy.ops.ed.undo()
    assert not bpy.data.objects and len(bpy.data.texts) == 1


def test_a_new_text_takes_no_editor_from_another(scene: bpy.types.Scene) -> None:
    """Of two Text Editors the empty one shows it; where none is empty, the one that was asked from."""
    mine = bpy.data.texts.new("mine")
    first, second = bpy.context.screen.areas[:2]
    for area in (first, second):
        area.type = "TEXT_EDITOR"
    first.spaces.active.text = mine
    bpy.ops.robokin.table_example(kind="SCREWS")
    shown = second.spaces.active.text
    assert first.spaces.active.text == mine and shown not in (None, mine)
    bpy.ops.robokin.table_example(kind="SCREWS")
    assert (first.spaces.active.text, second.spaces.active.text) == (mine, shown)
    with bpy.context.temp_override(area=second):
        bpy.ops.robokin.table_example(kind="SCREWS")
    assert first.spaces.active.text == mine and second.spaces.active.text not in (mine, shown)
