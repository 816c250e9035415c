"""Menus: Object > Robot and Pose > Robot, so that Blender's search finds what a person calls it; the menu of the right
mouse button."""

from __future__ import annotations

import bpy

from ..properties.bridge import is_robot
from ..properties.criteria import KINDS
from ..properties.registration import registration
from ..properties.selected.active_robot import active_robot
from ..properties.task_kinds import GROUPS
from .prepared.redraw_cache import redraw_cache
from .prepared.task_rows import add_target_text

TASK_WORDS = {
    "POSE": "Follow",
    "AIM": "Look At, Track",
    "POSTURE": "Favorite Pose",
    "JOINT": "Angle",
    "CENTER_OF_MASS": "Balance",
    "SUPPORT": "Balance, Feet on the Ground",
    "PIN": "Foot, Stay in Place",
    "SINGULAR_VALUE": "Dexterity",
    "RELATIVE": "Two Hands, Carry",
    "LOOP": "Closed Chain",
    "ALONG_CURVE": "Speed on a Path",
}
CRITERION_WORDS = {
    "SMALLEST_SINGULAR_VALUE": "Jacobian",
    "MANIPULABILITY": "Dexterity",
    "JOINT_SPRINGS": "Away from Limits",
    "KINETIC_ENERGY": "Inertia",
    "FAR_FROM_OBSTACLES": "Clearance",
}
OVERLAYS = {
    "axes": "Frames",
    "names": "",
    "limits": "Range",
    "center_of_mass": "Balance, Gravity",
    "manipulability": "Ellipsoid",
    "collisions": "",
    "task_errors": "Residual",
    "path": "Trajectory, Trail",
    "moves": "Waypoints",
    "problem_frames": "Errors",
    "ghosts": "Onion Skin",
}


class ROBOKIN_MT_robot(bpy.types.Menu):
    bl_label = "Robot"
    bl_idname = "ROBOKIN_MT_robot"

    def draw(self, context: bpy.types.Context) -> None:
        layout, obj = self.layout, active_robot(context)
        layout.operator("robokin.solve_pose", text="Solve Pose (IK, Reach Targets)", icon="ARMATURE_DATA")
        text = "Add Target (IK, Inverse Kinematics, Goal, End Effector)"
        layout.operator("robokin.target_add", text=text, icon="EMPTY_ARROWS")
        if obj is not None:
            layout.prop(obj.robokin, "live", text="Live (Follow Targets)")
        layout.separator()
        for menu in (ROBOKIN_MT_pose, ROBOKIN_MT_tasks, ROBOKIN_MT_motion, ROBOKIN_MT_links, ROBOKIN_MT_overlays):
            layout.menu(menu.bl_idname)
        layout.separator()
        layout.operator("robokin.duplicate_move", text="Duplicate Robot (Copy)", icon="DUPLICATE")
        layout.operator("robokin.delete_robot", icon="TRASH")
        layout.operator("robokin.make_robot", text="Make Robot from Armature (Rig, Skeleton)")
        layout.operator("robokin.convert_rig", text="Convert Rig to Robot (Constraints)")


