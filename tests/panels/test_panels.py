"""What the panels show, and offer to press."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest
from robokin_addon.panels import robot as panels_robot
from robokin_addon.panels.prepared.robot_panel import lines
from robokin_addon.properties.bridge import binding, build_armature, import_robot
from robokin_addon.properties.task_kinds import ITEMS, KINDS
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel
from robokin_addon.robokin.structure.short_names import common_start, short_names
from support.blender.panels import PANELS, draw, draw_page
from support.blender.rigs import ARM, add_rig, select
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target


@pytest.fixture
def panda(scene):
    return add_robot()


def test_without_a_robot_there_is_one_panel_that_offers_to_import_one(scene):
    drawn = draw()
    new = {"robokin.table_example", "robokin.robot_from_text"}
    assert set(drawn) == {"ROBOKIN_PT_robot", "ROBOKIN_PT_tables", "ROBOKIN_PT_text_tables"}
    assert set(drawn["ROBOKIN_PT_tables"]["operators"]) == set(drawn["ROBOKIN_PT_text_tables"]["operators"]) == new
    assert drawn["ROBOKIN_PT_robot"]["operators"] == ["robokin.import_urdf", "robokin.make_robot"]
    assert drawn["ROBOKIN_PT_robot"]["texts"][1] == "Add Robot"
    assert "Select a robot" in " ".join(drawn["ROBOKIN_PT_robot"]["labels"])
    lamp = add_empty("lamp")
    drawn = draw(object=lamp, active_object=lamp)
    assert "ROBOKIN_PT_joint" not in drawn and "'lamp' is" in " ".join(drawn["ROBOKIN_PT_robot"]["labels"])


def test_a_robot_without_the_kernel_is_reported_to_be_slow_and_why(panda, monkeypatch):
    assert not any("Slow" in label for label in draw()["ROBOKIN_PT_robot"]["labels"])
    monkeypatch.setattr(panels_robot, "why_no_kernel", lambda: "the kernel has ABI 1")
    assert "Slow: the kernel has ABI 1" in " ".join(draw()["ROBOKIN_PT_robot"]["labels"])


def test_all_panels_are_in_the_one_tab():
    sidebar = [cls for cls in PANELS if cls.bl_space_type == "VIEW_3D"]
    assert {cls.bl_category for cls in sidebar} == {"Robot"} and len(sidebar) == 20
    assert [cls.bl_label for cls in sidebar if not hasattr(cls, "bl_parent_id")] == [
        "Robot",
        "Joint",
        "Joint Values",
        "Postures",
        "Make Robot",
        "Tasks",
        "Criteria",
        "Solve",
        "Bake",
        "Check",
        "Export",
        "Dynamics",
        "Moves",
        "Retarget",
        "Tables",
        "Collisions",
    ]


def test_what_all_names_begin_with_is_left_out():
    assert common_start(["panda_joint1", "panda_joint2", "panda_finger_joint1"]) == len("panda_")
    assert common_start(["left_hip", "right_hip"]) == 0 == common_start(["joint1", "joint2"])
    assert common_start(["lonely"]) == 0


def test_kinds_of_tasks_are_in_columns():
    offered = [identifier for identifier, *_ in ITEMS if identifier]
    assert sorted(offered) == sorted(KINDS) and sum(not identifier for identifier, *_ in ITEMS) == 5
    assert ITEMS[0][:2] == ("", "Tip at a Target")


def test_two_robots_are_reported_apart(panda):
    panda.name = "left arm"
    assert draw()["ROBOKIN_PT_robot"]["labels"][0] == "left arm"


def test_postures_are_listed_with_what_they_are_for(panda):
    drawn = draw()["ROBOKIN_PT_postures"]
    assert drawn["props"] == ["name"]
    assert {"robokin.posture_role", "robokin.posture_apply", "robokin.posture_add"} <= set(drawn["operators"])
    assert "posture" in draw()["ROBOKIN_PT_bake"]["props"]


def test_an_armature_is_offered_to_become_a_robot(scene):
    obj = add_rig(ARM)
    assert draw()["ROBOKIN_PT_make_robot"]["operators"] == ["robokin.make_robot", "robokin.convert_rig"]
    bpy.ops.robokin.make_robot()
    select(obj, "lower")
    drawn = draw()
    assert "ROBOKIN_PT_make_robot" not in drawn
    assert drawn["ROBOKIN_PT_many_joints"]["operators"] == ["robokin.set_joint", "robokin.copy_joint"]


def test_the_robot_panel_says_what_it_is(panda):
    labels = draw()["ROBOKIN_PT_robot"]["labels"]
    assert labels == ["panda", "8 degrees of freedom", "8 moving joints, 1 following", "17.45 kg in 13 links"]


def test_a_robot_without_masses_is_offered_them(scene):
    add_rig(ARM)
    bpy.ops.robokin.make_robot()
    drawn = draw()["ROBOKIN_PT_robot"]
    assert drawn["labels"][-1] == "No masses yet" and drawn["operators"][0] == "robokin.inertia_from_mesh"


def test_a_robot_that_cannot_be_read_says_why(panda):
    panda.pose.bones["panda_joint2"].constraints.new("COPY_ROTATION")
    drawn = draw()
    assert "has the constraint" in " ".join(drawn["ROBOKIN_PT_robot"]["labels"])
    assert drawn["ROBOKIN_PT_joint"]["labels"]


@pytest.mark.parametrize(
    ("bone", "channel", "limits"),
    [
        ("panda_joint4", "rotation_euler", {"lower_angle", "upper_angle"}),
        ("panda_finger_joint1", "location", {"lower_length", "upper_length"}),
    ],
)
def test_the_joint_panel_draws_the_channel_itself_and_limits_in_its_unit(panda, bone, channel, limits):
    panda.data.bones.active = panda.data.bones[bone]
    props = draw()["ROBOKIN_PT_joint"]["props"]
    index = next(c.index for c in binding(panda).own_channels if c.bone == bone)
    assert (channel, index) in props
    ending = limits.copy().pop()[5:]
    assert limits <= set(props)
    assert {f"velocity{ending}", "effort", f"acceleration{ending}", "joint_type"} <= set(props)


@pytest.mark.parametrize(
    ("kind", "values", "fields"),
    [
        ("screw", [("rotation_euler", 1), ("location", 1)], {"pitch_length", "lower_angle"}),
        (
            "cylindrical",
            [("rotation_euler", 1), ("location", 1)],
            {"lower_angle", "upper_2_length", "velocity_2_length"},
        ),
        ("universal", [("rotation_euler", 0), ("rotation_euler", 2)], {"universal_order", "lower_2_angle"}),
        ("gimbal", [("rotation_euler", i) for i in (2, 1, 0)], {"gimbal_order", "lower_3_angle", "effort_3"}),
        ("planar", [("location", 2), ("location", 0), ("rotation_euler", 1)], {"lower_length", "lower_3_angle"}),
    ],
)
def test_the_joint_panel_draws_every_coordinate_and_its_limits(scene, kind, values, fields):
    joints = [Joint("j", kind, "a", "b", axis=(0, 1, 0), lower=-1.0, upper=1.0, pitch=0.1)]
    model = RobotModel("one", [Link("a"), Link("b")], joints)
    obj = build_armature(bpy.context, scene.collection, model)
    obj.data.bones.active = obj.data.bones["j"]
    props = draw()["ROBOKIN_PT_joint"]["props"]
    assert [prop for prop in props if isinstance(prop, tuple)] == values
    assert fields <= set(props)
    freedoms = len(values) - (kind == "screw")
    assert sum(str(prop).startswith("lower") for prop in props) == freedoms
    assert sum(str(prop).startswith("use_") and prop != "use_axes" for prop in props) == 5 * freedoms


def test_a_joint_that_follows_out_of_its_limits_says_so(scene):
    turn = {"type": "revolute", "parent": "a", "lower": 0.0, "upper": 1.0}
    follow = turn | {"lower": 2.0, "upper": 3.0, "mimic": Mimic("lead")}
    joints = [Joint(name="lead", child="b", **turn), Joint(name="follow", child="c", **follow)]
    obj, warnings = import_robot(bpy.context, RobotModel("gripper", [Link(name) for name in "abc"], joints))
    (said,) = warnings
    assert said.startswith("joint 'follow': its limits 2 .. 3 are not kept, since with 'lead'")
    for bone, is_reported in (("follow", True), ("lead", False)):
        obj.data.bones.active = obj.data.bones[bone]
        drawn = " ".join(draw()["ROBOKIN_PT_joint"]["labels"])
        assert (said in drawn) is is_reported


def test_joints_that_follow_and_joints_that_do_not_move(panda):
    panda.data.bones.active = panda.data.bones["panda_finger_joint2"]
    drawn = draw()["ROBOKIN_PT_joint"]
    assert "Follows panda_finger_joint1" in drawn["labels"] and "mimic_multiplier" in drawn["props"]
    panda.data.bones.active = panda.data.bones[TOOL]
    assert draw()["ROBOKIN_PT_joint"]["props"] == ["joint_type"]
    panda.data.bones.active = None
    assert " ".join(draw()["ROBOKIN_PT_joint"]["labels"]) == "Select a bone of the robot in Pose Mode"


def test_the_bone_tab_shows_the_same_joint_with_its_link(panda):
    bone = panda.data.bones["panda_joint3"]
    panda.data.bones.active = bone
    drawn = draw()
    link = ["link", "mass_shown", "com_length", *[("inertia", i) for i in range(6)]]
    assert drawn["ROBOKIN_PT_bone_link"]["props"] == drawn["ROBOKIN_PT_link"]["props"] == link
    shared = drawn["ROBOKIN_PT_joint"]["props"]
    assert drawn["ROBOKIN_PT_bone_joint"]["props"] == shared and len(shared) > 8


def test_joints_cannot_be_edited_in_edit_mode_which_would_lose_it(panda):
    panda.data.bones.active = panda.data.bones["panda_joint3"]
    bpy.ops.object.mode_set(mode="EDIT")
    drawn = draw()
    assert not drawn.keys() & {"ROBOKIN_PT_link", "ROBOKIN_PT_bone_link"}
    for panel in ("ROBOKIN_PT_joint", "ROBOKIN_PT_bone_joint"):
        assert not drawn[panel]["props"]
        assert " ".join(drawn[panel]["labels"]) == "Leave Edit Mode to edit joints"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert "joint_type" in draw()["ROBOKIN_PT_joint"]["props"]


@pytest.mark.parametrize("kind", ["POSE", "POSITION", "ORIENTATION", "AXIS"])
@pytest.mark.parametrize("use_target", [True, False])
def test_the_task_panel_draws_what_the_task_has(panda, kind, use_target):
    target = add_target(panda, kind=kind)
    panda.robokin.tasks[0].use_target = use_target
    drawn = draw(object=target, active_object=target)
    props = drawn["ROBOKIN_PT_tasks"]["props"]
    assert {"kind", "tip", "influence", "enabled", "name"} <= set(props)
    assert ("target" in props) == use_target
    assert ("location" in props) == (not use_target and kind in ("POSE", "POSITION"))
    assert ("rotation" in props) == (not use_target and kind != "POSITION")
    axes = set(drawn["ROBOKIN_PT_task_axes"]["props"])
    assert (("use_location", 2) in axes) == (kind in ("POSE", "POSITION"))
    assert (("use_rotation", 2) in axes) == (kind in ("POSE", "ORIENTATION"))
    assert ("axis" in props) == (kind == "AXIS") and ("frame" in axes) == (kind != "AXIS")


@pytest.mark.parametrize(
    ("kind", "fields", "not_fields"),
    [
        ("AIM", {"target", "axis", "orientation_weight", "orientation_band"}, {"other", "position_weight", "distance"}),
        ("LASER", {"target", "axis", "surface", "position_weight"}, {"orientation_weight", "position_band"}),
        ("PLANE", {"target", "side", "position_band"}, {"axis", "frame"}),
        ("CURVE", {"target", "position_band"}, {"use_target", "speed"}),
        ("DISTANCE", {"target", "other", "relation", "distance"}, {"margin"}),
        ("RELATIVE", {"other", "location", "rotation", ("use_rotation", 0)}, {"target", "use_target"}),
        ("PIN", {"tip", ("use_location", 0)}, {"target", "location", "position_band"}),
        ("ADVANCE", {"location", "frame"}, {"target", "rotation"}),
        ("LOOP", {"tip", "other", ("use_rotation", 2)}, {"influence", "priority", "position_weight"}),
        ("CENTER_OF_MASS", {"target", ("use_location", 1)}, {"tip", "frame"}),
        ("SUPPORT", {"target", "margin"}, {"tip", "use_target"}),
        ("POSTURE", {"posture", "orientation_tolerance", "position_tolerance", "orientation_weight"}, {"tip"}),
        ("JOINT", {"tip", ("rotation", 0)}, {("rotation", 1), ("location", 0), "target"}),
        ("ALONG_CURVE", {"target", "speed"}, {"use_target"}),
        ("TWIST", {"use_target", "linear_velocity", "angular_velocity", "frame", "position_band"}, {"location"}),
        ("JOINT_VELOCITY", {("angular_velocity", 0), "orientation_band"}, {("linear_velocity", 0), "frame"}),
        ("LINEAR_VELOCITY", {"coefficients", "rate", "orientation_band"}, {"tip", "target", "use_location"}),
    ],
)
def test_the_task_panel_draws_the_fields_of_the_kind(panda, kind, fields, not_fields):
    bpy.ops.robokin.task_add(kind=kind, tip="panda_joint4")
    panda.robokin.tasks[0].use_target = kind != "TWIST"
    drawn = draw()
    props = {*drawn["ROBOKIN_PT_tasks"]["props"], *drawn["ROBOKIN_PT_task_axes"]["props"]}
    assert fields <= props and not fields & not_fields
    assert not not_fields & props


def test_ordering_is_offered_when_there_is_something_to_order(panda):
    add_target(panda)
    assert "robokin.task_move" not in draw()["ROBOKIN_PT_tasks"]["operators"]
    add_target(panda)
    assert draw()["ROBOKIN_PT_tasks"]["operators"].count("robokin.task_move") == 2


def test_results_are_shown_in_words_and_scene_units(scene, panda):
    target = add_target(panda)
    target.location.x += 10.0
    bpy.ops.robokin.solve_pose()
    solved = draw()["ROBOKIN_PT_solve"]["labels"]
    assert solved[0] == "Out of reach" and len(solved) > 1
    bpy.ops.robokin.bake(frame_end=3)
    bpy.ops.robokin.check(frame_end=3)
    drawn = draw()
    assert drawn["ROBOKIN_PT_bake"]["labels"][0] == "Out of reach"
    assert "3 frames; 3 miss a" in " ".join(drawn["ROBOKIN_PT_check"]["labels"])
    assert any(label.startswith("Off by 9.") for label in drawn["ROBOKIN_PT_tasks"]["labels"])
    target.location.x -= 10.0
    bpy.ops.robokin.solve_pose()
    assert draw()["ROBOKIN_PT_solve"]["labels"] == ["Reached", "every task is met", "Options"]


def test_the_range_is_shown_once_above_all_that_takes_it(panda):
    bpy.context.window_manager.robokin_page = "ANIMATE"
    for kind, count in (("SCENE", 0), ("CUSTOM", 1)):
        panda.robokin.solver.range = kind
        drawn = draw_page()
        assert drawn["ROBOKIN_PT_robot"]["props"].count("frame_start") == count
        assert [name for name, panel in drawn.items() if "range" in panel["props"]] == ["ROBOKIN_PT_robot"]


@pytest.mark.parametrize("width", [180, 300, 600])
def test_long_texts_are_broken_into_lines_that_fit(width):
    context = SimpleNamespace(region=SimpleNamespace(width=width), preferences=bpy.context.preferences)
    text = "task 'panda_hand_tcp' is off by 9.54 m and 1.42 rad; the limits of panda_joint4 hold it back"
    broken = lines(context, text)
    assert " ".join(broken) == text and max(len(line) for line in broken) <= max(16, width / 6)
    assert list(lines(context, "")) == [""]


def test_a_name_that_is_longer_than_a_line_begins_one_and_is_broken_where_it_has_an_underscore():
    context = SimpleNamespace(region=SimpleNamespace(width=250), preferences=bpy.context.preferences)
    broken = lines(context, "the links are long: task 'left_front_manipulator_gripper_tas', and others")
    assert list(broken) == ["the links are long: task", "'left_front_manipulator_", "gripper_tas', and others"]


@pytest.mark.parametrize("name", ["tool", "left_front_manipulator_gripper_tas"])
def test_the_name_of_a_task_that_is_cut_in_the_list_stands_below_it(panda, name):
    add_target(panda)
    panda.robokin.tasks[0].name = name
    bpy.context.window_manager.robokin_page = "TASKS"
    shown = "".join(draw_page()["ROBOKIN_PT_tasks"]["labels"])
    assert (name in shown) == (name != "tool")


@pytest.mark.parametrize("kind", ["CLASSIC", "MODIFIED", "SCREWS"])
def test_the_tables_panel_shows_the_robots_own_numbers(panda, kind):
    panda.robokin.table_kind = kind
    labels = draw()["ROBOKIN_PT_tables"]["labels"]
    assert "tips: say which one" in " ".join(labels)
    panda.robokin.table_tip = panda.data.bones["panda_joint7"].name
    drawn = draw()["ROBOKIN_PT_tables"]
    text = " ".join(drawn["labels"])
    assert "robokin.robot_to_text" in drawn["operators"]
    if kind == "SCREWS":
        assert "-0.333  0  0" in text and "0  1  0" in text and "Home: 0.088" in text
    else:
        assert {"q", "316", "-82.5", "-90"} <= set(drawn["labels"])


def test_a_robot_without_a_table_says_why(panda):
    panda.robokin.table_tip = "panda_finger_joint2"
    labels = draw()["ROBOKIN_PT_tables"]["labels"]
    assert "follows 'panda_finger_joint1'" in " ".join(labels)


def test_constraints_on_joints_are_reported_and_may_be_converted(panda):
    constraint = panda.pose.bones[TOOL].constraints.new("COPY_LOCATION")
    drawn = draw()["ROBOKIN_PT_robot"]
    assert "Convert Rig" in " ".join(drawn["labels"]) and drawn["operators"] == ["robokin.convert_rig"]
    constraint.mute = True
    assert "robokin.convert_rig" not in draw()["ROBOKIN_PT_robot"]["operators"]
    panda.data.bones[TOOL].use_inherit_rotation = False
    drawn = draw()["ROBOKIN_PT_robot"]
    assert "Inherit Rotation" in " ".join(drawn["labels"]) and not drawn["operators"]


def test_the_active_joint_has_a_slider_over_its_range(panda):
    panda.data.bones.active = panda.data.bones["panda_joint2"]
    assert "robokin_range" in draw()["ROBOKIN_PT_joint"]["props"]
    panda.data.bones.active = panda.data.bones[TOOL]
    assert "robokin_range" not in draw()["ROBOKIN_PT_joint"]["props"]


def test_a_list_of_joints_does_not_say_joint():
    names = ["base", "arm_left_1_joint", "arm_right_1_joint", "_joint"]
    assert list(short_names(names).values()) == ["base", "arm_left_1", "arm_right_1", "_joint"]
    assert list(short_names(["r_a", "r_a_joint", "r_b"]).values()) == ["a", "a_joint", "b"]
