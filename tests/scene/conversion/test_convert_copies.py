"""Constraints that only a copy of the rig can show: the robot goes where Blender put the bones, at every frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.properties.bridge import is_robot
from robokin_addon.scene.animation.frames import fcurves
from support.blender.rigs import add_rig
from support.blender.scene_bakes import bake
from support.blender.scene_robots import TOOL, add_empty, add_robot
from test_convert_spaces import FRAMES, animated, constrain, convert, shown

CHAIN = [
    ("base", None, (0.0, 0.0, 0.0), (0.0, 0.0, 0.5)),
    ("upper", "base", (0.0, 0.0, 0.5), (0.0, 0.1, 1.5)),
    ("lower", "upper", (0.0, 0.1, 1.5), (0.0, -0.2, 2.5)),
    ("hand", "lower", (0.0, -0.2, 2.5), (0.0, -0.2, 2.9)),
]
TURNS = np.s_[:, :3, :3]
NEAR = 1e-5


@pytest.fixture
def arm(scene):
    """Turned, not at the origin; its upper bones turn by keys of their own."""
    obj = add_rig(CHAIN)
    obj.location, obj.rotation_euler = (1, -2, 0.5), (0.1, 0.2, 0.3)
    for name in ("upper", "lower"):
        bone = obj.pose.bones[name]
        bone.rotation_mode = "XYZ"
        for frame in FRAMES:
            bone.rotation_euler = (0.05 * frame, -0.03 * frame, 0.2)
            bone.keyframe_insert("rotation_euler", frame=frame)
    obj.pose.bones["hand"].rotation_mode = "XYZ"
    obj.pose.bones["hand"].rotation_euler = (0.2, 0.3, -0.1)
    return obj


@pytest.fixture
def goal(arm):
    """A child, since an object without a parent has no rotation in its local space."""
    carrier = add_empty("carrier")
    carrier.location, carrier.rotation_euler = (0.2, -0.3, 0.4), (0.3, -0.2, 0.1)
    return animated(add_empty("goal", carrier), (0.4, -1.2, 1.4), (0.9, 0.3, -0.4))


def follow_exactly(obj):
    for task in obj.robokin.tasks:
        task.position_tolerance = task.orientation_tolerance = 1e-6
    bake(obj, frame_start=FRAMES[0], frame_end=FRAMES[-1])


def rotations(worlds):
    """(n, 3, 3) those nearest to what Blender shows, which may be stretched and even sheared."""
    U, _, Vt = np.linalg.svd(worlds[TURNS])
    return U @ Vt


TURNED = {
    "Locked Track": ("LOCKED_TRACK", {"track_axis": "TRACK_X", "lock_axis": "LOCK_Y"}),
    "Local": ("COPY_ROTATION", {"owner_space": "LOCAL", "target_space": "LOCAL"}),
    "world into Local": ("COPY_ROTATION", {"owner_space": "LOCAL"}),
    "mix Add": ("COPY_ROTATION", {"mix_mode": "ADD"}),
    "mix Before": ("COPY_ROTATION", {"mix_mode": "BEFORE", "owner_space": "LOCAL", "target_space": "LOCAL"}),
    "mix Offset": ("COPY_ROTATION", {"mix_mode": "OFFSET"}),
    "one axis": ("COPY_ROTATION", {"use_x": False, "use_z": False, "owner_space": "LOCAL", "target_space": "LOCAL"}),
    "two axes of the world": ("COPY_ROTATION", {"use_z": False}),
    "half": ("COPY_ROTATION", {"mix_mode": "AFTER", "influence": 0.5}),
    "Stretch To": ("STRETCH_TO", {"rest_length": 0.4, "volume": "NO_VOLUME"}),
    "Transformation": ("TRANSFORM", {"map_to": "ROTATION", "from_max_x": 1.0, "to_max_z_rot": 0.7}),
    "Limit Rotation": ("LIMIT_ROTATION", {"use_limit_x": True, "min_x": 0.1, "max_x": 0.3, "owner_space": "WORLD"}),
    "Child Of, one axis": (
        "CHILD_OF",
        {f"use_{what}_{axis}": False for what in ("location", "rotation", "scale") for axis in "xyz"}
        | {"use_rotation_z": True},
    ),
}


@pytest.mark.parametrize("name", TURNED)
def test_what_turns_a_bone_below_joints_that_move(arm, goal, name):
    """All joints are balls, so the turn is within reach."""
    kind, settings = TURNED[name]
    constraint = constrain(arm, "hand", kind, goal, **settings)
    shown(arm, "hand")  # Child Of finds its inverse when it is evaluated first
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert constraint.mute and not is_robot(task.target) and task.subtarget == "hand"
    assert not task.target.select_get() and arm.select_get()
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)
    follow_exactly(arm)
    assert arm.robokin.solver.bake_status == "CONVERGED", arm.robokin.solver.bake_reason
    if task.kind == "ORIENTATION":
        np.testing.assert_allclose(shown(arm, "hand")[TURNS], rotations(by_blender), atol=NEAR)
    else:
        np.testing.assert_allclose(shown(arm, "hand"), by_blender, atol=NEAR)


@pytest.mark.parametrize("owner_space", ["LOCAL", "WORLD", "POSE"])
@pytest.mark.parametrize("kind", ["COPY_ROTATION", "COPY_TRANSFORMS"])
def test_a_target_in_the_orientation_of_its_owner(arm, kind, owner_space):
    """A bone of another armature, which stands and turns otherwise."""
    other = animated(add_rig([("stick", None, (0.3, 0, 0), (0.4, 0.2, 0.4))], "other"), (2, 1, 0), (0.1, 0.5, 0.2))
    stick = other.pose.bones["stick"]
    stick.rotation_mode = "XYZ"
    for frame in FRAMES:
        stick.rotation_euler = (0.1 * frame, 0.05 * frame, -0.08 * frame)
        stick.keyframe_insert("rotation_euler", frame=frame)
    spaces = {"subtarget": "stick", "owner_space": owner_space, "target_space": "LOCAL_OWNER_ORIENT"}
    constrain(arm, "hand", kind, other, **spaces)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)
    if kind == "COPY_ROTATION":
        follow_exactly(arm)
        np.testing.assert_allclose(shown(arm, "hand")[TURNS], rotations(by_blender), atol=NEAR)


MOVED = {
    "offset": ("COPY_LOCATION", {"use_offset": True, "target_space": "LOCAL", "owner_space": "LOCAL"}),
    "Local": ("COPY_LOCATION", {"owner_space": "LOCAL", "target_space": "LOCAL"}),
    "one axis": ("COPY_LOCATION", {"use_x": False, "use_y": False}),
    "all, mixed": ("COPY_TRANSFORMS", {"mix_mode": "BEFORE", "owner_space": "LOCAL", "target_space": "LOCAL"}),
    "all, Local": ("COPY_TRANSFORMS", {"owner_space": "LOCAL", "target_space": "LOCAL"}),
    "Floor": ("FLOOR", {"owner_space": "POSE", "target_space": "LOCAL", "floor_location": "FLOOR_Z"}),
    "Pivot": ("PIVOT", {"rotation_range": "ALWAYS_ACTIVE"}),
}


@pytest.mark.parametrize("name", MOVED)
def test_what_moves_a_bone(arm, goal, name):
    """A bone of its own joint cannot leave the one above, so the copy is what has to be right."""
    bpy.ops.object.mode_set(mode="EDIT")
    arm.data.edit_bones["hand"].use_connect = False
    bpy.ops.object.mode_set(mode="OBJECT")
    goal.animation_data_clear()
    animated(goal, (0.1, 0.05, -0.1), (0.2, 0.1, 0.3))
    kind, settings = MOVED[name]
    constrain(arm, "hand", kind, goal, **settings)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert task.kind == ("POSE" if kind in ("COPY_TRANSFORMS", "PIVOT") else "POSITION")
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)


def test_a_stack_of_constraints_is_one_task(arm, goal):
    """Of which one goes on from another; its influence is keyed."""
    constrain(arm, "hand", "DAMPED_TRACK", goal, track_axis="TRACK_Y")
    fading = constrain(arm, "hand", "LOCKED_TRACK", goal, track_axis="TRACK_Z", lock_axis="LOCK_Y")
    for frame, influence in ((1, 0.0), (9, 1.0)):
        fading.influence = influence
        fading.keyframe_insert("influence", frame=frame)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert (task.kind, task.influence) == ("ORIENTATION", 1.0)
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)
    follow_exactly(arm)
    np.testing.assert_allclose(shown(arm, "hand")[TURNS], rotations(by_blender), atol=NEAR)


def test_a_path_below_joints_that_move(arm):
    curve = bpy.data.curves.new("rail", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, 12
    curve.splines.new("BEZIER").bezier_points.add(1)
    for point, co in zip(curve.splines[0].bezier_points, ((0, 0, 0), (0.5, 0.2, 0.3)), strict=True):
        point.co, point.handle_left_type, point.handle_right_type = co, "AUTO", "AUTO"
    rail = bpy.data.objects.new("rail", curve)
    bpy.context.scene.collection.objects.link(rail)
    constraint = constrain(arm, "hand", "FOLLOW_PATH", rail, use_curve_follow=True, use_fixed_location=True)
    for frame, share in ((1, 0.1), (9, 0.8)):
        constraint.offset_factor = share
        constraint.keyframe_insert("offset_factor", frame=frame)
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    assert task.kind == "POSE"
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)


def with_ik(arm, goal, pole=None, **settings):
    constraint = constrain(arm, "lower", "IK", goal, chain_count=2, **settings)
    if pole is not None:
        constraint.pole_target, constraint.pole_angle = pole, 0.4
    return constraint


def test_a_pole_turns_the_elbow_where_blender_turned_it(arm, goal, capfd):
    """And a chain that ends below a joint that moves leaves it alone: here it turns by keys of its own."""
    pole = animated(add_empty("pole"), (3.0, -3.0, 2.0), (0, 0, 0))
    base = arm.pose.bones["base"]
    base.rotation_mode = "XYZ"
    for frame in FRAMES:
        base.rotation_euler = (0.0, 0.02 * frame, 0.05 * frame)
        base.keyframe_insert("rotation_euler", frame=frame)
    constrain(arm, "base", "COPY_ROTATION", goal, influence=0.0)  # so that it is a joint
    with_ik(arm, goal, pole, iterations=2000)
    frames = {bone: shown(arm, bone) for bone in ("base", "upper", "lower", "hand")}
    tasks = convert(arm)
    assert [(task.kind, task.tip, task.priority) for task in tasks if task.influence] == [
        ("POSITION", "hand", 1),
        ("POSITION", "lower", 2),
        ("POSE", "base", 1),
    ]
    assert "could not be converted" not in capfd.readouterr().out
    follow_exactly(arm)
    np.testing.assert_allclose(shown(arm, "base"), frames["base"], atol=NEAR)
    # As near as Blender's own solver brought its tip to the target.
    goals = shown(goal)[:, :3, 3]
    off = abs(frames["hand"][:, :3, 3] - goals).max()
    np.testing.assert_allclose(shown(arm, "hand")[:, :3, 3], goals, atol=NEAR)
    np.testing.assert_allclose(shown(arm, "lower")[:, :3, 3], frames["lower"][:, :3, 3], atol=NEAR + 2 * off)


def test_what_cannot_be_said_of_a_chain_is_reported(arm, goal, capfd):
    constrain(arm, "base", "COPY_ROTATION", goal)
    with_ik(arm, goal, add_empty("pole"), influence=0.5, use_stretch=True)
    arm.pose.bones["upper"].ik_stretch = 0.1
    assert len(convert(arm)) == 2
    out = capfd.readouterr().out
    start = "could not be converted: bone 'lower', constraint 'IK': "
    for words in ("stretch", "pole target 'pole' of an influence", "chain length 2 of an influence"):
        assert start + words in out


def test_the_pole_of_a_single_bone_is_reported(arm, goal, capfd):
    constraint = constrain(arm, "lower", "IK", goal, chain_count=1)
    constraint.pole_target = add_empty("pole")
    assert convert(arm)
    assert "pole target 'pole' of a chain of one bone" in capfd.readouterr().out


def test_a_rig_in_rest_position_has_a_copy_that_moves(arm, goal):
    constrain(arm, "hand", "COPY_ROTATION", goal, mix_mode="ADD")
    by_blender = shown(arm, "hand")
    arm.data.pose_position = "REST"
    (task,) = convert(arm)
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)


def test_control_bones_go_on_steering_and_the_copy_is_left_alone_by_bakes(arm, goal):
    """A bone outside the robot steers the hand through its copy; it is keyed after the conversion."""
    bpy.ops.object.mode_set(mode="EDIT")
    control = arm.data.edit_bones.new("control")
    control.head, control.tail, control.use_deform = (0.5, 0, 2), (0.5, 0.3, 2), False
    bpy.ops.object.mode_set(mode="OBJECT")
    constrain(arm, "hand", "COPY_ROTATION", arm, subtarget="control", owner_space="LOCAL", target_space="LOCAL")
    (task,) = convert(arm)
    rig, control = task.target, arm.pose.bones["control"]
    control.rotation_mode = "XYZ"
    for frame in FRAMES:
        control.rotation_euler = (0.1 * frame, 0.0, -0.05 * frame)
        control.keyframe_insert("rotation_euler", frame=frame)
    wanted = shown(rig, "hand")
    assert abs(wanted[2] - wanted[0]).max() > 0.3
    keys = {path: curve.evaluate(9) for path, curve in fcurves(rig).items()}
    assert keys and all(path.startswith("pose.bones") for path, _ in keys)
    arm.location.x += 0.5
    follow_exactly(arm)
    moved = wanted.copy()
    moved[:, 0, 3] += 0.5
    np.testing.assert_allclose(shown(rig, "hand"), moved, atol=NEAR)
    np.testing.assert_allclose(shown(arm, "hand")[TURNS], wanted[TURNS], atol=NEAR)
    assert {path: curve.evaluate(9) for path, curve in fcurves(rig).items()} == keys


def test_a_driver_of_the_rig_reads_the_copy(arm, goal):
    """The hand's influence is driven by a joint, which a bake moves."""
    constraint = constrain(arm, "hand", "COPY_ROTATION", goal, mix_mode="ADD")
    driver = constraint.driver_add("influence").driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = arm, 'pose.bones["lower"].rotation_euler[0]'
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    follow_exactly(arm)
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)
    np.testing.assert_allclose(shown(arm, "hand")[TURNS], by_blender[TURNS], atol=NEAR)


