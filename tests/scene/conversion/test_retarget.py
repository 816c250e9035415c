"""A captured motion, read by Blender's own importer, becomes tasks of a robot and is baked."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from robokin_addon.properties.bridge import binding
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics
from robokin_addon.robokin.structure.body_parts import body_parts
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.scene.conversion.retarget import guess_pairs, retarget
from robokin_addon.solvers.progress import finish
from support.blender.panels import draw
from support.blender.scene_robots import TOOL, add_robot, add_target, build, world_error
from support.blender.windows import called
from support.captures import FRAMES
from support.command import run
from support.problems.obstructed import at


def tip_poses(scene, robot, frames):
    """{bone: (n, 4, 4)} in the world, and the same of the person's bones."""
    seen = finish(sample_motion(scene, robot, frames, binding(robot)))
    links = [forward_kinematics(seen.model, q) for q in seen.q]
    return {bone: np.array([at[link] for at in links]) for link, bone in binding(robot).bone_of_link.items()}


def test_the_scale_compares_legs_and_not_what_a_robot_is_mounted_on(scene, person):
    """The library's humanoid hangs on a mount at its pelvis, 0.9 m above its root."""
    bpy.ops.robokin.add_robot(robot="humanoid", meshes=False)
    robot = bpy.context.object
    robot.robokin.retarget_source = person
    assert called(bpy.ops.robokin.retarget_motion, robot) == {"FINISHED"}

    def leg(bones, foot, hip):
        return (bones[foot].head_local - bones[hip].head_local).length

    asked = leg(robot.data.bones, "left_sole", "left_hip_yaw") / leg(person.data.bones, "LeftFoot", "LeftUpLeg")
    scale = robot.robokin.tasks[0].target.parent.matrix_world.median_scale * person.matrix_world.median_scale
    assert scale == pytest.approx(asked, rel=0.2)


def test_a_captured_person_leads_a_humanoid(scene, person, humanoid, capfd):
    robot = humanoid.robokin
    robot.retarget_source = person
    assert called(bpy.ops.robokin.retarget_motion, humanoid) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "6 tasks follow 'person', scaled by" in said and "frames 1 to 16" in said
    kinds = [(task.name, task.kind, task.priority) for task in robot.tasks]
    assert kinds[:3] == [("Left foot", "POSE", 1), ("Right foot", "POSE", 1), ("Pelvis", "POSE", 2)]
    assert set(kinds[3:5]) == {("Left hand", "POSITION", 3), ("Right hand", "POSITION", 3)}
    assert kinds[5] == ("Head", "ORIENTATION", 4)
    base = robot.tasks[0].target.parent
    scale = base.matrix_world.median_scale
    scene.frame_start, scene.frame_end = 1, FRAMES
    assert called(bpy.ops.robokin.bake, humanoid) == {"FINISHED"}
    poses = tip_poses(scene, humanoid, range(1, FRAMES + 1))
    shown = {}
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        for task in robot.tasks:
            bone = task.target.constraints[0].subtarget
            shown.setdefault(task.tip, []).append(person.matrix_world @ person.pose.bones[bone].matrix)
    turn = np.array(base.matrix_world)[:3, :3] / scale
    for task in robot.tasks[:3]:  # each tip moves as its bone: scaled, and turned to where the robot looks
        own, theirs = poses[task.tip], np.array(shown[task.tip])
        moved, asked = own[:, :3, 3] - own[0, :3, 3], scale * (theirs[:, :3, 3] - theirs[0, :3, 3]) @ turn.T
        offsets = np.linalg.inv(theirs[:, :3, :3]) @ turn.T @ own[:, :3, :3]
        assert abs(offsets - offsets[0]).max() < 2e-3
        if task.name == "Pelvis":
            assert abs(moved - asked).max() < 2e-3 and abs(moved[:, 2]).max() > 0.02
    assert "Reached: all 16 frames are met" in capfd.readouterr().out


