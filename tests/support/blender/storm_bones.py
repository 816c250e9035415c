"""Random edits of bones in Edit Mode, as a person makes them: through Blender's operators and data (see `storm`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from support.blender.storm import Storm, Touched

LARGEST_SCENE = 8  # objects, above which some are deleted


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


EDITS_OF_BONES = (
    *(duplicate_bones, delete_bones, dissolve_bones, symmetrize_bones, subdivide_bones, extrude_bones, switch_bones),
    *(separate_bones, parent_bone, move_bone, rename_bone, flip_names, new_bone),
)