def test_a_refused_rig_has_no_copy(arm, goal):
    constrain(arm, "hand", "COPY_ROTATION", goal, mix_mode="ADD")
    arm.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    before = [len(data) for data in (bpy.data.objects, bpy.data.armatures, bpy.data.actions)]
    bpy.context.view_layer.objects.active = arm
    with pytest.raises(RuntimeError, match="has the scale 1, 2, 1"):
        bpy.ops.robokin.convert_rig()
    assert [len(data) for data in (bpy.data.objects, bpy.data.armatures, bpy.data.actions)] == before
    assert Vector(arm.scale) == Vector((1, 2, 1))


def test_in_the_tweak_mode_of_the_nla_nothing_is_converted(arm, goal):
    constrain(arm, "hand", "COPY_ROTATION", goal, mix_mode="ADD")
    data = arm.animation_data
    data.nla_tracks.new().strips.new("turns", 1, data.action)
    data.action = None
    data.nla_tracks[0].select, data.nla_tracks[0].strips[0].select = True, True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True
    bpy.context.view_layer.objects.active = arm
    count = len(bpy.data.actions)
    with pytest.raises(RuntimeError, match="is in the NLA's tweak mode"):
        bpy.ops.robokin.convert_rig()
    assert len(bpy.data.actions) == count and not is_robot(arm)