def test_hips_at_the_origin_of_the_rest_pose_change_nothing(scene, person, humanoid, tmp_path):
    """Most files have the height of the hips in the motion alone: feet stand where the robot's do, not higher."""
    path = tmp_path / "origin.bvh"
    path.write_text((tmp_path / "person.bvh").read_text().replace("OFFSET 0 90 0", "OFFSET 0 0 0"))
    assert bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.01) == {"FINISHED"}
    other, found = bpy.context.object, binding(humanoid)
    assert other.data.bones["Hips"].head_local.z == pytest.approx(0.0, abs=1e-6)
    scene.frame_set(5)
    seen = []
    for each in (person, other):
        retarget(humanoid, found, each)
        bpy.context.view_layer.update()
        seen.append({task.name: np.array(task.target.matrix_world) for task in humanoid.robokin.tasks})
    assert scene.frame_current == 5 and len(seen[0]) == 6
    for name, expected in seen[0].items():
        np.testing.assert_allclose(seen[1][name], expected, atol=1e-5, err_msg=name)


def test_the_table_is_edited_and_what_was_made_is_replaced(scene, person, humanoid):
    robot = humanoid.robokin
    assert "choose the armature" in called(bpy.ops.robokin.retarget_motion, humanoid)
    person.select_set(True)  # the other armature that is selected
    assert called(bpy.ops.robokin.retarget_guess, humanoid) == {"FINISHED"}
    assert {item.name: item.source for item in robot.retarget_pairs} == {
        **{f"{side} {part.lower()}": f"{side}{part}" for side in ("Left", "Right") for part in ("Foot", "Hand")},
        "Pelvis": "Hips",
        "Head": "Head",
    }
    drawn = draw(object=humanoid)["ROBOKIN_PT_retarget"]
    assert {"tip", "source", "kind"} <= set(drawn["props"]) and "robokin.retarget_motion" in drawn["operators"]
    robot.retarget_scale = 0.5
    for _ in range(2):
        assert called(bpy.ops.robokin.retarget_motion, humanoid) == {"FINISHED"}
    assert len(robot.tasks) == 6 and robot.tasks[0].target.parent.matrix_world.median_scale == pytest.approx(0.5)
    assert sum("follows person" in each.name for each in bpy.data.objects) == 1
    robot.retarget_pairs[2].source = "Tail"
    assert "bone of 'person' in pair 'Pelvis' named 'Tail'" in called(bpy.ops.robokin.retarget_motion, humanoid)
    with bpy.context.temp_override(object=humanoid):
        bpy.ops.robokin.retarget_pair_remove(index=2)
        bpy.ops.robokin.retarget_pair_move(index=0, direction="DOWN")
        bpy.ops.robokin.retarget_pair_add(kind="POSITION")
    assert [item.name for item in robot.retarget_pairs][:2] == ["Right foot", "Left foot"]
    assert len(robot.tasks) == len(robot.retarget_pairs) == 6


PLACES = {
    "left_foot": (0, 0.1, -0.5),
    "right_foot": (0, -0.1, -0.5),
    "left_hand": (0, 0.4, 0),
    "right_hand": (0, -0.4, 0),
}


def doll(root: str) -> RobotModel:
    """A pelvis, feet and hands, each on a joint of its own where it is."""
    joints = [
        Joint(f"{name}_joint", "continuous", "pelvis", name, placement=at(*place)) for name, place in PLACES.items()
    ]
    return RobotModel("doll", [Link("pelvis"), *map(Link, PLACES)], joints, root)


def stood(size: float) -> bpy.types.Object:
    """A person who stands elsewhere, `size` times as large as the doll: below another root, and with hands higher and
    farther out."""
    person = bpy.data.objects.new("person", bpy.data.armatures.new("person"))
    bpy.context.scene.collection.objects.link(person)
    bpy.context.view_layer.objects.active = person
    bpy.ops.object.mode_set(mode="EDIT")
    places = {"Reference": (0, 0, 3.0), "Hips": (0, 0, 0)}
    for name, place in PLACES.items():
        side, part = name.split("_")
        places[f"{side.title()}{part.title()}"] = np.add(place, (0, np.sign(place[1]), 0.3) if part == "hand" else 0)
    for name, place in places.items():
        bone = person.data.edit_bones.new(name)
        bone.head, bone.tail = 0.5 * size * np.array(place), 0.5 * size * np.add(place, (0.1, 0, 0))
        if name != "Reference":
            bone.parent = person.data.edit_bones["Reference" if name == "Hips" else "Hips"]
    bpy.ops.object.mode_set(mode="OBJECT")
    person.matrix_world = Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(2.0, 4, "Z") @ Matrix.Scale(2.0, 4)
    bpy.context.view_layer.update()
    return person


