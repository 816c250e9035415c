"""A robot stays right under what people do to armatures: symmetrize, duplicate, delete, join, re-parent, undo."""

from __future__ import annotations

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
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, forward_kinematics, random_configuration
from robokin_addon.robokin.model.joint_types import JOINT_TYPES
from support.blender.edited_robots import stays_right
from support.blender.rigs import HUMANOID, add_rig, disagreement, select
from support.few import rest_slow

SIDE = [
    ("base", None, (0, 0, 0), (0, 0, 1)),
    ("arm.L", "base", (0.2, 0.1, 1.1), (0.7, 0.3, 1.4)),
    ("fore.L", "arm.L", (0.7, 0.3, 1.5), (1.2, -0.1, 1.3)),
    ("hand.L", "fore.L", (1.25, -0.1, 1.3), (1.4, -0.15, 1.1)),
]


def edit(obj: bpy.types.Object, *names: str) -> bpy.types.ArmatureEditBones:
    """Edit Mode with these bones selected."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in obj.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in names
    return obj.data.edit_bones


def leave_edit_mode() -> None:
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.update()


def add_one_sided_robot(kind: str, axis: str, **limits: object) -> bpy.types.Object:
    obj = add_rig(SIDE)
    assert bpy.ops.robokin.make_robot(base="FIXED", unlocked="BALL") == {"FINISHED"}
    select(obj, "arm.L", "fore.L", "hand.L")
    bpy.ops.robokin.set_joint(joint_type=kind, axis=axis, limits="RANGE", lower_angle=-0.4, upper_angle=1.1,
                              lower_length=-0.1, upper_length=0.3)  # fmt: skip
    return obj


def symmetrize(obj: bpy.types.Object) -> None:
    edit(obj, "arm.L", "fore.L", "hand.L")
    assert bpy.ops.armature.symmetrize(direction="POSITIVE_X") == {"FINISHED"}
    leave_edit_mode()


SYMMETRIC = [kind for kind in JOINT_TYPES if kind not in ("floating", "wheeled", "fixed")]


@pytest.mark.parametrize("axis", rest_slow(["X", "-Y", "Z"], 2))
@pytest.mark.parametrize("kind", SYMMETRIC)
def test_symmetrize_makes_mirror_images_of_joints(scene, kind, axis):
    """A pose inside the left side's limits, mirrored, is one that the right side has, inside its limits."""
    obj = add_one_sided_robot(kind, axis)
    symmetrize(obj)
    model = robot_model(obj)
    assert {j.name for j in model.moving_joints} == {f"{n}.{s}" for n in ("arm", "fore", "hand") for s in "LR"}
    rng = np.random.default_rng(3)
    M = np.diag([-1.0, 1.0, 1.0])
    for left, right in (("arm.L", "arm.R"), ("fore.L", "fore.R"), ("hand.L", "hand.R")):
        mine, other = model.joint(left), model.joint(right)
        for _ in range(6):
            q = random_configuration(model, rng)
            frames = forward_kinematics(model, q)
            wanted = shown_axes(obj, frames, left)
            image = np.eye(4)
            image[:3, :3], image[:3, 3] = M @ wanted[:3, :3] @ M, M @ wanted[:3, 3]
            mirrored = mirrored_values(model, q)
            got = shown_axes(obj, forward_kinematics(model, mirrored), right)
            np.testing.assert_allclose(got, image, atol=2e-6)
            assert model.limits.contain(mirrored, 1e-9)
        if mine.nv == 1:  # the same values, by an axis that is the image
            assert (mine.lower[0], mine.upper[0]) == (other.lower[0], other.upper[0])
            assert abs(other.pitch) == abs(mine.pitch)
    stays_right(obj)


def shown_axes(obj: bpy.types.Object, frames: dict, bone: str) -> np.ndarray:
    """(4, 4) of the bone in the armature, by the model."""
    robot = binding(obj)
    T = robot.root @ frames[robot.link_of_bone[bone]]
    T[:3, :3] = T[:3, :3] @ robot.frames[robot.bones.index(bone)]
    return T