class ROBOKIN_MT_pose(bpy.types.Menu):
    bl_label = "Pose and Move"
    bl_idname = "ROBOKIN_MT_pose"

    def draw(self, context: bpy.types.Context) -> None:
        layout, bone = self.layout, context.active_pose_bone
        layout.operator("robokin.home", text="Robot Home (Default Pose)", icon="HOME")
        rest = layout.operator("robokin.reset_pose", text="Robot To Rest (Zero, Clear)", icon="LOOP_BACK")
        rest.start = "REST"
        layout.operator("robokin.postures", text="All Postures (Elbow, Wrist, Shoulder)", icon="POSE_HLT")
        layout.operator("robokin.posture_add", text="Store Posture (Save Pose)", icon="POSE_HLT")
        layout.operator("robokin.copy_joint_values", text="Copy Joint Values (Angles)", icon="COPYDOWN")
        layout.operator("robokin.paste_joint_values", text="Paste Joint Values (Angles)", icon="PASTEDOWN")
        layout.operator("robokin.mirror_pose", text="Mirror Robot Pose (Flip)", icon="MOD_MIRROR")
        layout.separator()
        if bone is not None and bone.bone.robokin.joint_type:
            layout.prop(bone.bone.robokin, "locked", text="Lock Joint (Padlock, Motor)")
            jog = layout.operator("wm.tool_set_by_id", text="Jog Joints (Keyboard, Teach)", icon="ARROW_LEFTRIGHT")
            jog.name = "robokin.jog"
        layout.operator_context = "INVOKE_REGION_WIN"
        layout.operator("robokin.grab_link", text="Grab Link (Drag Hand, Tool)", icon="VIEW_PAN")
        text = "Turn Joint (Rotate, FK, Gripper)"
        layout.operator("robokin.turn_joint", text=text, icon="DRIVER_ROTATIONAL_DIFFERENCE")
        layout.operator("robokin.self_motion", text="Self-Motion (Null Space, Swivel)", icon="CON_KINEMATIC")


class ROBOKIN_MT_tasks(bpy.types.Menu):
    bl_label = "Tasks"
    bl_idname = "ROBOKIN_MT_tasks"

    def draw(self, context: bpy.types.Context) -> None:
        layout, obj = self.layout, active_robot(context)
        layout.operator("robokin.snap_targets", text="Snap Targets to Robot (IK to FK, Match)", icon="SNAP_ON")
        layout.operator("robokin.pin_feet", text="Pin Feet (Foot Lock, Stand)", icon="PINNED")
        layout.menu("ROBOKIN_MT_add_task")
        layout.menu("ROBOKIN_MT_add_criterion")
        if obj is not None:
            layout.prop_menu_enum(obj.robokin.solver, "mode", text="Combine Tasks (Priority, Weight)")
            layout.prop(obj.robokin.solver, "avoid_collisions")
        layout.operator("robokin.solve_by_method", text="Solve by Method (Solver, Algorithm)...", icon="ARMATURE_DATA")


class ROBOKIN_MT_add_task(bpy.types.Menu):
    bl_label = "Add Task (Constraint)"
    bl_idname = "ROBOKIN_MT_add_task"

    def draw(self, context: bpy.types.Context) -> None:
        for kinds in GROUPS.values():
            for name, kind in kinds.items():
                _add(self.layout, "robokin.task_add", name, kind.label, TASK_WORDS, kind.icon)
            self.layout.separator()


class ROBOKIN_MT_add_criterion(bpy.types.Menu):
    bl_label = "Add Criterion (Redundancy, Optimize)"
    bl_idname = "ROBOKIN_MT_add_criterion"

    def draw(self, context: bpy.types.Context) -> None:
        for name, label, _, icon, _ in KINDS:
            _add(self.layout, "robokin.criterion_add", name, label, CRITERION_WORDS, icon)


def _add(layout: bpy.types.UILayout, operator: str, kind: str, label: str, words: dict[str, str], icon: str) -> None:
    """Entry that adds something of a kind, with the words that people try for it."""
    text = f"{label} ({words[kind]})" if kind in words else label
    layout.operator(operator, text=text, icon=icon).kind = kind