@pytest.mark.parametrize("metres", [1.0, 0.01])
def test_a_source_that_stands_elsewhere_is_led_back_by_size_turn_and_place(scene, metres):
    """By the feet and the pelvis: the hands, which go to a position, are elsewhere."""
    scene.unit_settings.scale_length = metres
    robot, person = build(doll("floating")), stood(3.0 / metres)
    robot.robokin.live = False
    base = retarget(robot, binding(robot), person)
    bpy.context.view_layer.update()
    asked = (Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(2.0, 4, "Z") @ Matrix.Scale(3.0, 4)).inverted()
    np.testing.assert_allclose(base.matrix_world, asked, atol=1e-5 / metres)
    names = {task.name: task for task in robot.robokin.tasks}
    assert set(names) == {"Left foot", "Right foot", "Pelvis", "Left hand", "Right hand"}
    for task in names.values():
        bone = task.target.constraints[0].subtarget
        seen = asked @ person.matrix_world @ person.data.bones[bone].head_local
        np.testing.assert_allclose(task.target.matrix_world.translation, seen, atol=1e-5 / metres)
        if task.kind == "POSE":
            assert world_error(robot, task.tip, task.target) == pytest.approx((0.0, 0.0), abs=1e-5 / metres)
    fresh = type(names["Pelvis"]).bl_rna.properties["position_tolerance"].default
    assert names["Pelvis"].position_tolerance == pytest.approx(fresh / metres)


def test_the_scale_does_not_count_the_ways_between_the_axes_of_a_hip(scene):
    """Axes of a hip that lie apart along their own lines make no leg longer."""
    ways = ((0, 0.2, 0.3), (0.3, 0, -0.6))
    joints = [joint for joint in doll("floating").joints if joint.parent and not joint.name.endswith("foot_joint")]
    for side, sign in (("left", 1), ("right", -1)):
        above, place = "pelvis", np.zeros(3)
        for name, way in (*((f"{side}_hip_{k}", np.array(way) * (1, sign, 1)) for k, way in enumerate(ways)), (0, 0)):
            child, way = (name, way) if name else (f"{side}_foot", PLACES[f"{side}_foot"] - place)
            joints.append(Joint(f"{child}_joint", "continuous", above, child, placement=at(*way)))
            above, place = child, place + way
    links = [Link("pelvis"), *(Link(joint.child) for joint in joints)]
    robot, person = build(RobotModel("doll", links, joints, "floating")), stood(3.0)
    robot.robokin.live = False
    assert retarget(robot, binding(robot), person).matrix_world.median_scale == pytest.approx(1.0 / 3.0, rel=1e-5)


def test_what_is_not_there_has_no_pair(scene):
    """A pelvis that stands fast is no tip; a robot without a body has its tools, for which a person chooses bones."""
    fixed, person = build(doll("fixed")), stood(1.0)
    guess_pairs(fixed, binding(fixed), person)
    assert {item.name for item in fixed.robokin.retarget_pairs} == {
        "Left foot",
        "Right foot",
        "Left hand",
        "Right hand",
    }
    with bpy.context.temp_override(object=fixed):
        bpy.ops.robokin.retarget_pair_add(kind="ORIENTATION")  # for the first of its tools
    assert fixed.robokin.retarget_pairs[-1].tip == "left_foot_joint"
    robot = add_robot()
    guess_pairs(robot, binding(robot), person)
    assert [(item.tip, item.source, item.kind) for item in robot.robokin.retarget_pairs] == [(TOOL, "", "POSE")]
    person.select_set(True)
    fixed.select_set(True)  # two others: which one is not guessed
    assert "choose the armature" in called(bpy.ops.robokin.retarget_motion, robot)
    fixed.select_set(False)
    assert "no bone of 'person' is paired" in called(bpy.ops.robokin.retarget_motion, robot)
    own = add_target(robot)
    robot.robokin.retarget_pairs[0].source = "Hips"
    for _ in range(2):
        assert called(bpy.ops.robokin.retarget_motion, robot) == {"FINISHED"}
    assert len(robot.robokin.tasks) == 2 and robot.robokin.tasks[0].target == own  # what a person made stays
    assert sum("follows person" in each.name for each in bpy.data.objects) == 1
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.retarget_pair_add(kind="ORIENTATION")
    assert [(item.tip, item.kind) for item in robot.robokin.retarget_pairs][1:] == [(TOOL, "ORIENTATION")]


