"""What the panels show, prepared from the robot: texts, and which channels to draw. The panels compute nothing."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

import bpy
from bpy.utils.units import to_string

from ..properties.active_robot import active_robot
from ..properties.bridge import Channel, binding
from ..properties.bridge.fields import order_field
from ..robokin import RobokinError

CATEGORY = "Robot"

STATUS_ICONS = {
    "CONVERGED": "CHECKMARK",
    "OUT_OF_REACH": "DRIVER_DISTANCE",
    "LIMIT": "LOCKED",
    "TASK_CONFLICT": "ARROW_LEFTRIGHT",
    "SINGULAR": "ORIENTATION_GIMBAL",
}
STATUS_WORDS = {
    "CONVERGED": "Reached",
    "OUT_OF_REACH": "Out of reach",
    "LIMIT": "Held by joint limits",
    "TASK_CONFLICT": "Tasks contradict each other",
    "SINGULAR": "Singular pose",
    "COLLISION": "Collision",
    "MAX_ITERATIONS": "Not reached",
    "INVALID_START": "Start is outside the limits",
    "EMPTY": "No task",
}


@dataclass(frozen=True)
class RobotSummary:
    """`problem`: one line when the armature cannot be read as a robot; the other texts are then empty."""

    name: str
    freedom: str = ""
    joints: str = ""
    mass: str = ""
    problem: str = ""


def robot_summary(obj: bpy.types.Object) -> RobotSummary:
    try:
        model = binding(obj).model
    except RobokinError as error:
        return RobotSummary(obj.name, problem=str(error))
    followers = sum(joint.mimic is not None for joint in model.joints)
    joints = f"{len(model.moving_joints)} moving joints"
    if followers:
        joints += f", {followers} following"
    mass = f"{model.total_mass:.4g} kg in {len(model.links)} links"
    return RobotSummary(model.name, f"{model.nv} degrees of freedom", joints, mass)


@dataclass(frozen=True)
class JointSummary:
    """The joint of one bone: what to draw for it.

    channels: those of its pose bone, each with its label.   freedoms: (label, whether it is a length) of the degrees of
    freedom whose bounds can be edited; a single one needs no label.   extra: fields that only its type has.
    """

    bone: str
    label: str
    moving: bool
    follows: str
    channels: tuple[tuple[str, Channel], ...]
    freedoms: tuple[tuple[str, bool], ...]
    extra: tuple[tuple[str, str], ...]


def joint_summary(obj: bpy.types.Object, bone: bpy.types.Bone | None) -> JointSummary | None:
    """None when the bone is no joint of the robot, or the robot cannot be read."""
    if bone is None:
        return None
    try:
        robot = binding(obj)
    except RobokinError:
        return None
    if bone.name not in robot.bones:
        return None
    joint = robot.model.joints[robot.bones.index(bone.name)]
    channels = [c for c in robot.channels if c.bone == bone.name]
    labelled = tuple((_channel_label(c, channels), c) for c in channels)
    plain = [(label, c.path == "location") for label, c in labelled if c.path != "rotation_quaternion"][: joint.nv]
    extra = [("pitch", "Pitch m/rad")] if joint.kind.has_pitch else []
    extra += [(order_field(joint.kind), "Axes")] if joint.kind.orders else []
    return JointSummary(
        bone.name,
        joint.kind.label,
        joint.nv > 0,
        joint.mimic.joint if joint.mimic else "",
        labelled,
        tuple(plain) if len(plain) > 1 else tuple(("", linear) for _, linear in plain),
        tuple(extra),
    )


def _channel_label(channel: Channel, channels: list[Channel]) -> str:
    alike = sum(c.path == channel.path for c in channels)
    if channel.path == "rotation_quaternion":
        return "WXYZ"[channel.index]
    axis = "XYZ"[channel.index] if alike > 1 else ""
    if channel.path == "location":
        return axis or "Position"
    return f"Angle {axis}".rstrip()


def active_bone(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Bone | None:
    """The robot's active bone: in pose mode, in the Properties editor's Bone tab, or as last chosen."""
    shown = getattr(context, "bone", None)
    if shown is not None and shown.id_data == obj.data:
        return shown
    return obj.data.bones.active


def lines(context: bpy.types.Context, text: str, indent: int = 0) -> list[str]:
    """`text` broken into lines that fit the region's width, so that nothing is cut off."""
    width = context.region.width if context.region else 250
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a window
    scale *= context.preferences.ui_styles[0].widget.points / 11
    return wrap(text, max(16, int((width - 55) / (6.2 * scale)) - indent)) or [""]


class RobotPanel:
    """Mixin: a panel of the sidebar tab, shown for a robot. `draw_robot(context, layout, obj)` draws it."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return active_robot(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        self.draw_robot(context, layout, active_robot(context))


def draw_text(context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: str = "NONE") -> None:
    """A paragraph, the icon before its first line."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(lines(context, text, 3 if icon != "NONE" else 0)):
        first = icon if i == 0 else ("BLANK1" if icon != "NONE" else "NONE")
        column.label(text=line, icon=first)


def residual_text(scene: bpy.types.Scene, task: bpy.types.PropertyGroup) -> str:
    """How far a task is off its target after the last solve, in the scene's units."""
    units = scene.unit_settings
    parts = []
    if task.kind in ("POSE", "POSITION"):
        metres = task.position_residual * units.scale_length
        parts.append(to_string(units.system, "LENGTH", metres, precision=3, split_unit=False).strip())
    if task.kind != "POSITION":
        parts.append(to_string(units.system, "ROTATION", task.orientation_residual, precision=3).strip())
    return "Off by " + ", ".join(parts)


def draw_status(context: bpy.types.Context, layout: bpy.types.UILayout, status: str, reason: str) -> None:
    """Status and reason of a solve; nothing before the first one."""
    if not status:
        return
    box = layout.box()
    box.alert = status != "CONVERGED"
    box.label(text=STATUS_WORDS.get(status, status), icon=STATUS_ICONS.get(status, "ERROR"))
    draw_text(context, box, reason)
