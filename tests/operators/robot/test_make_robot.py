"""Make Robot: any armature, or some of its bones, becomes a robot."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import (
    binding,
    build_armature,
    is_robot,
    read_configuration,
    robot_model,
    write_configuration,
)
from robokin_addon.properties.bridge.record.fields import stored_fields
from robokin_addon.properties.bridge.record.stored import KEY, ROBOT_KEY
from robokin_addon.robokin import Joint, Link, RobotModel, in_limits, load_urdf, random_configuration
from robokin_addon.scene.animation.frames import fcurves
from support.blender.rigs import ARM, HUMANOID, QUADRUPED, add_rig, disagreement, select
from support.robots import robot


def make(**settings: object) -> None:
    assert bpy.ops.robokin.make_robot(**settings) == {"FINISHED"}


def agrees(obj: bpy.types.Object, size: float = 1.0) -> None:
    """The model shows where the bones are, in random poses, too, and no pose leaves the limits."""
    model = robot_model(obj)
    rng = np.random.default_rng(0)
    assert disagreement(obj) < 1e-5 * size
    for _ in range(5):
        write_configuration(obj, random_configuration(model, rng))
        assert disagreement(obj) < 1e-5 * size
        assert in_limits(model, read_configuration(obj))


def lock(bone: bpy.types.PoseBone, rotation: str = "", location: str = "") -> None:
    """Lock these axes."""
    bone.lock_rotation = [axis in rotation for axis in "XYZ"]
    bone.lock_location = [axis in location for axis in "XYZ"]


@pytest.mark.parametrize("bones", [ARM, HUMANOID, QUADRUPED])
@pytest.mark.parametrize("unlocked", ["GUESS", "HINGE", "BALL", "FIXED"])
def test_any_armature_is_a_robot_that_shows_what_it_is(scene, bones, unlocked):
    obj = add_rig(bones)
    make(unlocked=unlocked)
    assert len(robot_model(obj).links) == len(bones)
    agrees(obj)


def test_an_arm_without_locks_bends_where_its_rest_pose_does(scene):
    obj = add_rig(ARM)
    make()
    model = robot_model(obj)
    assert model.root == "fixed" and [j.type for j in model.joints] == ["fixed", "continuous", "continuous"]
    elbow = binding(obj).root[:3, :3] @ model.joint("lower").placement[:3, :3] @ model.joint("lower").axis
    assert abs(elbow @ (1.0, 0.0, 0.0)) > 0.999  # the arm lies in the plane of y and z


def test_a_body_with_limbs_floats_and_its_knees_and_elbows_are_hinges(scene):
    obj = add_rig(HUMANOID)
    make()
    model = robot_model(obj)
    assert model.root == "floating"
    hinges = {joint.name for joint in model.moving_joints if joint.nv == 1}
    assert hinges == {f"{name}.{side}" for name in ("forearm", "shin") for side in "LR"}


@pytest.mark.parametrize(
    ("mode", "rotation", "location", "kind", "order"),
    [
        ("XYZ", "YZ", "XYZ", "continuous", ""),
        ("QUATERNION", "XZ", "", "continuous", ""),
        ("XYZ", "Y", "XYZ", "universal", "ZX"),
        ("ZXY", "Y", "", "universal", "XZ"),
        ("QUATERNION", "X", "", "universal", "ZY"),
        ("YZX", "", "XYZ", "gimbal", "XZY"),
        ("XYZ", "XYZ", "XYZ", "fixed", ""),
        ("XYZ", "XYZ", "YZ", "prismatic", ""),
        ("QUATERNION", "", "XZ", "prismatic", ""),
        ("XYZ", "XZ", "XZ", "cylindrical", ""),
        ("XYZ", "XY", "Z", "planar", ""),
        ("QUATERNION", "", "Y", "planar", ""),
        ("XYZ", "XYZ", "X", "planar", ""),
    ],
)
def test_locks_say_type_and_axis(scene, mode, rotation, location, kind, order):
    bones = [("root", None, (0, 0, 0), (0.3, 0.2, 0.5)), ("bone", "root", (0.5, 0.1, 0.6), (0.9, 0.4, 1.0))]
    obj = add_rig(bones)
    bone = obj.pose.bones["bone"]
    bone.rotation_mode = mode
    lock(bone, rotation, location)
    make(base="FIXED", unlocked="BALL")
    joint = robot_model(obj).joint("bone")
    assert (joint.type, joint.order) == (kind, order)
    free = {(c.path, c.index) for c in binding(obj).own_channels}
    if kind in ("prismatic", "cylindrical", "planar"):
        assert {i for path, i in free if path == "location"} == {i for i in range(3) if "XYZ"[i] not in location}
    if rotation:
        turns = {i for path, i in free if path == "rotation_euler"}
        wanted = {i for i in range(3) if "XYZ"[i] not in rotation}
        assert turns == wanted or (kind == "planar" and joint.upper[2] == joint.lower[2] == 0.0)
    agrees(obj)


def test_what_no_joint_can_do_is_reported(scene, capfd):
    bones = [("root", None, (0, 0, 0), (0, 0, 1)), ("bone", "root", (0, 0, 2), (0, 0, 3))]
    obj = add_rig(bones)
    lock(obj.pose.bones["bone"], rotation="YZ", location="XZ")
    make(base="FIXED")
    assert robot_model(obj).joint("bone").type == "continuous"
    assert "bone 'bone': sliding along Y" in capfd.readouterr().out


def test_limits_come_from_constraints_and_from_ik_limits(scene):
    obj = add_rig(ARM)
    lower, hand = obj.pose.bones["lower"], obj.pose.bones["hand"]
    lower.rotation_mode = "XYZ"
    lock(lower, rotation="YZ")
    limit = lower.constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, math.radians(-130), math.radians(5)
    hand.lock_ik_x = hand.lock_ik_y = True
    hand.use_ik_limit_z, hand.ik_min_z, hand.ik_max_z = True, math.radians(-30), math.radians(40)
    make()
    model = robot_model(obj)
    # The degrees that were typed, not their single precision neighbours.
    assert (model.joint("lower").lower[0], model.joint("lower").upper[0]) == (math.radians(-130), math.radians(5))
    assert (model.joint("hand").lower[0], model.joint("hand").upper[0]) == (math.radians(-30), math.radians(40))
    np.testing.assert_array_equal(model.joint("hand").axis, (0, 0, 1))
    assert limit.mute
    agrees(obj)


def test_both_sides_of_a_gimbal_have_the_limits_of_their_axes(scene):
    obj = add_rig(ARM)
    bone = obj.pose.bones["lower"]
    bone.rotation_mode = "YXZ"
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    for axis, low, high in (("x", -10, 20), ("y", -30, 40), ("z", -50, 60)):
        setattr(limit, f"use_limit_{axis}", True)
        setattr(limit, f"min_{axis}", math.radians(low))
        setattr(limit, f"max_{axis}", math.radians(high))
    make()
    joint = robot_model(obj).joint("lower")
    assert joint.order == "ZXY"  # Blender's YXZ turns about Z, X, Y of the bone, from parent to child
    np.testing.assert_allclose(np.degrees(joint.lower), (-50, -10, -30))
    np.testing.assert_allclose(np.degrees(joint.upper), (60, 20, 40))
    agrees(obj)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_sliding_limits_are_in_metres(scene, unit):
    scene.unit_settings.scale_length = unit
    obj = add_rig([("root", None, (0, 0, 0), (0, 0, 1)), ("rail", "root", (0, 1, 1), (0, 2, 1))])
    bone = obj.pose.bones["rail"]
    lock(bone, rotation="XYZ", location="XZ")
    limit = bone.constraints.new("LIMIT_LOCATION")
    limit.owner_space, limit.use_min_y, limit.min_y, limit.use_max_y, limit.max_y = "LOCAL", True, 0.0, True, 1.2
    make()
    joint = robot_model(obj).joint("rail")
    assert joint.lower[0] == 0.0 and joint.upper[0] == pytest.approx(1.2 * unit, rel=1e-12)
    bone.location[1] = 5.0
    bpy.context.view_layer.update()
    assert bone.location[1] == pytest.approx(1.2, rel=1e-6)
    assert disagreement(obj) < 1e-5


@pytest.mark.parametrize("locked", "XYZ")
def test_both_lengths_of_a_plane_have_the_limits_of_their_axes(scene, locked):
    obj = add_rig([("root", None, (0, 0, 0), (0, 0, 1)), ("plate", "root", (0, 1, 1), (0.3, 1.5, 1.2))])
    bone = obj.pose.bones["plate"]
    lock(bone, location=locked)
    limit = bone.constraints.new("LIMIT_LOCATION")
    limit.owner_space = "LOCAL"
    ends = {"x": (-0.1, 0.2), "y": (-0.3, 0.4), "z": (-0.5, 0.6)}
    ends.pop(locked.lower())
    for axis, (low, high) in ends.items():
        for end, value in (("min", low), ("max", high)):
            setattr(limit, f"use_{end}_{axis}", True)
            setattr(limit, f"{end}_{axis}", value)
    make()
    assert robot_model(obj).joint("plate").type == "planar"
    for axis, (low, high) in ends.items():
        for pushed, stop in ((-9.0, low), (9.0, high)):
            bone.location["xyz".index(axis)] = pushed
            bpy.context.view_layer.update()
            assert bone.location["xyz".index(axis)] == pytest.approx(stop, abs=1e-6)


def test_hand_posing_is_right_at_once(scene):
    obj = add_rig(ARM)
    bone = obj.pose.bones["lower"]
    bone.rotation_mode = "XYZ"
    lock(bone, rotation="YZ")
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -1.0, 0.5
    bone.rotation_euler = (0.25, 0.3, 0.0)
    make()
    # What the joint can do of the pose is kept.
    assert bone.rotation_euler[0] == pytest.approx(0.25) and bone.rotation_euler[1] == 0.0
    assert bone.lock_rotation[:] == (False, True, True) and all(bone.lock_location) and all(bone.lock_scale)
    bone.rotation_euler[0] = 2.0
    bpy.context.view_layer.update()
    assert bone.rotation_euler[0] == 0.5


def test_a_root_bone_with_locks_turns_on_a_new_base(scene):
    obj = add_rig(ARM)
    root = obj.pose.bones["upper"]
    root.rotation_mode = "XYZ"
    lock(root, rotation="XZ", location="XYZ")
    before = np.array(obj.data.bones["hand"].matrix_local)
    make()
    model = robot_model(obj)
    assert [j.child for j in model.joints] == ["Base", "upper", "lower", "hand"]
    assert model.joint("upper").type == "continuous" and model.root == "fixed"
    np.testing.assert_allclose(np.array(obj.data.bones["hand"].matrix_local), before, atol=1e-6)
    agrees(obj)


@pytest.mark.parametrize("base", ["FIXED", "FLOATING", "PLANAR", "NEW"])
def test_the_base_that_was_asked_for(scene, base):
    obj = add_rig(HUMANOID)
    make(base=base)
    assert robot_model(obj).root == ("fixed" if base == "NEW" else base.lower())
    assert ("Base" in obj.data.bones) == (base == "NEW")
    if base == "PLANAR":
        np.testing.assert_allclose(binding(obj).root[:3, 2], (0, 0, 1), atol=1e-6)  # it drives on the ground
    agrees(obj)


def test_several_roots_stand_on_a_new_base_and_what_only_steers_stays_outside(scene):
    loose = [("left", None, (1, 0, 0), (1, 0, 1)), ("right", None, (-1, 0, 0), (-1, 0, 1))]
    obj = add_rig([*loose, ("target", None, (1, 0, 2), (1, 0, 3)), ("panel", None, (5, 0, 0), (5, 0, 1))])
    for name in ("target", "panel"):
        obj.data.bones[name].use_deform = False
    make()
    assert {j.child for j in robot_model(obj).joints} == {"Base", "left", "right"}
    agrees(obj)


def test_only_selected_bones_become_joints(scene):
    obj = add_rig(HUMANOID)
    select(obj, "upper_arm.L", "forearm.L", "hand.L")
    make(unlocked="BALL")
    model = robot_model(obj)
    assert {j.name for j in model.moving_joints} == {"upper_arm.L", "forearm.L", "hand.L"}
    assert {j.child for j in model.joints if not j.nv} == {"hips", "spine", "chest", "shoulder.L"}
    assert obj.mode == "POSE"
    obj.pose.bones["thigh.R"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)  # still an ordinary bone
    agrees(obj)


def test_added_bones_of_a_robot_become_joints(scene):
    model = load_urdf(robot("panda"))
    obj = build_armature(bpy.context, scene.collection, model)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = obj.data.edit_bones.new("pen")
    bone.parent = obj.data.edit_bones["panda_joint7"]
    bone.head = bone.parent.head
    bone.tail = bone.head + bone.parent.vector.__class__((0.02, 0.05, 0.03))
    bpy.ops.object.mode_set(mode="OBJECT")
    select(obj, "pen")
    make(unlocked="HINGE")
    after = robot_model(obj)
    assert [j.name for j in after.moving_joints if j.name not in {k.name for k in model.joints}] == ["pen"]
    assert after.joint("panda_joint4").upper[0] == model.joint("panda_joint4").upper[0]
    assert after.joint("pen").parent == model.joint("panda_joint7").child
    agrees(obj)
    with pytest.raises(RuntimeError, match="joints already"):
        bpy.ops.robokin.make_robot()


def test_a_base_added_below_a_robot_carries_it(scene):
    obj = build_armature(
        bpy.context, scene.collection, RobotModel("r", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b")])
    )
    bpy.ops.object.mode_set(mode="EDIT")
    bones = obj.data.edit_bones
    bone = bones.new("cart")
    bone.head, bone.tail = (0.0, 0.0, -0.5), (0.0, 0.0, -0.1)
    bones["a"].parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    select(obj, "cart")
    make(base="FLOATING")
    assert [j.child for j in robot_model(obj).joints] == ["cart", "a", "b"] and robot_model(obj).root == "floating"
    agrees(obj)


def state(obj: bpy.types.Object) -> list:
    bones = [(b.name, b.get(KEY), stored_fields(b), b.inherit_scale, b.use_inherit_rotation) for b in obj.data.bones]
    constraints = [(c.name, c.mute) for b in obj.pose.bones for c in b.constraints]
    return [bones, constraints, obj.data.get(ROBOT_KEY), obj.mode]


def stretch_parent(obj):
    obj.parent = bpy.data.objects.new("table", None)
    bpy.context.collection.objects.link(obj.parent)
    obj.parent.scale = 1, 2, 1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda obj: setattr(obj, "scale", (1, 2, 1)), "'rig' has the scale 1, 2, 1: apply it"),
        (stretch_parent, "'rig' has the scale 1, 2, 1 with that of its parent 'table': apply it"),
        (lambda obj: setattr(obj, "scale", (-1, -1, -1)), "scale -1, -1, -1"),
        (lambda obj: setattr(obj, "scale", (0, 0, 0)), "'rig' has scale 0: give it a size"),
        (lambda obj: obj.pose.bones["hand"].constraints.new("COPY_LOCATION"), "'hand' has the constraint 'Copy Loc"),
        (lambda obj: obj.pose.bones["hand"].constraints.new("LIMIT_ROTATION"), "'hand' has the"),  # of world space
        (lambda obj: setattr(obj.pose.bones["hand"], "rotation_quaternion", [math.nan] * 4), "pose is not a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_robot_is_refused_by_name_and_left_alone(scene, spoil, words):
    obj = add_rig(ARM)
    lock(obj.pose.bones["upper"], rotation="XZ")
    spoil(obj)
    bpy.context.view_layer.update()
    before = state(obj)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.robokin.make_robot()
    assert state(obj) == before and not is_robot(obj)


def test_a_failure_half_way_leaves_nothing(scene):
    """A joint that slides on a connected bone, found out only by the whole robot."""
    obj = build_armature(
        bpy.context, scene.collection, RobotModel("r", [Link("a"), Link("b")], [Joint("j", "revolute", "a", "b")])
    )
    bpy.ops.object.mode_set(mode="EDIT")
    bones = obj.data.edit_bones
    new = bones.new("new")
    new.head, new.tail, new.inherit_scale = (0, 0, 1), (0, 0, 2), "NONE"
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.bones["j"].robokin.use_lower = obj.data.bones["j"].robokin.use_upper = True
    obj.data.bones["j"].robokin.lower = 9.0  # above the upper limit: no robot at all
    select(obj, "new")
    before = state(obj)
    with pytest.raises(RuntimeError, match="lower limit"):
        bpy.ops.robokin.make_robot()
    assert state(obj) == before


def test_flags_that_joints_cannot_have_are_changed_and_reported(scene, capfd):
    obj = add_rig(ARM)
    obj.data.bones["hand"].use_inherit_rotation = False
    obj.data.bones["lower"].inherit_scale = "NONE"
    make()
    out = capfd.readouterr().out
    assert "bone 'hand': Inherit Rotation is on" in out and "bone 'lower': Inherit Scale is Full" in out
    agrees(obj)


def test_keys_that_no_joint_has_are_reported_and_kept(scene, capfd):
    obj = add_rig(ARM)
    lower, hand = obj.pose.bones["lower"], obj.pose.bones["hand"]
    lower.rotation_mode = "XYZ"
    lock(lower, rotation="YZ")
    lower.rotation_euler = (0.5, 0.0, 0.0)
    lower.keyframe_insert("rotation_euler", frame=1)  # Y and Z stay at zero
    hand.rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    hand.keyframe_insert("rotation_quaternion", frame=1)
    make(unlocked="HINGE")
    out = capfd.readouterr().out
    assert "bone 'hand' has keys on rotation_quaternion that are not of its joint" in out and "'lower'" not in out
    assert len(fcurves(obj)) == 7


METARIGS = ("basic_human", "human", "basic_quadruped", "cat", "horse", "shark", "wolf", "bird")


@pytest.fixture
def rigify(scene):
    """Rigify comes with both Blenders. It leaves its load handler behind, which fails without it."""
    import addon_utils  # found only after bpy

    handlers = bpy.app.handlers.load_post
    before = list(handlers)
    addon_utils.enable("rigify", default_set=True)
    yield
    addon_utils.disable("rigify", default_set=True)
    for handler in set(handlers) - set(before):
        handlers.remove(handler)


@pytest.mark.slow
@pytest.mark.parametrize("name", METARIGS)
def test_the_metarigs_of_rigify_are_robots(rigify, name):
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    obj = bpy.context.object
    make()
    model = robot_model(obj)
    assert len(model.links) == len(obj.data.bones) and model.root == "floating"
    # Where a bone points against its parent's Y, Blender's own rest matrices are rotations to 3e-5 only.
    agrees(obj, 4.0)


def test_poll_says_what_is_missing(scene):
    with pytest.raises(RuntimeError, match="Select an armature"):
        bpy.ops.robokin.make_robot()
    obj = add_rig(ARM)
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Leave Edit Mode"):
        bpy.ops.robokin.make_robot()
    bpy.ops.object.mode_set(mode="OBJECT")
    empty = bpy.data.objects.new("none", bpy.data.armatures.new("none"))
    scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match="no bones"):
        bpy.ops.robokin.make_robot()
    assert not is_robot(obj)


def test_scaled_and_turned_objects(scene):
    obj = add_rig(ARM)
    obj.scale, obj.location, obj.rotation_euler = (2, 2, 2), (1, 2, 3), (0.3, 0.2, 0.1)
    make()
    agrees(obj)
    write_configuration(obj, np.array([0.7, 0.4]))
    bpy.context.view_layer.update()
    wanted = obj.matrix_world @ obj.pose.bones["hand"].head
    assert bpy.ops.robokin.task_add(tip="hand", kind="POSITION") == {"FINISHED"}
    obj.robokin.tasks[0].location = wanted
    write_configuration(obj, np.zeros(2))
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    bpy.context.view_layer.update()
    assert (obj.matrix_world @ obj.pose.bones["hand"].head - wanted).length < 2e-4


def test_undo_is_one_step_and_redo_brings_it_back(scene):
    obj = add_rig(ARM)
    lock(obj.pose.bones["upper"], rotation="XZ")
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.robokin.make_robot("EXEC_DEFAULT", True) == {"FINISHED"}
    assert is_robot(bpy.data.objects["rig"])
    bpy.ops.ed.undo()
    obj = bpy.data.objects["rig"]
    assert not is_robot(obj) and "Base" not in obj.data.bones
    assert obj.pose.bones["upper"].lock_rotation[:] == (True, False, True)
    bpy.ops.ed.redo()
    agrees(bpy.data.objects["rig"])
