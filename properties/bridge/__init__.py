"""Armature <-> robot model. No user interface here; operators and panels go through these functions.

A robot's lengths are SI: a Blender unit is `scene.unit_settings.scale_length` metres. Poses of the robot are relative
to its root frame (T_root_x, metres); `world_from_root` and `to_blender` cross over to Blender's world.
"""

from .binding import Binding, binding, binding_held, last_binding, robot_model
from .build import build_armature
from .channels import Channel
from .content import is_robot, metres_per_unit, refuse_linked_bones
from .damaged import damaged_records, reset_record
from .errors import BridgeError
from .exporting import export_urdf
from .fit_helpers import fit_helper_bones
from .importing import import_robot
from .link_bodies import write_bodies
from .making import make_robot, robot_bones
from .pose import channel_table, clamp_pose, curves, nearest_within_limits, read_configuration, write_configuration
from .records import bone_record, edit_records, keep_edits, settle_records
from .renames import mend_drivers
from .rig import refresh_rigs, rig_pose
from .space import to_blender, world_from_root
from .unit_scale import adopt_unit

__all__ = [
    "Binding",
    "BridgeError",
    "Channel",
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
