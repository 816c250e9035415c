"""Add > Armature > Robot: every robot of the library stands where the cursor is and is what its model says."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.operators.files.add_robot import ROBOKIN_MT_add_robot
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics, in_limits, random_configuration
from robokin_addon.robokin.library import ROBOTS, library_robot
from robokin_addon.robokin.structure.natural_root import feet
from support.oracles.compare import compare_models

NAMES = list(ROBOTS)


def add(name: str, **options: object) -> bpy.types.Object:
    assert bpy.ops.robokin.add_robot(robot=name, **options) == {"FINISHED"}
    return bpy.context.object


def count() -> int:
    kinds = ("objects", "armatures", "meshes", "materials", "collections")
    return sum(len(getattr(bpy.data, kind)) for kind in kinds)


@pytest.mark.parametrize("name", NAMES)
def test_the_robot_in_the_scene_is_that_of_the_library(scene: bpy.types.Scene, name: str) -> None:
    scene.cursor.location = 0.5, -1.0, 0.25
    obj = add(name)
    expected = library_robot(name)
    model, first = robot_model(obj), read_configuration(obj)
    assert compare_models(model, expected, 1e-6) == []
    assert in_limits(model, read_configuration(obj))
    q = random_configuration(expected, np.random.default_rng(0))
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    stand = np.eye(4)
    if ROBOTS[name].up == "y":  # what points up in the text points up in the scene
        stand[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    stand[:3, 3] = 0.5, -1.0, 0.25
    for foot in feet(expected)[:1]:  # its base is fixed, and its knees are bent: the object brings its soles down
        raised = forward_kinematics(expected, first)[foot] - forward_kinematics(expected, expected.neutral())[foot]
        stand[2, 3] -= raised[2, 3]
    assert np.array(obj.matrix_world) == pytest.approx(stand, abs=1e-6)
    bone = obj.pose.bones[binding(obj).bone_of_link[ROBOTS[name].tip]]
    tip = stand @ forward_kinematics(expected, q)[ROBOTS[name].tip]
    assert np.array(obj.matrix_world @ bone.matrix)[:3, 3] == pytest.approx(tip[:3, 3], abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_every_link_with_a_shape_is_shown(scene: bpy.types.Scene, name: str) -> None:
    obj = add(name)
    shown = [child for child in obj.children if child.type == "MESH"]
    assert len(shown) == sum(len(link.visuals) for link in library_robot(name).links) > 0
    assert all(slot.material is not None for child in shown for slot in child.material_slots)


def test_options(scene: bpy.types.Scene) -> None:
    obj = add("humanoid", root="floating", meshes=False)
    assert robot_model(obj).root == "floating"
    assert not obj.children
    scene.unit_settings.scale_length = 0.01
    obj = add("puma560")
    assert obj.dimensions.z > 50.0  # a robot of metres in a scene of centimetres
    assert compare_models(robot_model(obj), library_robot("puma560"), 1e-6) == []


def test_two_of_a_kind(scene: bpy.types.Scene) -> None:
    first, second = add("desk_arm"), add("desk_arm")
    assert first.name != second.name
    before = read_configuration(first)
    write_configuration(second, np.full(5, 0.3))
    assert (read_configuration(first) == before).all()


def test_from_another_mode(scene: bpy.types.Scene) -> None:
    add("planar_2r")
    bpy.ops.object.mode_set(mode="POSE")
    obj = add("planar_3r")
    assert bpy.context.mode == "OBJECT" and obj.select_get()


def test_one_undo_step(scene: bpy.types.Scene) -> None:
    bpy.ops.ed.undo_push(message="before")
    before = count()
    bpy.ops.robokin.add_robot("EXEC_DEFAULT", True, robot="scara")
    assert count() > before
    bpy.ops.ed.undo()
    assert count() == before


def test_a_failure_is_reported_and_leaves_nothing(scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from robokin_addon.operators.files import add_robot
    from robokin_addon.robokin import ModelError

    def broken(name: str, root: str) -> None:
        raise ModelError("no such thing")

    monkeypatch.setattr(add_robot, "library_robot", broken)
    before = count()
    with pytest.raises(RuntimeError, match="no such thing"):
        bpy.ops.robokin.add_robot(robot="scara")
    assert count() == before


class FakeLayout:
    """Records what a menu draws."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.made: list[object] = []

    def operator(self, operator: str, text: str) -> object:
        assert operator == "robokin.add_robot"
        self.shown.append(text)
        self.made.append(type("Properties", (), {})())
        return self.made[-1]

    def separator(self) -> None:
        pass

    def menu(self, menu: str) -> None:
        self.shown.append(menu)


def test_the_menu_lists_them_all(scene: bpy.types.Scene) -> None:
    layout = FakeLayout()
    ROBOKIN_MT_add_robot.draw(type("Menu", (), {"layout": layout})(), bpy.context)
    assert layout.shown == [*(robot.label for robot in ROBOTS.values()), "ROBOKIN_MT_add_example"]
    assert [made.robot for made in layout.made] == NAMES
