"""Random edits of robots in a scene, as a person or another add-on makes them: through Blender's operators and data.

An edit returns the names of the bones that it may change the joints of, or None for all; what a step does is written
down in `log`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import bpy
import numpy as np
from robokin_addon.properties.bridge import damaged_records, is_robot, robot_model
from robokin_addon.properties.criteria import KINDS as CRITERIA
from robokin_addon.properties.selection import select
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import RobokinError
from robokin_addon.robokin.joint_types import JOINT_TYPES

from .every_joint import make_every_joint
from .scene_robots import add_robot, add_target

Touched = set[str] | None

NUMBERS = (0.0, 1.0, -1.0, 0.3, -0.7, 3.0, 1e-9, 1e6, 3e38, float("nan"), float("inf"))
FIELDS = (
    "lower",
    "upper",
    "velocity",
    "effort",
    "acceleration",
    "pitch",
    "damping",
    "stiffness",
    "mass",
    "mimic_offset",
)
LARGEST_SCENE = 8  # objects, above which some are deleted


def readable(robot: bpy.types.Object) -> bool:
    try:
        return robot_model(robot) is not None
    except RobokinError:
        return False


class Storm:
    """A scene with robots, and random edits of it. folder: where it is saved."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self.rng, self.folder, self.log = rng, folder, []
        robot = make_every_joint()
        bpy.context.view_layer.objects.active = robot
        bpy.ops.robokin.target_add(tip="ball", kind="POSITION")
        robot = add_robot()
        add_target(robot)
        bpy.context.view_layer.objects.active = robot
        bpy.ops.ed.undo_push(message="begin")

    def step(self) -> Touched:
        """One edit of one robot, or the mending of one that is none any more, which half of the edits would make it."""
        edit = EDITS[self.rng.integers(len(EDITS))]
        robot = self.robot()
        if robot is None:
            self.log.append("new robot")
            add_robot()
            return None
        if not readable(robot) and self.rng.random() < 0.5:
            edit = mend
        self.log.append(f"{edit.__name__} {robot.name}")
        self._activate(robot)
        try:
            return edit(self, robot)
        except RuntimeError as error:
            assert edit in BLENDERS and "Traceback" not in str(error), error
            return None

    def robot(self) -> bpy.types.Object | None:
        robots = [obj for obj in bpy.context.view_layer.objects if is_robot(obj)]
        return robots[self.rng.integers(len(robots))] if robots else None

    def bone(self, robot: bpy.types.Object) -> str:
        names = robot.data.bones.keys()
        return names[self.rng.integers(len(names))]

    def number(self) -> float:
        return float(self.rng.normal()) if self.rng.random() < 0.5 else NUMBERS[self.rng.integers(len(NUMBERS))]

    def call(self, name: str, **options: object) -> None:
        """One of our operators, which may refuse in one line."""
        self.log[-1] += f": {name} {options}"
        try:
            getattr(bpy.ops.robokin, name)(**options)
        except RuntimeError as error:
            assert "Traceback" not in str(error), error

    def _activate(self, robot: bpy.types.Object) -> None:
        if bpy.context.mode != "OBJECT":
            with suppress(RuntimeError):
                bpy.ops.object.mode_set(mode="OBJECT")
        for other in bpy.context.view_layer.objects:
            other.select_set(other == robot)
        bpy.context.view_layer.objects.active = robot


# -- in Edit Mode -----------------------------------------------------------------------------------------------------


def _in_edit_mode(change: Callable[[Storm, bpy.types.Object, bpy.types.EditBone], Touched]) -> Callable:
    """An edit of one selected bone and, mostly, of those below it; at times Edit Mode goes on for a while."""

    def edit(storm: Storm, robot: bpy.types.Object) -> Touched:
        if robot.data.library is not None:
            return set()
        name = storm.bone(robot)
        bpy.ops.object.mode_set(mode="EDIT")
        bones = robot.data.edit_bones
        chosen = {name} if storm.rng.random() < 0.5 else {name, *(bone.name for bone in bones[name].children_recursive)}
        for bone in bones:
            bone.select = bone.select_head = bone.select_tail = bone.name in chosen
        bones.active = bones[name]
        touched = chosen
        try:
            touched = change(storm, robot, bones[name]) or chosen
        finally:
            if storm.rng.random() < 0.3:
                bpy.context.view_layer.update()
            bpy.ops.object.mode_set(mode="OBJECT")
        return touched

    edit.__name__ = change.__name__
    return edit


