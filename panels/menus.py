"""Menus: Object > Robot and Pose > Robot, so that Blender's search finds what a person calls it; the menu of the right
mouse button."""

from __future__ import annotations

import bpy

from ..properties.bridge import is_robot
from ..properties.registration import registration
from ..properties.selected.active_robot import active_robot
from .prepared.redraw_cache import redraw_cache
from .prepared.task_rows import add_target_text


class ROBOKIN_MT_robot(bpy.types.Menu):
    bl_label = "Robot"
    bl_idname = "ROBOKIN_MT_robot"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("robokin.solve_pose", icon="ARMATURE_DATA")
        layout.operator("robokin.solve_by_method", text="Solve by Method...", icon="ARMATURE_DATA")
        layout.operator("robokin.bake", text="Bake Robot Motion", icon="ACTION")
        layout.operator("robokin.check", text="Check Robot Animation", icon="VIEWZOOM")
        layout.operator("robokin.plan_path", text="Plan Robot Path (Trajectory Around Obstacles)", icon="CURVE_PATH")
        layout.operator("robokin.bake_moves", text="Bake Robot Moves (Trajectory)", icon="ACTION")
        layout.operator("robokin.retarget_motion", text="Retarget Motion to Robot (Mocap, BVH)", icon="CON_ARMATURE")
        layout.operator("robokin.retime", text="Retime Robot Motion (Speed, Duration)", icon="TIME")
        layout.operator("robokin.smooth", text="Smooth Robot Motion", icon="SMOOTHCURVE")
        layout.operator("robokin.reduce_keys", text="Reduce Robot Keys (Clean)", icon="DECORATE_KEYFRAME")
        layout.operator("robokin.key_dynamics", text="Key Robot Dynamics (Torque, Power)", icon="FCURVE")
        layout.operator("robokin.key_singularities", text="Key Robot Singularities", icon="FCURVE")
        layout.operator("robokin.export_motion", text="Export Robot Motion (CSV, ROS)", icon="EXPORT")
        layout.operator("robokin.import_motion", text="Import Robot Motion", icon="IMPORT")
        layout.separator()
        layout.operator(
            "robokin.target_add", text="Add Target (IK, Inverse Kinematics, End Effector)", icon="EMPTY_ARROWS"
        )
        layout.operator("robokin.snap_targets", text="Snap Targets to Robot (IK to FK)", icon="SNAP_ON")
        layout.operator_menu_enum("robokin.task_add", "kind", text="Add Task (Constraint)")
        layout.operator_menu_enum("robokin.criterion_add", "kind", text="Add Criterion (Redundancy)")
        layout.separator()
        layout.operator("robokin.home", text="Robot Home", icon="HOME")
        layout.operator("robokin.reset_pose", text="Robot To Rest", icon="LOOP_BACK").start = "REST"
        layout.operator("robokin.postures", text="All Postures (Elbow, Wrist, Shoulder)", icon="POSE_HLT")
        layout.operator("robokin.posture_add", text="Store Posture (Save Pose)", icon="POSE_HLT")
        layout.operator("robokin.copy_joint_values", icon="COPYDOWN")
        layout.operator("robokin.paste_joint_values", icon="PASTEDOWN")
        layout.operator("robokin.mirror_pose", text="Mirror Robot Pose", icon="MOD_MIRROR")
        layout.separator()
        _draw_switches(context, layout)
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.operator("robokin.grab_link", text="Grab Link (Drag)", icon="VIEW_PAN")
        layout.operator("robokin.turn_joint", text="Turn Joint (Rotate)", icon="DRIVER_ROTATIONAL_DIFFERENCE")
        layout.operator("robokin.self_motion", text="Self-Motion (Null Space)", icon="CON_KINEMATIC")
        layout.separator()
        layout.operator("robokin.set_joint", text="Set Joint Limits and Type...", icon="CON_ROTLIMIT")
        layout.operator("robokin.inertia_from_mesh", text="Mass and Inertia from Mesh", icon="PHYSICS").which = "ALL"
        layout.operator_menu_enum("robokin.fit_collisions", "shape", text="Fit Collision Shapes (Simplify)")
        layout.operator("robokin.obstacle", text="Mark as Obstacle (Collision)", icon="MESH_CUBE")
        layout.operator("wm.call_panel", text="Robot Overlays (Ghosts)", icon="OVERLAY").name = "ROBOKIN_PT_overlays"
        layout.operator("robokin.duplicate_move", icon="DUPLICATE")
        layout.operator("robokin.delete_robot", icon="TRASH")
        layout.operator("robokin.make_robot", text="Make Robot from Armature")
        layout.operator("robokin.convert_rig", text="Convert Rig to Robot")


def _draw_switches(context: bpy.types.Context, layout: bpy.types.UILayout) -> None:
    """Switches of the robot, and of its active joint in Pose Mode."""
    obj = active_robot(context)
    if obj is None:
        return
    layout.prop(obj.robokin, "live", text="Live (Follow Targets)")
    bone = context.active_pose_bone
    if bone is not None and bone.bone.robokin.joint_type:
        layout.prop(bone.bone.robokin, "locked", text="Lock Joint (Padlock)")
        layout.operator("wm.tool_set_by_id", text="Jog Joints", icon="ARROW_LEFTRIGHT").name = "robokin.jog"


def _robot_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.menu(ROBOKIN_MT_robot.bl_idname, icon="OUTLINER_OB_ARMATURE")


def _context_menu(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    """What one does with a robot under the mouse."""
    obj = active_robot(context)
    if obj is None or obj.data.is_editmode:
        return
    layout = menu.layout
    layout.separator()
    with redraw_cache(obj):
        layout.operator("robokin.target_add", text=add_target_text(obj), icon="EMPTY_ARROWS")
    layout.operator("robokin.solve_pose", icon="ARMATURE_DATA")
    layout.operator("robokin.home", text="Robot Home", icon="HOME")
    if context.mode == "POSE":
        layout.operator("robokin.set_joint", text="Set Joint...", icon="CON_ROTLIMIT")
        layout.operator("robokin.copy_joint", icon="COPYDOWN")
    elif is_robot(context.object):
        layout.operator("robokin.duplicate_move", icon="DUPLICATE")


CLASSES = (ROBOKIN_MT_robot,)
register, unregister = registration(
    CLASSES,
    (bpy.types.VIEW3D_MT_object, _robot_menu),
    (bpy.types.VIEW3D_MT_pose, _robot_menu),
    (bpy.types.VIEW3D_MT_object_context_menu, _context_menu),
    (bpy.types.VIEW3D_MT_pose_context_menu, _context_menu),
)