def test_feet_are_known_by_what_stands_on_them_too(scene):
    links, joints = [Link("pelvis")], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        links += [Link(f"{side}_thigh"), Link(f"{side}_pad")]
        joints.append(Joint(f"{side}_hip", "continuous", "pelvis", f"{side}_thigh", at(0.0, y, -0.1)))
        joints.append(Joint(f"{side}_knee", "continuous", f"{side}_thigh", f"{side}_pad", at(0.0, 0.0, -0.5)))
    robot, person = build(RobotModel("biped", links, joints, "floating")), stood(1.0)
    guess_pairs(robot, binding(robot), person)
    tips = {item.name: item.tip for item in robot.robokin.retarget_pairs}
    assert (tips["Left foot"], tips["Right foot"]) == ("left_knee", "right_knee")


def test_names_of_bodies() -> None:
    above = {
        "mixamorig:Hips": None,
        "mixamorig:LeftHand": "mixamorig:Hips",
        "mixamorig:LeftHandIndex1": "mixamorig:LeftHand",
    }
    assert body_parts(above) == {"pelvis": "mixamorig:Hips", "left hand": "mixamorig:LeftHand"}
    talos = {
        "base_link": None,
        "leg_left_5_link": "base_link",
        "leg_left_6_link": "leg_left_5_link",
        "lFoot.Tail": None,
    }
    assert body_parts(talos) == {"pelvis": "base_link", "left foot": "lFoot.Tail"}
    del talos["lFoot.Tail"]
    assert body_parts(talos)["left foot"] == "leg_left_6_link"
    above = {"Hips:Chest": None, "left_arm": "Hips:Chest", "left_arm_7_link": "left_arm", "left:Head": "Hips:Chest"}
    assert body_parts(above) == {"left hand": "left_arm_7_link", "head": "left:Head"}
    above = {"base": None, "R_arm_l7": "base", "R_arm_l8": "R_arm_l7", "legl_hip": "base", "legl_foot": "legl_hip"}
    assert body_parts(above) == {"pelvis": "base", "right hand": "R_arm_l8", "left foot": "legl_foot"}
    above = {"base": None, "gripper_left_base": "base", "gripper_left_right": "gripper_left_base"}
    assert body_parts(above) == {"pelvis": "base", "left hand": "gripper_left_base"}  # of a jaw's two tips


@pytest.mark.parametrize("corners", [("FL", "FR", "RL", "RR"), ("LF", "RF", "LH", "RH"), ("fl", "fr", "hl", "hr")])
def test_four_legs(corners) -> None:
    above: dict[str, str | None] = {"trunk": None}
    for corner in corners:
        above |= {f"{corner}_hip": "trunk", f"{corner}_thigh": f"{corner}_hip", f"{corner}_foot": f"{corner}_thigh"}
    feet = ("front left foot", "front right foot", "hind left foot", "hind right foot")
    found = {foot: f"{corner}_foot" for foot, corner in zip(feet, corners, strict=True)}
    assert body_parts(above) == {"pelvis": "trunk"} | found
    assert body_parts({"Hips": None, "lh_palm": "Hips", "FrontLeft_Paw": "Hips"})["front left foot"] == "FrontLeft_Paw"


def test_hands_turn_where_they_are_asked_to(person, humanoid):
    humanoid.robokin.retarget_source = person
    assert called(bpy.ops.robokin.retarget_guess, humanoid, turn_hands=True) == {"FINISHED"}
    assert called(bpy.ops.robokin.retarget_motion, humanoid) == {"FINISHED"}
    bpy.context.view_layer.update()
    hand = humanoid.robokin.tasks["Left hand"]
    assert hand.kind == "POSE"
    turned = [hand.target.matrix_world.to_quaternion()]
    person.pose.bones["LeftHand"].rotation_mode = "XYZ"
    person.pose.bones["LeftHand"].rotation_euler.x += 0.5
    person.animation_data_clear()
    bpy.context.view_layer.update()
    turned.append(hand.target.matrix_world.to_quaternion())
    assert turned[0].rotation_difference(turned[1]).angle > 0.3