@_in_edit_mode
def duplicate_bones(storm, robot, bone):
    bpy.ops.armature.duplicate()


@_in_edit_mode
def delete_bones(storm, robot, bone):
    if len(robot.data.edit_bones) > 6:
        bpy.ops.armature.delete()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def dissolve_bones(storm, robot, bone):
    bpy.ops.armature.dissolve()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def symmetrize_bones(storm, robot, bone):
    bpy.ops.armature.autoside_names(type="XAXIS")
    bpy.ops.armature.symmetrize()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def subdivide_bones(storm, robot, bone):
    bpy.ops.armature.subdivide(number_cuts=int(storm.rng.integers(1, 3)))


@_in_edit_mode
def extrude_bones(storm, robot, bone):
    bpy.ops.armature.extrude_move(ARMATURE_OT_extrude={"forked": False})


@_in_edit_mode
def switch_bones(storm, robot, bone):
    bpy.ops.armature.switch_direction()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def separate_bones(storm, robot, bone):
    if len(bpy.data.objects) < LARGEST_SCENE:
        bpy.ops.armature.separate()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def parent_bone(storm, robot, bone):
    names = robot.data.edit_bones.keys()
    other = robot.data.edit_bones[names[storm.rng.integers(len(names))]]
    if other != bone and bone not in other.parent_recursive:
        bone.parent = other if storm.rng.random() < 0.8 else None
        bone.use_connect = bool(storm.rng.random() < 0.3)


@_in_edit_mode
def move_bone(storm, robot, bone):
    for end in (bone.head, bone.tail):
        end[storm.rng.integers(3)] += storm.number()
    bone.roll = storm.number()


@_in_edit_mode
def rename_bone(storm, robot, bone):
    before = bone.name
    bone.name = ["renamed", "Bone", "ü" * 40, "a.L", "a.R", bone.name][storm.rng.integers(6)]
    return {before, bone.name}


@_in_edit_mode
def flip_names(storm, robot, bone):
    bpy.ops.armature.flip_names()
    return {each.name for each in robot.data.edit_bones}


@_in_edit_mode
def new_bone(storm, robot, bone):
    made = robot.data.edit_bones.new("new")
    made.tail = (0.0, 0.0, 0.2)
    made.parent = bone if storm.rng.random() < 0.8 else None
    return {made.name}


# -- of objects -------------------------------------------------------------------------------------------------------


def duplicate_object(storm, robot):
    if len(bpy.data.objects) < LARGEST_SCENE:
        bpy.ops.object.duplicate(linked=bool(storm.rng.random() < 0.6))
    return set()


def delete_object(storm, robot):
    if len(bpy.data.objects) >= LARGEST_SCENE:
        bpy.ops.object.delete()
    return set()


def join_objects(storm, robot):
    for other in bpy.context.view_layer.objects:
        other.select_set(other.type == "ARMATURE")
    bpy.ops.object.join()
    return {bone.name for bone in robot.data.bones}


def scale_object(storm, robot):
    robot.scale = (storm.number(),) * 3 if storm.rng.random() < 0.7 else [storm.number() for _ in range(3)]
    return set()


def place_object(storm, robot):
    robot.location[storm.rng.integers(3)] = storm.number()
    robot.rotation_euler[storm.rng.integers(3)] = storm.number()
    return set()


def put_back(storm, robot):
    robot.matrix_world.identity()
    robot.location, robot.rotation_euler, robot.scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
    return set()


def apply_transform(storm, robot):
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    return {bone.name for bone in robot.data.bones}


def parent_object(storm, robot):
    others = [obj for obj in bpy.context.view_layer.objects if obj != robot]
    robot.parent = others[storm.rng.integers(len(others))] if others and storm.rng.random() < 0.6 else None
    return set()


