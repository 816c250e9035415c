"""Armature <-> robot model. No user interface here; operators and panels go through these functions.

A robot's lengths are SI: a Blender unit is `scene.unit_settings.scale_length` metres. Poses of the robot are relative
to its root frame (T_root_x, metres); `world_from_root` and `to_blender` cross over to Blender's world.
"""

from .changes import Changes, changes_in, tell_changes
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
