"""Armature <-> robot model. No user interface here; operators and panels go through these functions.

A robot's lengths are SI: a Blender unit is `scene.unit_settings.scale_length` metres. Poses of the robot are relative
to its root frame (T_root_x, metres); `world_from_root` and `to_blender` cross over to Blender's world.
"""

from .editing.build import build_armature
from .editing.damaged import damaged_records, reset_record
from .editing.helper_bones import fit_helper_bones
from .editing.link_bodies import write_bodies
from .editing.make_robot import make_robot, robot_bones
from .editing.records import bone_record, edit_records, keep_edits, settle_records
from .editing.unit_scale import adopt_unit
from .errors import BridgeError
from .files.exporting import export_urdf
from .files.importing import import_robot
from .found_meshes import show_found_meshes
from .model.binding import Binding, binding, binding_held, last_binding, robot_model
from .model.channels import Channel
from .pose.configuration import (
    channel_table,
    clamp_pose,
    curves,
    nearest_within_limits,
    read_configuration,
    write_configuration,
)
from .pose.frames import to_blender, world_from_root
from .pose_arrays import PoseArrays
from .record.snapshot import is_robot, metres_per_unit, refuse_linked_bones
from .rig.drivers import mend_drivers
from .rig.hand_posing import refresh_rigs, rig_pose

__all__ = [
    "Binding",
    "BridgeError",
    "Channel",
    "PoseArrays",
    "adopt_unit",
    "binding",
    "binding_held",
    "bone_of_link",
    "bone_record",
    "build_armature",
    "channel_table",
    "clamp_pose",
    "curves",
    "damaged_records",
    "edit_records",
    "export_urdf",
    "fit_helper_bones",
    "import_robot",
    "is_robot",
    "keep_edits",
    "last_binding",
    "link_of_bone",
    "make_robot",
    "mend_drivers",
    "metres_per_unit",
    "nearest_within_limits",
    "read_configuration",
    "refresh_rigs",
    "refuse_linked_bones",
    "reset_record",
    "rig_pose",
    "robot_bones",
    "robot_model",
    "settle_records",
    "show_found_meshes",
    "to_blender",
    "world_from_root",
    "write_bodies",
    "write_configuration",
]


def bone_of_link(obj: object) -> dict[str, str]:
    """{link name: bone name} of a robot."""
    return binding(obj).bone_of_link


def link_of_bone(obj: object) -> dict[str, str]:
    """{bone name: link name} of a robot."""
    return binding(obj).link_of_bone