def move_targets(storm, robot):
    for task in robot.robokin.tasks:
        if task.target is not None:
            task.target.location[storm.rng.integers(3)] = storm.number()
    return set()


def single_user(storm, robot):
    bpy.ops.object.make_single_user(object=True, obdata=True)
    return set()


def save_and_open(storm, robot):
    bpy.ops.wm.save_as_mainfile(filepath=str(storm.folder / "storm.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(storm.folder / "storm.blend"))
    bpy.ops.ed.undo_push(message="opened")
    return None


def undo(storm, robot):
    for _ in range(storm.rng.integers(1, 4)):
        bpy.ops.ed.undo()
    return None


def redo(storm, robot):
    bpy.ops.ed.redo()
    return None


# -- of joints and poses ----------------------------------------------------------------------------------------------


def rename_data_bone(storm, robot):
    bone = robot.data.bones[storm.bone(robot)]
    before = bone.name
    bone.name = f"joint {storm.rng.integers(20)}"
    return {before, bone.name}


def edit_field(storm, robot):
    name = storm.bone(robot)
    settings = robot.data.bones[name].robokin
    field = FIELDS[storm.rng.integers(len(FIELDS))]
    setattr(settings, field, storm.number())
    if f"use_{field}" in settings.bl_rna.properties:
        setattr(settings, f"use_{field}", bool(storm.rng.random() < 0.8))
    return {name}


def edit_type(storm, robot):
    name = storm.bone(robot)
    kinds = list(JOINT_TYPES)
    robot.data.bones[name].robokin.joint_type = kinds[storm.rng.integers(len(kinds))]
    return {name}


def edit_names(storm, robot):
    name = storm.bone(robot)
    settings = robot.data.bones[name].robokin
    field = ("mimic_joint", "link", "wheel_left", "wheel_right")[storm.rng.integers(4)]
    setattr(settings, field, storm.bone(robot) if storm.rng.random() < 0.7 else "")
    return {name}


def edit_axis(storm, robot):
    name = storm.bone(robot)
    robot.data.bones[name].robokin.axis = [storm.number() for _ in range(3)]
    return {name}


def delete_record(storm, robot):
    """As another add-on may."""
    name = storm.bone(robot)
    for key in list(robot.data.bones[name].keys()):
        if storm.rng.random() < 0.5:
            robot.data.bones[name][key] = ["{}", "", 3, "[" * 2000][storm.rng.integers(4)]
    return {name}


def reset_records(storm, robot):
    for name in robot.data.bones.keys():
        if storm.rng.random() < 0.5:
            storm.call("reset_record", bone=name)
    return {bone.name for bone in robot.data.bones}


def pose_bone(storm, robot):
    bone = robot.pose.bones[storm.bone(robot)]
    path = ("location", "rotation_euler", "rotation_quaternion", "scale")[storm.rng.integers(4)]
    getattr(bone, path)[storm.rng.integers(3)] = storm.number()
    if storm.rng.random() < 0.1:
        bone.rotation_mode = ("QUATERNION", "AXIS_ANGLE", "ZXY")[storm.rng.integers(3)]
    return set()


def clear_pose(storm, robot):
    for bone in robot.pose.bones:
        bone.matrix_basis.identity()
        bone.location, bone.rotation_euler, bone.scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
        bone.rotation_quaternion = (1, 0, 0, 0)
    return set()


def apply_pose(storm, robot):
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply()
    return {bone.name for bone in robot.data.bones}


def constrain_bone(storm, robot):
    bone = robot.pose.bones[storm.bone(robot)]
    kinds = ("LIMIT_ROTATION", "COPY_ROTATION", "IK", "DAMPED_TRACK", "LIMIT_LOCATION")
    made = bone.constraints.new(kinds[storm.rng.integers(len(kinds))])
    if hasattr(made, "target"):
        made.target = robot
    return set()


def clear_constraints(storm, robot):
    for bone in robot.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
    return set()


def flags(storm, robot):
    bone = robot.data.bones[storm.bone(robot)]
    bone.use_inherit_rotation = bool(storm.rng.random() < 0.7)
    bone.inherit_scale = "FULL" if storm.rng.random() < 0.7 else "NONE"
    return set()


def unit_scale(storm, robot):
    bpy.context.scene.unit_settings.scale_length = (1.0, 0.01, 1.0, 1e-9, 1000.0)[storm.rng.integers(5)]
    return None


def show_frame(storm, robot):
    bpy.context.scene.frame_set(int(storm.rng.integers(1, 10)))
    return set()


def auto_key(storm, robot):
    settings = bpy.context.scene.tool_settings
    settings.use_keyframe_insert_auto = not settings.use_keyframe_insert_auto
    return set()


def mend(storm, robot):
    """As a person would who reads what the panel says; a new robot in its place where that does not help."""
    put_back(storm, robot)
    clear_pose(storm, robot)
    clear_constraints(storm, robot)
    for bone in robot.data.bones:
        bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location = True, "FULL", True
    bpy.context.view_layer.update()
    for name in damaged_records(robot.data):
        storm.call("reset_record", bone=name)
    if not readable(robot):
        for bone in robot.data.bones:
            bone.property_unset("robokin")
        storm.call("helper_bones")
    if not readable(robot):
        bpy.data.objects.remove(robot)
        (add_robot if storm.rng.random() < 0.7 else make_every_joint)()
    return None


# -- with our operators -----------------------------------------------------------------------------------------------

OWN = (
    *(("solve_pose", {}), ("store_posture", {}), ("home", {}), ("reset_pose", {"start": "REST"}), ("mirror_pose", {})),
    *(("posture_add", {}), ("posture_apply", {}), ("posture_mirror", {}), ("posture_remove", {}), ("check_clear", {})),
    *(("bake", {"frame_start": 1, "frame_end": 3}), ("check", {"frame_start": 1, "frame_end": 3})),
    *(("task_remove", {}), ("task_move", {"direction": "UP"}), ("task_from_pose", {}), ("criterion_remove", {})),
)
OF_JOINTS = (
    *(("helper_bones", {}), ("make_robot", {}), ("convert_rig", {}), ("copy_joint", {}), ("set_joint", {})),
    *(("set_joint", {"joint_type": kind}) for kind in ("revolute", "gimbal", "fixed", "spherical")),
)


def use_operator(storm, robot):
    name, options = OWN[storm.rng.integers(len(OWN))]
    storm.call(name, **options)
    return set()


def edit_joints(storm, robot):
    for bone in robot.pose.bones:
        select(bone, bool(storm.rng.random() < 0.2))
    name, options = OF_JOINTS[storm.rng.integers(len(OF_JOINTS))]
    storm.call(name, **options)
    return {bone.name for bone in robot.data.bones}


def add_task(storm, robot):
    kinds = list(KINDS)
    name = "target_add" if storm.rng.random() < 0.3 and len(bpy.data.objects) < LARGEST_SCENE else "task_add"
    if len(robot.robokin.tasks) < 4:
        storm.call(name, kind=kinds[storm.rng.integers(len(kinds))])
    return set()


def add_criterion(storm, robot):
    if len(robot.robokin.criteria) < 2:
        storm.call("criterion_add", kind=CRITERIA[storm.rng.integers(len(CRITERIA))][0])
    return set()


# Those that Blender itself may refuse.
BLENDERS = (
    *(duplicate_bones, delete_bones, dissolve_bones, symmetrize_bones, subdivide_bones, extrude_bones, switch_bones),
    *(separate_bones, parent_bone, move_bone, rename_bone, flip_names, new_bone, duplicate_object, delete_object),
    *(join_objects, apply_transform, parent_object, single_user, undo, redo, apply_pose),
)
EDITS = (
    *(*BLENDERS, *(undo, redo, scale_object, place_object, put_back, put_back, move_targets, save_and_open)),
    *(rename_data_bone, edit_field, edit_field, edit_type, edit_names, edit_axis, delete_record, reset_records),
    *(pose_bone, pose_bone, clear_pose, constrain_bone, clear_constraints, clear_constraints, flags, flags, unit_scale),
    *(show_frame, auto_key, use_operator, use_operator, use_operator, edit_joints, edit_joints, add_task),
    *(add_task, add_criterion),
)
