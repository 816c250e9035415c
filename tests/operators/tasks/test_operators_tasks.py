"""Tasks: adding, removing, moving with their animation; a target at the tip, ready to be moved."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import pytest
from robokin_addon.operators.tasks.tasks import ROBOKIN_OT_target_add, ROBOKIN_OT_task_add
from support.blender.panels import FakeLayout, draw
from support.blender.scene_robots import TOOL, add_empty, add_robot, add_target, world_error


@pytest.fixture
def robot(scene):
    return add_robot()


def names(robot):
    return [task.name for task in robot.robokin.tasks]


def add_named(robot, *wanted):
    for name in wanted:
        bpy.ops.robokin.task_add(tip=TOOL)
        robot.robokin.tasks[-1].name = name


def influence_curves(robot):
    from robokin_addon.scene.animation.frames import fcurves

    return {path: curve.keyframe_points[0].co[1] for (path, _), curve in fcurves(robot).items()}


def test_a_target_appears_at_the_tip_selected_and_sized_to_the_robot(robot):
    bpy.ops.object.mode_set(mode="POSE")
    select_bone(robot, TOOL)
    assert bpy.ops.robokin.target_add() == {"FINISHED"}
    target = bpy.context.object
    assert target != robot and target.select_get() and not robot.select_get() and bpy.context.mode == "OBJECT"
    assert robot.robokin.tasks[0].target == target and robot.robokin.tasks[0].tip == TOOL
    assert max(world_error(robot, TOOL, target)) < 1e-5
    assert 0.05 < target.empty_display_size < 0.3


def test_a_robot_with_huge_bones_gets_a_task(robot):
    """Each length is a number in single precision, and so is its square; the sum of the squares is none."""
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, along in zip(robot.data.edit_bones[-2:], ((1.4e19, 0.0, 0.0), (0.0, 1.4e19, 0.0)), strict=True):
        bone.use_connect, bone.tail = False, along
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.robokin.task_add(tip=TOOL) == {"FINISHED"}
    assert robot.robokin.tasks[0].tip == TOOL


def test_fields_of_a_new_target_show_no_rounding(scene):
    """Of a tip that single precision turns by a hair: no "-0 m", no "0.000009 degrees"."""
    with bpy.context.temp_override():
        bpy.ops.robokin.add_robot(robot="mobile_arm")
    robot = bpy.context.object
    pose = {"shoulder_pan": 139, "shoulder_lift": -70, "elbow": 72, "wrist_1": -182, "wrist_2": -49, "wrist_3": 90}
    for joint, degrees in pose.items():
        robot.pose.bones[joint].rotation_euler[1] = math.radians(degrees)
    bpy.context.view_layer.update()
    bpy.ops.robokin.task_add()
    bpy.ops.robokin.target_add()
    task, target = robot.robokin.tasks[0], bpy.context.object
    numbers = [*task.location, *task.rotation, *target.location, *target.rotation_euler]
    assert min(map(abs, numbers)) == 0.0
    assert all(abs(number) > 1e-6 or str(number) == "0.0" for number in numbers)


def select_bone(robot, name, on=True):
    robot.data.bones.active = robot.data.bones[name]
    holder = robot.pose.bones[name] if hasattr(robot.pose.bones[name], "select") else robot.data.bones[name]
    holder.select = on


def test_the_bone_selected_in_pose_mode_is_the_tip(robot):
    bpy.ops.object.mode_set(mode="POSE")
    select_bone(robot, "panda_joint4")
    assert draw()["ROBOKIN_PT_tasks"]["texts"][0] == "Add Target at panda_link4"
    bpy.ops.robokin.task_add()
    select_bone(robot, "panda_joint4", on=False)
    assert draw()["ROBOKIN_PT_tasks"]["texts"][0] == "Add Target at panda_hand_tcp"
    bpy.ops.robokin.task_add()
    assert [task.tip for task in robot.robokin.tasks] == ["panda_joint4", TOOL]


def test_a_selected_bone_that_is_none_of_the_robots_leaves_it_at_the_tool(robot):
    bpy.ops.object.mode_set(mode="EDIT")
    loose = robot.data.edit_bones.new("loose")
    loose.tail, loose.parent = (0.0, 0.0, 0.1), robot.data.edit_bones["panda_joint4"]
    bpy.ops.object.mode_set(mode="POSE")
    select_bone(robot, "loose")
    assert draw()["ROBOKIN_PT_tasks"]["texts"][0] == "Add Target at panda_hand_tcp"
    assert bpy.ops.robokin.target_add() == {"FINISHED"}
    assert robot.robokin.tasks[0].tip == TOOL


def test_in_object_mode_the_tool_is_the_tip_whatever_bones_are_selected(robot):
    select_bone(robot, "panda_joint4")
    assert draw()["ROBOKIN_PT_tasks"]["texts"][0] == "Add Target at panda_hand_tcp"
    bpy.ops.robokin.target_add()
    assert robot.robokin.tasks[0].tip == TOOL


def test_where_several_tips_qualify_the_button_asks(scene, monkeypatch):
    robot = add_robot("talos_reduced")
    assert draw()["ROBOKIN_PT_tasks"]["texts"][0] == "Add Target at..."
    shown = []
    manager = SimpleNamespace(popup_menu=lambda draw, **_: shown.append(draw))
    properties = SimpleNamespace(is_property_set=lambda name: name == "kind")
    operator = SimpleNamespace(tip="", kind="POSITION", properties=properties, execute=None)
    context = SimpleNamespace(object=robot, window_manager=manager)
    assert ROBOKIN_OT_target_add.invoke(operator, context, None) == {"CANCELLED"}
    menu = SimpleNamespace(layout=FakeLayout())
    shown[0](menu, None)
    assert "left_sole_link" in menu.layout.drawn["texts"] and not robot.robokin.tasks


def test_the_task_of_an_arm_that_cannot_keep_a_rotation_is_of_position(scene):
    for name, kind in (("hextilt_flying_arm_5", "POSITION"), ("ur5_robot", "POSE")):
        robot = add_robot(name)
        bpy.ops.robokin.target_add()
        bpy.ops.robokin.target_add(kind="AIM")
        assert [task.kind for task in robot.robokin.tasks] == [kind, "AIM"]


def test_without_an_active_bone_the_tool_frame_is_the_tip(robot):
    robot.data.bones.active = None
    bpy.ops.robokin.target_add()
    assert robot.robokin.tasks[0].tip == TOOL


def test_the_target_of_a_scaled_and_turned_robot_is_where_it_is_seen(scene, robot):
    scene.unit_settings.scale_length = 1.0
    robot.location, robot.rotation_euler, robot.scale = (1, -2, 3), (0.3, 0.4, 0.5), (2, 2, 2)
    bpy.context.view_layer.update()
    assert max(world_error(robot, TOOL, add_target(robot))) < 1e-5


def test_a_task_added_without_target_holds_the_present_pose(robot):
    bpy.ops.robokin.task_add(tip=TOOL, kind="POSITION")
    task = robot.robokin.tasks[0]
    held = add_empty("held")
    held.location, held.rotation_euler = task.location, task.rotation
    assert not task.use_target and task.kind == "POSITION"
    assert max(world_error(robot, TOOL, held)) < 1e-5


def test_names_stay_apart(robot):
    for _ in range(3):
        bpy.ops.robokin.task_add(tip=TOOL)
    assert len(set(names(robot))) == 3


def test_an_unknown_tip_is_refused_by_name_and_adds_nothing(robot):
    with pytest.raises(RuntimeError, match=r"panda_hand_tcp_join.*did you mean: panda_hand_tcp_joint"):
        bpy.ops.robokin.target_add(tip="panda_hand_tcp_join")
    assert not robot.robokin.tasks and set(bpy.data.objects) == {robot} | widgets(robot)


def widgets(robot):
    return {o for o in bpy.data.objects if not o.users_scene}


def animate(robot):
    """Task i has the influence i / 10 keyed, and something that reads it."""
    for i, task in enumerate(robot.robokin.tasks):
        task.influence = i / 10
        task.keyframe_insert("influence", frame=1)


def test_moving_a_task_takes_its_animation_along(robot):
    add_named(robot, "a", "b", "c")
    animate(robot)
    robot.driver_add("robokin.tasks[2].distance")
    reader = add_empty("reader")
    variable = reader.driver_add("location", 0).driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = robot, "robokin.tasks[2].influence"
    robot.robokin.active_task = 2
    assert bpy.ops.robokin.task_move(direction="UP") == {"FINISHED"}
    assert names(robot) == ["a", "c", "b"] and robot.robokin.active_task == 1
    assert influence_curves(robot) == pytest.approx(
        {"robokin.tasks[0].influence": 0.0, "robokin.tasks[1].influence": 0.2, "robokin.tasks[2].influence": 0.1}
    )
    driven = {driver.data_path for driver in robot.animation_data.drivers}
    assert "robokin.tasks[1].distance" in driven and "robokin.tasks[2].distance" not in driven
    assert variable.targets[0].data_path == "robokin.tasks[1].influence"


def test_removing_a_task_removes_its_animation_and_shifts_the_others(robot):
    add_named(robot, "a", "b", "c")
    animate(robot)
    strip_action = bpy.data.actions.new("strip")
    slot = strip_action.slots.new("OBJECT", robot.name)
    bag = strip_action.layers.new("Layer").strips.new(type="KEYFRAME").channelbag(slot, ensure=True)
    bag.fcurves.new("robokin.tasks[2].influence").keyframe_points.insert(1, 0.7)
    strip = robot.animation_data.nla_tracks.new().strips.new("strip", 1, strip_action)
    strip.action_slot = slot
    assert bpy.ops.robokin.task_remove(index=0) == {"FINISHED"}
    assert names(robot) == ["b", "c"]
    assert influence_curves(robot) == pytest.approx(
        {"robokin.tasks[0].influence": 0.1, "robokin.tasks[1].influence": 0.2}
    )
    assert [curve.data_path for curve in bag.fcurves] == ["robokin.tasks[1].influence"]


def test_other_animation_is_left_alone(robot):
    add_named(robot, "a", "b")
    robot.keyframe_insert("location", frame=1)
    robot.pose.bones[TOOL].keyframe_insert("location", frame=1)
    before = influence_curves(robot)
    bpy.ops.robokin.task_move(index=0, direction="DOWN")
    bpy.ops.robokin.task_remove(index=0)
    assert influence_curves(robot) == before and len(before) == 2


def test_moving_past_the_end_does_nothing(robot):
    add_named(robot, "a", "b")
    assert bpy.ops.robokin.task_move(index=1, direction="DOWN") == {"CANCELLED"}
    assert names(robot) == ["a", "b"]


def test_removing_what_is_not_there_says_so(robot):
    with pytest.raises(RuntimeError, match="'panda' has no task yet: add one"):
        bpy.ops.robokin.task_remove()
    for operator in (bpy.ops.robokin.task_from_pose, bpy.ops.robokin.task_relax, bpy.ops.robokin.base_nearer):
        with pytest.raises(RuntimeError, match="'panda' has no task yet: add one"):
            operator()
    add_named(robot, "a")
    with pytest.raises(RuntimeError, match=r"'panda' has no task number 4 \(it has 1\)"):
        bpy.ops.robokin.task_remove(index=4)


def test_the_poll_says_why(scene, robot):
    empty = add_empty("lamp")
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = empty
    with pytest.raises(RuntimeError, match="'lamp' is not a robot: select one, or import one from a URDF file"):
        bpy.ops.robokin.task_add()
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="Select a robot, or import one from a URDF file"):
        bpy.ops.robokin.solve_pose()
    robot.select_set(False)
    with pytest.raises(RuntimeError, match="Select a robot in Object Mode"):
        bpy.ops.robokin.delete_robot()


def test_a_selected_target_or_part_still_means_its_robot(scene, robot):
    target = add_target(robot)
    part = add_empty("part", parent=robot)
    for active in (target, part):
        bpy.context.view_layer.update()
        bpy.context.view_layer.objects.active = active
        assert bpy.ops.robokin.task_add(tip=TOOL) == {"FINISHED"}
    assert len(robot.robokin.tasks) == 3


def test_a_deleted_target_steers_no_more(scene, robot):
    target = add_target(robot)
    target.location.x += 0.1
    bpy.data.objects["panda"].select_set(False)
    target.select_set(True)
    bpy.context.view_layer.objects.active = robot
    with bpy.context.temp_override(selected_objects=[target], object=target):
        bpy.ops.object.delete()
    assert robot.robokin.tasks[0].target is not None
    for operator in (bpy.ops.robokin.solve_pose, bpy.ops.robokin.bake):
        with (
            bpy.context.temp_override(object=robot),
            pytest.raises(RuntimeError, match="was deleted: choose"),
        ):
            operator()
    with bpy.context.temp_override(object=robot):
        assert "was deleted" in " ".join(draw(object=robot)["ROBOKIN_PT_tasks"]["labels"])


def test_the_target_made_for_a_task_goes_with_it_and_no_other(robot):
    own, shared, parent, lamp = add_target(robot), add_target(robot), add_target(robot), add_empty("lamp")
    add_empty("child", parent)
    tasks = robot.robokin.tasks
    for target in (shared, lamp):
        with bpy.context.temp_override(object=robot):
            bpy.ops.robokin.task_add(tip=TOOL)
        tasks[-1].use_target, tasks[-1].target = True, target
    names = {target.name: False for target in (own, shared, parent, lamp)}
    while tasks:
        with bpy.context.temp_override(object=robot):
            bpy.ops.robokin.task_remove(index=0)
        for name in names:
            names[name] = names[name] or (name not in bpy.data.objects and len(tasks))
    there = {name for name in names if name in bpy.data.objects}
    assert there == {parent.name, lamp.name}


def test_two_tasks_that_hold_one_tip_are_reported(robot, capfd):
    add_target(robot, kind="POSITION")
    add_target(robot, kind="ORIENTATION")
    assert "same tip" not in capfd.readouterr().out
    add_target(robot)
    assert capfd.readouterr().out.count("holds the same tip") == 2
    with bpy.context.temp_override(object=robot):

        def said():
            return " ".join(draw(object=robot)["ROBOKIN_PT_tasks"]["labels"])

        assert "hold the same tip: all are" in said()
        robot.robokin.tasks[0].influence = 0.0
        assert "holds the same tip: both are" in said()
        robot.robokin.tasks[1].influence = 0.0
        assert "the same tip" not in said()


def test_a_task_that_is_called_after_its_tip_is_so_after_the_next_tip(robot):
    add_named(robot, "hand_tcp", "Door")  # the second has a name of its own
    bpy.ops.robokin.task_add(tip=TOOL)
    for task in robot.robokin.tasks:
        task.tip = ""
        task.tip = "panda_joint4"
    assert names(robot) == ["link4", "Door", "link4.001"]


def test_a_joint_value_asked_of_a_fixed_tool_is_that_of_the_joint_that_moves_it(robot):
    robot.pose.bones["panda_joint7"].rotation_euler[1] = 0.4
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.task_add(kind="JOINT") == {"FINISHED"}
    task = robot.robokin.tasks[0]
    assert task.tip == "panda_joint7" and task.rotation[0] == pytest.approx(0.4, abs=1e-6)
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"} and robot.robokin.solver.status == "CONVERGED"


@pytest.mark.parametrize("operator", [ROBOKIN_OT_task_add, ROBOKIN_OT_target_add])
def test_what_is_adjusted_afterwards_names_the_tip_that_was_taken(robot, operator):
    stand = SimpleNamespace(kind="POSE", tip="", other="", report=lambda *_: None, _warn_of_same_tip=lambda obj: None)
    stand.properties = SimpleNamespace(is_property_set=lambda name: name == "kind")
    assert operator.run(stand, bpy.context, robot) == {"FINISHED"}
    assert stand.tip == TOOL


@pytest.mark.parametrize("operator", ["task_add", "target_add"])
def test_an_empty_tip_is_the_tool(robot, operator):
    """Also a tip that is given and empty, as after its field was cleared."""
    assert getattr(bpy.ops.robokin, operator)(kind="POSE", tip="") == {"FINISHED"}
    assert robot.robokin.tasks[0].tip == TOOL
