"""Menus of the 3D view: what search finds, and what a right click offers."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Vector
from robokin_addon.operators.handlers.select_link import ROBOKIN_OT_select_link, joint_bone
from robokin_addon.panels import menus
from robokin_addon.properties.selected.selection import select, selected_bones
from support.blender.panels import FakeLayout
from support.blender.scene_robots import TOOL, add_robot, add_target


@pytest.fixture
def robot(scene):
    return add_robot()


def drawn(draw, **override):
    layout = FakeLayout()
    with bpy.context.temp_override(**override):
        draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


@pytest.mark.parametrize("menu", ["VIEW3D_MT_object", "VIEW3D_MT_pose"])
def test_object_and_pose_menus_have_the_robot(scene, menu):
    assert any(draw.__module__.endswith("menus") for draw in getattr(bpy.types, menu).draw._draw_funcs)
    shown = drawn(menus.ROBOKIN_MT_robot.draw)
    assert {"robokin.solve_pose", "robokin.bake", "robokin.target_add", "robokin.duplicate_move"} <= set(
        shown["operators"]
    )


WORDS = (
    "inverse kinematics,add target (ik,trajectory,collision,obstacle,retarget,torque,limits,fk,elbow,convert rig,grab,"
    "end effector,constraint,redundan,null space,drag,rotate,save pose,copy joint,paste joint,mass,inertia,simplify,"
    "clean,speed,mocap,bvh,ros,csv,overlay,ghost"
)


@pytest.mark.parametrize("word", WORDS.split(","))
def test_search_finds_by_the_words_that_people_try(scene, word):
    """Blender's search looks at the texts of menus."""
    shown = drawn(menus.ROBOKIN_MT_robot.draw)
    labels = (idname.partition(".")[2].replace("_", " ") for idname in shown["operators"])
    assert any(word in (text or "").lower() for text in (*shown["texts"], *labels))


@pytest.mark.parametrize("word", ["live", "lock joint", "padlock", "jog"])
def test_search_finds_what_a_robot_in_pose_mode_has(robot, word):
    bpy.ops.object.mode_set(mode="POSE")
    robot.data.bones.active = robot.data.bones["panda_joint3"]
    assert any(word in (text or "").lower() for text in drawn(menus.ROBOKIN_MT_robot.draw)["texts"])


def test_a_right_click_on_a_bone_offers_a_target_there(robot):
    assert drawn(menus._context_menu)["texts"][0] == "Add Target at panda_hand_tcp"
    bpy.ops.object.mode_set(mode="POSE")
    robot.data.bones.active = robot.data.bones["panda_joint3"]
    select(robot.pose.bones["panda_joint3"], True)
    shown = drawn(menus._context_menu)
    assert shown["texts"][0] == "Add Target at panda_link3"
    assert "robokin.set_joint" in shown["operators"] and "robokin.duplicate_move" not in shown["operators"]


def test_nothing_is_offered_where_there_is_no_robot(scene):
    assert not drawn(menus._context_menu)["operators"]


def test_a_body_belongs_to_the_joint_that_moves_it(robot):
    assert joint_bone(robot, TOOL) == "panda_joint7" == joint_bone(robot, "panda_joint7")
    root = next(bone.name for bone in robot.data.bones if bone.parent is None)
    assert joint_bone(robot, root) == root


@pytest.mark.parametrize("extend", [False, True])
def test_a_click_on_a_body_selects_its_joint(robot, monkeypatch, extend):
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link._clicks_at_press", lambda context: True)
    monkeypatch.setattr(
        "robokin_addon.operators.handlers.select_link.location_3d_to_region_2d", lambda *_: Vector((500, 500))
    )
    event = SimpleNamespace(mouse_region_x=0, mouse_region_y=0)
    operator = SimpleNamespace(extend=extend)
    for clicked in ("panda_joint3", TOOL):
        found = robot, clicked
        monkeypatch.setattr("robokin_addon.operators.handlers.select_link.link_under", lambda *_, found=found: found)
        if not extend:  # as Blender's own click does that finds nothing
            bpy.ops.pose.select_all(action="DESELECT")
        assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert robot.data.bones.active.name == "panda_joint7"
    assert set(selected_bones(robot)) == ({"panda_joint3", "panda_joint7"} if extend else {"panda_joint7"})


def test_a_target_before_the_body_stays_what_was_clicked(robot, monkeypatch):
    target = add_target(robot)
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link.link_under", lambda *_: (robot, TOOL))
    event, operator = SimpleNamespace(mouse_region_x=0, mouse_region_y=0), SimpleNamespace(extend=False)
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link._clicks_at_press", lambda context: True)
    assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == target
    target.select_set(False)
    assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == robot and robot.data.bones.active.name == "panda_joint7"


def test_a_click_means_a_link_only_where_there_is_a_robot(robot):
    here = SimpleNamespace(mode="OBJECT", region_data=object(), object=None)
    assert ROBOKIN_OT_select_link.poll(here)
    for armature in list(bpy.data.armatures):
        bpy.data.armatures.remove(armature)
    assert not ROBOKIN_OT_select_link.poll(here)