@pytest.mark.parametrize("kind", ["COPY_ROTATION", "CHILD_OF", "ARMATURE"])
def test_targets_that_are_bones_of_the_robot_are_those_of_the_copy(arm, goal, kind):
    """Which goes on turning them by their keys."""
    if kind == "ARMATURE":
        target = arm.pose.bones["hand"].constraints.new(kind).targets.new()
        target.target, target.subtarget = arm, "upper"
    else:
        constrain(arm, "hand", kind, arm, subtarget="upper")
        shown(arm, "hand")
    by_blender = shown(arm, "hand")
    (task,) = convert(arm)
    for bone in ("upper", "lower"):
        arm.pose.bones[bone].rotation_euler = (0, 0, 0)
        for frame in FRAMES:
            arm.pose.bones[bone].keyframe_insert("rotation_euler", frame=frame)
    np.testing.assert_allclose(shown(task.target, "hand"), by_blender, atol=NEAR)
    if kind == "COPY_ROTATION":
        follow_exactly(arm)
        np.testing.assert_allclose(shown(arm, "hand")[TURNS], rotations(by_blender), atol=NEAR)


def test_a_robot_that_was_given_constraints_later(scene):
    """An imported one: links have other axes than their bones, joints have limits and drivers, and the copy is none."""
    robot = add_robot()
    goal = add_empty("goal", add_empty("carrier"))
    for frame in FRAMES:
        goal.rotation_euler = (0.02 * frame, -0.03 * frame, 0.01 * frame)
        goal.keyframe_insert("rotation_euler", frame=frame)
    constrain(robot, TOOL, "COPY_ROTATION", goal, mix_mode="BEFORE", owner_space="LOCAL", target_space="LOCAL")
    limits = [c for bone in robot.pose.bones for c in bone.constraints if c.name.startswith("Robokin")]
    for limit in limits:
        limit.mute = True
    by_blender = shown(robot, TOOL)
    for limit in limits:
        limit.mute = False
    assert abs(by_blender[2] - by_blender[0])[:3, :3].max() > 0.1
    assert len(convert(robot)) == 1
    robots = [obj.name for obj in bpy.context.scene.objects if is_robot(obj)]
    assert robots == [robot.name] and not any(
        key.startswith("robokin_") for owner in bpy.data.armatures["panda as it was"].bones for key in owner.keys()
    )
    follow_exactly(robot)
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason
    np.testing.assert_allclose(shown(robot, TOOL)[TURNS], rotations(by_blender), atol=NEAR)
