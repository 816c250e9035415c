"""Random edits of objects, joints, poses and tasks: of a person, another add-on, or our operators (see `storm`)."""

from __future__ import annotations

import bpy
from robokin_addon.properties.bridge import damaged_records, metres_per_unit, robot_model
from robokin_addon.properties.bridge.record.reading import read_robot
from robokin_addon.properties.bridge.record.stored import HELPER_KEY, KEY, ROBOT_KEY
from robokin_addon.properties.criteria import KINDS as CRITERIA
from robokin_addon.properties.selected.selection import select
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import RobokinError
from robokin_addon.robokin.model.joint_types import JOINT_TYPES

from support.blender.every_joint import make_every_joint
from support.blender.scene_robots import add_robot
from support.blender.storm_bones import EDITS_OF_BONES, LARGEST_SCENE

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


def readable(robot: bpy.types.Object) -> bool:
    try:
        return robot_model(robot) is not None
    except RobokinError:
        return False


def in_scene_units(robot: bpy.types.Object) -> bool:
    """Whether its records have followed the unit scale: one that could not be read then does so when the scene changes
    next, and is read right meanwhile."""
    stored = read_robot(robot.data[ROBOT_KEY], robot.name).metres_per_unit
    return abs(stored / metres_per_unit(robot) - 1.0) < 1e-6


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
    for key in (KEY, HELPER_KEY):
        if key in robot.data.bones[name] and storm.rng.random() < 0.7:
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


def switch_mode(storm, robot):
    """Until the next edit."""
    bpy.ops.object.mode_set(mode=("POSE", "EDIT")[storm.rng.integers(2)])
    return set()


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
    *EDITS_OF_BONES,
    *(duplicate_object, delete_object, join_objects, apply_transform, parent_object, single_user, apply_pose),
    switch_mode,
)
EDITS = (
    *(*BLENDERS, switch_mode, scale_object, place_object, put_back, put_back, move_targets, save_and_open),
    *(rename_data_bone, edit_field, edit_field, edit_type, edit_names, edit_axis, delete_record, reset_records),
    *(pose_bone, pose_bone, clear_pose, constrain_bone, clear_constraints, clear_constraints, flags, flags, unit_scale),
    *(show_frame, auto_key, use_operator, use_operator, use_operator, edit_joints, edit_joints, add_task),
    *(add_task, add_criterion),
)