def test_the_command_line_makes_the_same_tasks(scene, person, humanoid, tmp_path, capsys):
    name = humanoid.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    command = ("retarget", tmp_path / "a.blend", "--source", "person", "--scale", "0.8", "-o", tmp_path / "b.blend")
    done = run(capsys, *command)
    assert done.code == 0 and "6 tasks follow 'person', scaled by 0.8" in done.out
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
    assert [task.target.constraints[0].subtarget for task in bpy.data.objects[name].robokin.tasks][2] == "Hips"
    bpy.data.objects[name].robokin.retarget_scale = 0.6
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "c.blend"))
    done = run(capsys, "retarget", tmp_path / "c.blend", "--source", "person")
    assert done.code == 0 and "scaled by 0.6" in done.out
    assert run(capsys, *command[:4], "--scale", "-1").refused("'-1' is not a scale > 0")
    assert run(capsys, *command[:3], "nobody").refused("'nobody'", "person")


def test_names_of_motion_databases_and_of_blenders_own_rigs_are_known():
    """CMU's have the side in the word; Rigify's pelvis and head are bones of the spine."""
    cmu = {"root": None, "lhipjoint": "root", "lfemur": "lhipjoint", "ltibia": "lfemur", "lfoot": "ltibia"}
    cmu |= {"ltoes": "lfoot", "rhipjoint": "root", "rfemur": "rhipjoint", "rtibia": "rfemur", "rfoot": "rtibia"}
    cmu |= {"lowerback": "root", "thorax": "lowerback", "lowerneck": "thorax", "head": "lowerneck"}
    cmu |= {"lhumerus": "thorax", "lradius": "lhumerus", "lwrist": "lradius", "lhand": "lwrist", "lfingers": "lhand"}
    cmu |= {"rhumerus": "thorax", "rradius": "rhumerus", "rwrist": "rradius", "rhand": "rwrist", "rthumb": "rhand"}
    limbs = {"left foot": "lfoot", "right foot": "rfoot", "left hand": "lhand", "right hand": "rhand"}
    assert body_parts(cmu) == {"pelvis": "root", "head": "head"} | limbs
    rigify = {"spine": None, "spine.001": "spine", "spine.003": "spine.001", "spine.004": "spine.003"}
    rigify |= {"spine.006": "spine.004", "breast.L": "spine.003", "nose": "spine.006"}
    for side in ("L", "R"):
        rigify |= {f"thigh.{side}": "spine", f"shin.{side}": f"thigh.{side}", f"foot.{side}": f"shin.{side}"}
        rigify |= {f"pelvis.{side}": "spine", f"upper_arm.{side}": "spine.003", f"ear.{side}": "spine.006"}
        rigify |= {f"forearm.{side}": f"upper_arm.{side}", f"hand.{side}": f"forearm.{side}"}
    limbs = {"left foot": "foot.L", "right foot": "foot.R", "left hand": "hand.L", "right hand": "hand.R"}
    assert body_parts(rigify) == {"pelvis": "spine", "head": "spine.006"} | limbs


def test_an_arm_and_a_finger_are_no_hand():
    """A capture without hands, and a hand whose thumb is the deepest of its links."""
    bones = ("Hips", "Spine", "LeftArm", "LeftForeArm", "LeftUpLeg", "LeftLeg")
    above = dict(zip(bones, (None, "Hips", "Spine", "LeftArm", "Hips", "LeftUpLeg"), strict=True))
    assert body_parts(above) == {"pelvis": "Hips"}
    hand = {"base": None, "hand_left_palm": "base", "hand_left_thumb": "hand_left_palm"}
    assert body_parts(hand) == {"pelvis": "base", "left hand": "hand_left_palm"}


@pytest.mark.parametrize("finger", ["LeftHandMiddle1", "left_hand_pinkie", "LeftHandThumb2"])
def test_no_finger_is_a_hand_beside_a_wrist(finger):
    parents = {"Hips": None, "LeftArm": "Hips", "LeftWrist": "LeftArm", finger: "LeftWrist", "left_middle_foot": "Hips"}
    found = body_parts(parents)
    assert (found["left hand"], found["left foot"]) == ("LeftWrist", "left_middle_foot")
