"""A captured motion, read by Blender's own importer, becomes tasks of a robot and is baked."""

from __future__ import annotations

from dataclasses import replace

import addon_utils
import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, write_configuration
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.solvers.motion.body_parts import body_parts
from robokin_addon.solvers.progress import finish
from support.blender.panels import draw
from support.blender.scene_robots import build, model_of
from support.blender.windows import called
from support.command import run

FRAMES = 16
# Parent, and offset from it [cm], Y up and Z ahead, of a person of 1.6 m.
BONES = {
    "Hips": (None, (0, 90, 0)),
    "Spine": ("Hips", (0, 12, 0)),
    "Head": ("Spine", (0, 45, 0)),
    **{
        f"{side}{name}": (f"{side}{above}" if above[0].isupper() and above not in ("Hips", "Spine") else above, offset)
        for side, s in (("Left", 1), ("Right", -1))
        for name, above, offset in (
            ("UpLeg", "Hips", (9 * s, -5, 0)),
            ("Leg", "UpLeg", (0, -40, 0)),
            ("Foot", "Leg", (0, -38, 0)),
            ("Arm", "Spine", (18 * s, 35, 0)),
            ("ForeArm", "Arm", (28 * s, 0, 0)),
            ("Hand", "ForeArm", (25 * s, 0, 0)),
        )
    },
}


def bvh() -> str:
    """The person goes down by 4 cm and up again, knees ahead, and sways by 1 cm; the arms hang."""
    lines = ["HIERARCHY"]

    def write(name: str, depth: int) -> None:
        pad, (parent, offset) = "\t" * depth, BONES[name]
        lines.append(f"{pad}{'JOINT' if parent else 'ROOT'} {name}")
        place = "Xposition Yposition Zposition " if parent is None else ""
        lines.extend((f"{pad}{{", f"{pad}\tOFFSET {' '.join(map(str, offset))}"))
        lines.append(f"{pad}\tCHANNELS {6 if place else 3} {place}Zrotation Xrotation Yrotation")
        order.append(name)
        below = [other for other, (above, _) in BONES.items() if above == name]
        for other in below:
            write(other, depth + 1)
        if not below:
            lines.extend((f"{pad}\tEnd Site", f"{pad}\t{{", f"{pad}\t\tOFFSET 0 5 5", f"{pad}\t}}"))
        lines.append(f"{pad}}}")

    order: list[str] = []
    write("Hips", 0)
    lines += ["MOTION", f"Frames: {FRAMES}", "Frame Time: 0.0416667"]
    for t in np.linspace(0.0, 1.0, FRAMES):
        down, bend = 5.0 * (1.0 - np.cos(2.0 * np.pi * t)), 0.0
        bend = np.degrees(np.arccos(1.0 - down / 78.0))
        turns = {
            f"{side}{name}": (0.0, angle, 0.0)
            for side in ("Left", "Right")
            for name, angle in (("UpLeg", -bend), ("Leg", 2.0 * bend), ("Foot", -bend))
        }
        turns |= {"LeftArm": (-80.0, 0.0, 0.0), "RightArm": (80.0, 0.0, 0.0)}
        row = [1.0 * np.sin(2.0 * np.pi * t), 90.0 - down, 0.0]
        for name in order:
            row += turns.get(name, (0.0, 0.0, 0.0))
        lines.append(" ".join(f"{value:.6f}" for value in row))
    return "\n".join(lines) + "\n"


@pytest.fixture
def person(scene, tmp_path):
    (tmp_path / "person.bvh").write_text(bvh())
    addon_utils.enable("io_anim_bvh")
    assert bpy.ops.import_anim.bvh(filepath=str(tmp_path / "person.bvh"), global_scale=0.01) == {"FINISHED"}
    yield bpy.context.object
    addon_utils.disable("io_anim_bvh")


LEGS = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}


@pytest.fixture
def humanoid(scene):
    model = model_of("g1_29dof_rev_1_0", root="floating")
    links = [replace(link, collisions=()) for link in model.links]  # whose hulls take seconds
    robot = build(RobotModel(model.name, links, model.joints[1:], root="floating"))
    robot.robokin.live = False
    found = binding(robot)
    values = {f"{side}_{joint}_joint": value for side in ("left", "right") for joint, value in LEGS.items()}
    write_configuration(robot, found.model.configuration(values))
    bpy.context.view_layer.update()
    return robot


def tip_poses(scene, robot, frames):
    """{bone: (n, 4, 4)} in the world, and the same of the person's bones."""
    seen = finish(sample_motion(scene, robot, frames))
    links = [forward_kinematics(seen.model, q) for q in seen.q]
    return {bone: np.array([at[link] for at in links]) for link, bone in binding(robot).bone_of_link.items()}


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


def test_the_command_line_makes_the_same_tasks(scene, person, humanoid, tmp_path, capsys):
    name = humanoid.name
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    command = ("retarget", tmp_path / "a.blend", "--source", "person", "--scale", "0.8", "-o", tmp_path / "b.blend")
    done = run(capsys, *command)
    assert done.code == 0 and "6 tasks follow 'person', scaled by 0.8" in done.out
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
    assert [task.target.constraints[0].subtarget for task in bpy.data.objects[name].robokin.tasks][2] == "Hips"
    assert run(capsys, *command[:3], "nobody").refused("'nobody'", "person")
