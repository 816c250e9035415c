"""The properties that Robokin adds to Blender's data, on their owners."""

from __future__ import annotations

import bpy

from . import (
    collection,
    criteria,
    handlers,
    joint,
    moves,
    overlays,
    overrides,
    pages,
    postures,
    preferences,
    robot,
    solver_settings,
    tasks,
)
from .joint_values import ball_angles, joint_range
from .pairs import link_pairs, retarget_pairs
from .results import change_marks
from .selected import active_shape

CLASSES = (
    *tasks.CLASSES,
    *criteria.CLASSES,
    *solver_settings.CLASSES,
    *joint.CLASSES,
    *postures.CLASSES,
    *moves.CLASSES,
    *link_pairs.CLASSES,
    *retarget_pairs.CLASSES,
    *active_shape.CLASSES,
    *robot.CLASSES,
    *collection.CLASSES,
    *overlays.CLASSES,
    *preferences.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.robokin = bpy.props.PointerProperty(
        type=robot.RobokinRobot, name="Robokin", override=overrides.VALUE
    )
    # Bone and EditBone share one storage: what is edited in one mode is there in the other.
    bpy.types.Bone.robokin = bpy.props.PointerProperty(type=joint.RobokinJoint, name="Robokin")
    bpy.types.EditBone.robokin = bpy.props.PointerProperty(type=joint.RobokinJoint, name="Robokin")
    bpy.types.Collection.robokin = bpy.props.PointerProperty(type=collection.RobokinCollection, name="Robokin")
    bpy.types.Scene.robokin = bpy.props.PointerProperty(type=overlays.RobokinScene, name="Robokin")
    bpy.types.WindowManager.robokin_page = pages.new_property()
    bpy.types.PoseBone.robokin_range = joint_range.new_property()
    bpy.types.PoseBone.robokin_angles = ball_angles.new_property()
    handlers.add_handler("load_post", postures.adopt_unnamed)
    change_marks.register()


def unregister() -> None:
    change_marks.unregister()
    handlers.remove_handler("load_post", postures.adopt_unnamed)
    del bpy.types.PoseBone.robokin_angles
    del bpy.types.WindowManager.robokin_page
    del bpy.types.Scene.robokin
    del bpy.types.Collection.robokin
    del bpy.types.PoseBone.robokin_range
    del bpy.types.EditBone.robokin
    del bpy.types.Bone.robokin
    del bpy.types.Object.robokin
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