class ROBOKIN_MT_motion(bpy.types.Menu):
    bl_label = "Motion"
    bl_idname = "ROBOKIN_MT_motion"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("robokin.bake", text="Bake Robot Motion (Keyframes)", icon="ACTION")
        layout.operator("robokin.check", text="Check Robot Animation (Validate, Velocity)", icon="VIEWZOOM")
        layout.separator()
        layout.operator(
            "robokin.plan_path", text="Plan Robot Path (Planning, Trajectory, Obstacles)", icon="CURVE_PATH"
        )
        layout.operator_menu_enum("robokin.move_add", "kind", text="Add Move (Waypoint, Pick and Place, Program)")
        layout.operator("robokin.bake_moves", text="Bake Robot Moves (Trajectory)", icon="ACTION")
        layout.operator("robokin.next_target", text="Next Target (Waypoint)", icon="TRIA_RIGHT")
        layout.operator("robokin.retarget_motion", text="Retarget Motion to Robot (Mocap, BVH)", icon="CON_ARMATURE")
        layout.separator()
        layout.operator("robokin.retime", text="Retime Robot Motion (Speed, Duration, Faster)", icon="TIME")
        layout.operator("robokin.slow_targets", text="Slow Down Targets", icon="TIME")
        layout.operator("robokin.smooth", text="Smooth Robot Motion (Filter, Jitter, Jerk)", icon="SMOOTHCURVE")
        layout.operator("robokin.reduce_keys", text="Reduce Robot Keys (Clean, Simplify)", icon="DECORATE_KEYFRAME")
        layout.separator()
        text = "Key Robot Dynamics (Torque, Force, Power, Energy, Graph)"
        layout.operator("robokin.key_dynamics", text=text, icon="FCURVE")
        text = "Key Robot Singularities (Manipulability, Jacobian)"
        layout.operator("robokin.key_singularities", text=text, icon="FCURVE")
        layout.separator()
        layout.operator("robokin.export_motion", text="Export Robot Motion (CSV, JSON, ROS)", icon="EXPORT")
        layout.operator("robokin.import_motion", text="Import Robot Motion (CSV, JSON, ROS)", icon="IMPORT")


class ROBOKIN_MT_links(bpy.types.Menu):
    bl_label = "Joints and Links"
    bl_idname = "ROBOKIN_MT_links"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("robokin.set_joint", text="Set Joint Limits and Type (Range, Hinge)...", icon="CON_ROTLIMIT")
        layout.operator("robokin.copy_joint", icon="COPYDOWN")
        text = "Copy Table (DH, Denavit-Hartenberg, Screws)"
        layout.operator_menu_enum("robokin.robot_to_text", "kind", text=text, icon="TEXT")
        layout.separator()
        inertia = layout.operator(
            "robokin.inertia_from_mesh", text="Mass and Inertia from Mesh (Weight)", icon="PHYSICS"
        )
        inertia.which = "ALL"
        layout.operator_menu_enum("robokin.fit_collisions", "shape", text="Fit Collision Shapes (Simplify)")
        layout.operator("robokin.find_touching", text="List Touching Pairs (Self-Collision)", icon="LINKED")
        layout.operator("robokin.obstacle", text="Mark as Obstacle (Collision, Avoid)", icon="MESH_CUBE")
        layout.operator("robokin.find_meshes", text="Find Meshes (Missing Visuals, STL, DAE)", icon="FILE_FOLDER")
        layout.operator("robokin.export_urdf", text="Export Robot as URDF", icon="EXPORT")


class ROBOKIN_MT_overlays(bpy.types.Menu):
    bl_label = "Robot Overlays"
    bl_idname = "ROBOKIN_MT_overlays"

    def draw(self, context: bpy.types.Context) -> None:
        settings, layout = context.scene.robokin.overlays, self.layout
        layout.prop(settings, "show")  # the others show nothing without it
        for name, words in OVERLAYS.items():
            label = settings.bl_rna.properties[name].name
            layout.prop(settings, name, text=f"{label} ({words})" if words else label)


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


CLASSES = (
    ROBOKIN_MT_pose,
    ROBOKIN_MT_add_task,
    ROBOKIN_MT_add_criterion,
    ROBOKIN_MT_tasks,
    ROBOKIN_MT_motion,
    ROBOKIN_MT_links,
    ROBOKIN_MT_overlays,
    ROBOKIN_MT_robot,
)
register, unregister = registration(
    CLASSES,
    (bpy.types.VIEW3D_MT_object, _robot_menu),
    (bpy.types.VIEW3D_MT_pose, _robot_menu),
    (bpy.types.VIEW3D_MT_object_context_menu, _context_menu),
    (bpy.types.VIEW3D_MT_pose_context_menu, _context_menu),
)