def mirrored_values(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """The right side's values for the mirror image of the left: found by search over signs, so that nothing of how the
    joints were mirrored is assumed; the cone of a ball is mirrored as a rotation."""
    result = q.copy()
    rest = forward_kinematics(model, model.neutral())
    frames = forward_kinematics(model, q)
    M = np.diag([-1.0, 1.0, 1.0, 1.0])
    for joint, slot in zip(model.joints, model.slots, strict=True):
        if not joint.name.endswith(".L"):
            continue
        other = model.joint(f"{joint.name[:-2]}.R")
        # Motion of the joint alone, in its own frame, and its image in that of the other.
        parent = joint.parent
        T = np.linalg.inv(frames[parent] @ joint.placement) @ frames[joint.child]
        C = rest[joint.child]
        D = np.linalg.inv(rest[other.child]) @ M @ C
        image = D @ T @ np.linalg.inv(D)
        at = model.slot(other.name).q
        result[at] = solve_alone(other, image, q[slot.q])
    return result


def solve_alone(joint: Joint, T: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values, up to signs those given, with which the joint moves by T."""
    model = RobotModel("one", [Link("a"), Link("b")], [
        Joint("j", joint.type, "a", "b", axis=joint.axis, order=joint.order, axes=joint.axes, pitch=joint.pitch)
    ])  # fmt: skip
    count = len(values)
    signs = np.array(np.meshgrid(*[[1.0, -1.0]] * count)).reshape(count, -1).T
    errors = [abs(forward_kinematics(model, s * values)["b"] - T).max() for s in signs]
    assert min(errors) < 1e-5
    return signs[int(np.argmin(errors))] * values


def test_a_mirrored_bone_keeps_its_limits_when_it_is_renamed_or_moved(scene):
    obj = add_one_sided_robot("revolute", "Z")
    symmetrize(obj)
    before = robot_model(obj).joint("fore.R")
    obj.data.bones["fore.R"].name = "another"
    bpy.context.view_layer.update()
    after = robot_model(obj).joint("another")
    np.testing.assert_array_equal(after.axis, before.axis)
    edit(obj, "another")
    obj.data.edit_bones["another"].tail.z += 0.3
    leave_edit_mode()
    np.testing.assert_array_equal(robot_model(obj).joint("another").axis, before.axis)
    stays_right(obj)


def test_a_duplicate_is_no_mirror_image(scene):
    obj = add_one_sided_robot("revolute", "Z")
    edit(obj, "hand.L")
    assert bpy.ops.armature.duplicate() == {"FINISHED"}
    leave_edit_mode()
    model = robot_model(obj)
    np.testing.assert_array_equal(model.joint("hand.L.001").axis, model.joint("hand.L").axis)
    assert model.joint("hand.L.001").upper[0] == model.joint("hand.L").upper[0]
    stays_right(obj)


def test_masses_and_mimics_are_mirrored(scene):
    obj = add_one_sided_robot("revolute", "Y")
    fields = obj.data.bones["hand.L"].robokin
    fields.mimic_joint, fields.mimic_multiplier = "fore.L", 0.5
    link = obj.data.bones["fore.L"].robokin
    link.mass, link.com, link.inertia = 2.0, (0.1, 0.2, 0.3), (0.3, 0.01, 0.02, 0.4, 0.03, 0.5)
    symmetrize(obj)
    model = robot_model(obj)
    assert model.joint("hand.R").mimic == Mimic("fore.R", 0.5)
    left, right = (
        model.link("fore.L"),
        next(k for j, k in zip(model.joints, model.links, strict=True) if j.name == "fore.R"),
    )
    rest = forward_kinematics(model, model.neutral())
    com_left, com_right = (rest[k.name][:3, :3] @ k.com + rest[k.name][:3, 3] for k in (left, right))
    np.testing.assert_allclose(com_right, com_left * (-1, 1, 1), atol=1e-6)
    inertia = [rest[k.name][:3, :3] @ k.inertia @ rest[k.name][:3, :3].T for k in (left, right)]
    np.testing.assert_allclose(inertia[1], np.diag([-1, 1, 1]) @ inertia[0] @ np.diag([-1, 1, 1]), atol=1e-6)
    obj.pose.bones["fore.R"].rotation_euler[1] = 0.3 * next(c.sign for c in binding(obj).channels if c.bone == "fore.R")
    bpy.context.view_layer.update()
    stays_right(obj)


def test_a_bone_deleted_in_the_middle(scene):
    obj = add_one_sided_robot("revolute", "X")
    edit(obj, "fore.L")
    assert bpy.ops.armature.delete() == {"FINISHED"}
    leave_edit_mode()
    model = robot_model(obj) if obj.data.bones["hand.L"].parent else None
    if model is None:  # Blender lets go of the bones below
        edit(obj)["hand.L"].parent = obj.data.edit_bones["arm.L"]
        leave_edit_mode()
        model = robot_model(obj)
    assert [j.name for j in model.moving_joints] == ["arm.L", "hand.L"]
    stays_right(obj)


def test_a_deleted_bone_that_others_follow_is_reported(scene):
    obj = add_one_sided_robot("revolute", "X")
    obj.data.bones["hand.L"].robokin.mimic_joint = "fore.L"
    edit(obj).remove(obj.data.edit_bones["fore.L"])
    edit(obj)["hand.L"].parent = obj.data.edit_bones["arm.L"]
    leave_edit_mode()
    with pytest.raises(RuntimeError, match=r"'hand\.L' mimics 'fore\.L', which is not a joint"):
        bpy.ops.robokin.solve_pose()
    obj.data.bones["hand.L"].robokin.mimic_joint = ""
    bpy.context.view_layer.update()
    stays_right(obj)


def test_moved_re_parented_and_rolled_bones(scene):
    obj = add_one_sided_robot("revolute", "X")
    bones = edit(obj)
    bones["hand.L"].parent = bones["base"]
    bones["fore.L"].head.z += 0.4
    bones["fore.L"].roll += 0.7
    leave_edit_mode()
    model = robot_model(obj)
    assert model.joint("hand.L").parent == "base"
    stays_right(obj)


def gripper(name: str) -> RobotModel:
    links = [Link(n) for n in ("palm", "left", "right")]
    joints = [
        Joint("jaw_left", "revolute", "palm", "left", lower=-0.5, upper=0.9, axis=(0, 1, 0)),
        Joint(
            "jaw_right",
            "revolute",
            "palm",
            "right",
            lower=-0.9,
            upper=0.9,
            axis=(0, 1, 0),
            mimic=Mimic("jaw_left", -1.0),
        ),
    ]
    return RobotModel(name, links, joints)


def test_joined_robots_with_names_that_clash(scene):
    """Ctrl J of an arm and two equal grippers: mimics, their drivers and limits are each gripper's own."""
    arm = add_one_sided_robot("revolute", "X")
    bpy.ops.object.mode_set(mode="OBJECT")
    grippers = [build_armature(bpy.context, scene.collection, gripper(f"g{i}")) for i in range(2)]
    for i, other in enumerate(grippers):
        other.location = (1.4, -0.15 + 0.3 * i, 1.0)
    bpy.context.view_layer.update()
    for obj in (arm, *grippers):
        obj.select_set(True)
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.object.join() == {"FINISHED"}
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=r"one root bone; these have no parent: 'base', 'palm', 'palm\.001'"):
        bpy.ops.robokin.solve_pose()
    bones = edit(arm)
    bones["palm"].parent = bones["palm.001"].parent = bones["hand.L"]
    leave_edit_mode()
    model = robot_model(arm)
    assert model.joint("jaw_right").mimic == Mimic("jaw_left", -1.0)
    assert model.joint("jaw_right.001").mimic == Mimic("jaw_left.001", -1.0)
    for ending in ("", ".001"):
        own = {c.bone: c for c in binding(arm).channels}
        first, second = own[f"jaw_left{ending}"], own[f"jaw_right{ending}"]
        arm.pose.bones[first.bone].rotation_euler[first.index] = 0.4 / first.factor
        bpy.context.view_layer.update()
        value = arm.pose.bones[second.bone].rotation_euler[second.index] * second.factor
        assert value == pytest.approx(-0.4, abs=1e-6)
    stays_right(arm, 4e-5)  # bones that Blender turns while joining and parenting it knows to 3e-5


def test_joined_robots_whose_bones_were_renamed_keep_their_links_apart(scene):
    """The copy of a robot gets bones of other names, with links of the same; joined, all links have their own."""
    robots = []
    for side in "LR":
        obj = build_armature(bpy.context, scene.collection, gripper("g"))
        for bone in list(obj.data.bones):
            bone.name = f"{bone.name}.{side}"
        bpy.context.view_layer.update()
        robots.append(obj)
    first, second = robots
    assert robot_model(first).joint("jaw_left.L").child == robot_model(second).joint("jaw_left.R").child
    kept = {joint.name: joint.child for joint in robot_model(first).joints[1:]}
    first.select_set(True)
    second.select_set(True)
    bpy.context.view_layer.objects.active = first
    assert bpy.ops.object.join() == {"FINISHED"}
    bones = edit(first)
    bones["palm.R"].parent = bones["palm.L"]
    leave_edit_mode()
    model = robot_model(first)
    assert len({link.name for link in model.links}) == len(model.links)
    assert {name: model.joint(name).child for name in kept} == kept
    for name in kept:
        other = name.replace(".L", ".R")
        assert first.data.bones[other].robokin.link == model.joint(other).child != kept[name]
    stays_right(first, 4e-5)


def test_a_robot_joined_into_a_plain_armature_is_made_one_again(scene):
    obj = add_one_sided_robot("revolute", "X")
    bpy.ops.object.mode_set(mode="OBJECT")
    plain = add_rig([("root", None, (0, 0, -1), (0, 0, 0))], "plain")
    obj.select_set(True)
    assert bpy.ops.object.join() == {"FINISHED"}
    bones = edit(plain)
    bones["base"].parent = bones["root"]
    leave_edit_mode()
    assert not is_robot(plain)
    assert bpy.ops.robokin.make_robot() == {"FINISHED"}
    assert [j.child for j in robot_model(plain).joints] == ["root", "base", "arm.L", "fore.L", "hand.L"]
    assert robot_model(plain).joint("arm.L").upper[0] == pytest.approx(1.1, rel=1e-6)
    stays_right(plain)


def test_a_duplicated_object_is_a_robot_of_its_own(scene):
    obj = build_armature(bpy.context, scene.collection, gripper("g"))
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    other = bpy.context.view_layer.objects.active
    assert other != obj and other.data != obj.data
    other.data.bones["jaw_left"].robokin.upper = 0.3
    bpy.context.view_layer.update()
    assert robot_model(obj).joint("jaw_left").upper[0] == 0.9
    stays_right(other)
    write_configuration(obj, [0.5])
    write_configuration(other, [0.2])
    bpy.context.view_layer.update()
    assert disagreement(obj) < 1e-5 and disagreement(other) < 1e-5
    assert [read_configuration(o)[0] for o in (obj, other)] == pytest.approx([0.5, 0.2])


def test_undo_and_redo_around_symmetrize(scene):
    add_one_sided_robot("revolute", "Y")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="before")
    symmetrize(bpy.data.objects["rig"])
    bpy.ops.ed.undo_push(message="mirrored")
    after = [(j.name, j.axis.tolist()) for j in robot_model(bpy.data.objects["rig"]).joints]
    bpy.ops.ed.undo()
    assert len(robot_model(bpy.data.objects["rig"]).joints) == 4
    bpy.ops.ed.redo()
    obj = bpy.data.objects["rig"]
    assert [(j.name, j.axis.tolist()) for j in robot_model(obj).joints] == after
    stays_right(obj)


def test_a_link_that_is_named_as_another_leaves_the_other_its_name(scene):
    obj = add_rig(HUMANOID, "body")
    assert bpy.ops.robokin.make_robot(base="FIXED") == {"FINISHED"}
    before = obj.data.bones["hand.R"][KEY]
    obj.data.bones["spine"].robokin.link = "hand.R"
    bpy.context.view_layer.update()
    links = binding(obj).bone_of_link
    assert links["hand.R"] == "hand.R" and links["hand.R_spine"] == "spine"
    assert obj.data.bones["hand.R"][KEY] == before
