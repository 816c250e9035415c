"""What the panels show, prepared from the robot: texts, and which channels to draw. The panels compute nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from textwrap import wrap

import bpy

from ...properties.bridge import Channel, binding, damaged_records
from ...properties.bridge.model.channels import QUATERNION
from ...properties.bridge.model.joint_bones import JointBone, bone_axis
from ...properties.bridge.record.fields import AXES, order_field
from ...properties.bridge.record.snapshot import foreign_constraint
from ...properties.bridge.record.stored import KEY
from ...properties.bridge.visuals.link_visuals import unfound_meshes
from ...properties.pages import shown_page
from ...properties.results.result_text import in_scene_units, status_words
from ...properties.selected.active_robot import active_robot
from ...robokin import Joint, RobokinError, RobotModel
from ...robokin.arrays import Array
from ...robokin.limit_warnings import far_limit_warning, mimic_warning
from ...robokin.model.joint_types import JOINT_TYPES, plane_basis
from ...robokin.units import counted
from .redraw_cache import redraw_cache

CATEGORY = "Robot"

STATUS_ICONS = {
    "CONVERGED": "CHECKMARK",
    "OUT_OF_REACH": "DRIVER_DISTANCE",
    "LIMIT": "LOCKED",
    "TASK_CONFLICT": "ARROW_LEFTRIGHT",
    "SINGULAR": "ORIENTATION_GIMBAL",
    "COLLISION": "MOD_PHYSICS",
}


@dataclass(frozen=True)
class RobotSummary:
    """`problem`: one line when the armature cannot be read as a robot; the texts are then empty.
    damaged: what is wrong with each damaged record, by its bone, "" for the armature's own.   constrained: constraints
    act on its joints, which Convert Rig makes tasks.   massless: no link has a mass.   unfound: how many files of
    meshes were not found."""

    freedom: str = ""
    joints: str = ""
    mass: str = ""
    problem: str = ""
    damaged: Mapping[str, str] = field(default_factory=dict)
    constrained: bool = False
    massless: bool = False
    unfound: int = 0


def robot_summary(obj: bpy.types.Object) -> RobotSummary:
    try:
        return _summary(binding(obj).model)
    except RobokinError as error:
        pose_bones = obj.pose.bones if obj.pose is not None else ()
        carrying = [bone for bone in pose_bones if bone.bone is not None and KEY in bone.bone]
        constrained = any(foreign_constraint(bone) is not None for bone in carrying)
        return RobotSummary(problem=str(error), damaged=damaged_records(obj.data), constrained=constrained)


@lru_cache(maxsize=8)
def _summary(model: RobotModel) -> RobotSummary:
    followers = sum(joint.mimic is not None for joint in model.joints)
    joints = counted(len(model.moving_joints), "moving joint")
    if followers:
        joints += f", {followers} following"
    massless = not model.total_mass
    mass = "No masses yet" if massless else f"{model.total_mass:.4g} kg in {counted(len(model.links), 'link')}"
    return RobotSummary(
        counted(model.nv, "degree of freedom", "degrees of freedom"),
        joints,
        mass,
        massless=massless,
        unfound=len(unfound_meshes(model)),
    )


@dataclass(frozen=True)
class JointSummary:
    """The joint of one bone: what to draw for it.

    bone: its own bone, also when one of its helper bones was asked for.   unheld: that its limits are not kept, where
    they are far away, or what it follows takes it out of them.   channels: those of its pose bones, each with
    its label.   freedoms: (label, whether it is a length) of the degrees of freedom whose bounds can be edited; one
    alone needs no label.   cone: labels of the two swings of a spherical joint, whose bounds are those of a cone.
    extra: fields that only its type has, each with its label.   wheels: it is a wheeled base.   ranged: where it is in
    its range can be shown.
    """

    bone: str
    label: str
    moving: bool
    follows: str
    unheld: str
    channels: tuple[tuple[str, Channel], ...]
    freedoms: tuple[tuple[str, bool], ...]
    cone: tuple[str, ...]
    extra: tuple[tuple[str, str], ...]
    wheels: bool
    ranged: bool


def joint_summary(obj: bpy.types.Object, bone: bpy.types.Bone | None) -> JointSummary | None:
    """None when the bone carries no joint of the robot, or the robot cannot be read."""
    if bone is None:
        return None
    try:
        robot = binding(obj)
    except RobokinError:
        return None
    joint = robot.joint_of_bone.get(bone.name)
    if joint is None:
        return None
    joint_bones = robot.joint_bones[robot.model.joint_index(joint.name)]
    bones = {joint_bone.bone for joint_bone in joint_bones}
    # A quaternion is read as W, X, Y, Z, wherever the link's axes are on the bone.
    channels = sorted(
        (c for c in robot.channels if c.bone in bones), key=lambda c: c.index if c.path == QUATERNION else -1
    )
    frames = {joint_bone.bone: joint_bone.frame for joint_bone in joint_bones}
    labelled = tuple((_channel_label(c, channels, frames[c.bone]), c) for c in channels)
    plain = [(label, c.path == "location") for label, c in labelled if c.path != QUATERNION][: joint.nv]
    return JointSummary(
        bone=joint_bones[-1].bone,
        label=joint.kind.label,
        moving=joint.nv > 0,
        follows=joint.mimic.joint if joint.mimic else "",
        unheld=_unheld(robot.model, joint.name),
        channels=labelled,
        freedoms=tuple(plain) if len(plain) > 1 else tuple(("", linear) for _, linear in plain),
        cone=_swing_labels(joint, joint_bones[0]) if joint.kind.has_cone else (),
        extra=type_fields(obj.data.bones[joint_bones[-1].bone].robokin),
        wheels=joint.type == "wheeled",
        ranged=joint_bones[-1].bone in robot.ranged_channels,
    )


def _unheld(model: RobotModel, name: str) -> str:
    if name in model.unheld_mimics:
        return mimic_warning(model, name)
    return far_limit_warning(model, name) if name in model.far_limits else ""


def _swing_labels(joint: Joint, joint_bone: JointBone) -> tuple[str, str]:
    """The axes of the bone about which a ball swings; numbers where its twist is not about an axis of the bone."""
    axes = plane_basis(joint.axis)
    found = [bone_axis(axis, joint_bone.frame)[0] for axis in axes]
    if min(abs(joint_bone.frame[:, i] @ axis) for i, axis in zip(found, axes, strict=True)) < 1.0 - 1e-6:
        return "Swing 1", "Swing 2"
    first, second = (f"Swing {'XYZ'[i]}" for i in found)
    return first, second


def _channel_label(channel: Channel, channels: list[Channel], frame: Array) -> str:
    """frame: (3, 3) R_link_bone. Places are along the axes of the link, as the robot's file has them, where the bone's
    are these."""
    alike = [c for c in channels if c.path == channel.path]
    if channel.path == QUATERNION:
        return "WXYZ"[channel.index]
    if len({c.bone for c in alike}) > 1:  # each about an axis of its own bone
        return f"Angle {1 + alike.index(channel)}"
    if channel.path == "location":
        along = abs(frame[:, channel.index])
        axis = along.argmax() if along.max() > 1.0 - 1e-6 else channel.index
        return "XYZ"[axis] if len(alike) > 1 else "Position"
    return f"Angle {'XYZ'[channel.index]}" if len(alike) > 1 else "Angle"


def type_fields(settings: bpy.types.PropertyGroup) -> tuple[tuple[str, str], ...]:
    """(field, label) of what only a joint's type has, apart from limits and wheels."""
    kind = JOINT_TYPES.get(settings.joint_type)
    if kind is None:  # as in a damaged file
        return ()
    if kind.has_pitch:
        return (("pitch_length", "Pitch /rad"),)
    if not kind.orders:
        return ()
    if not settings.use_axes:
        return (("use_axes", "Own Axes"), (order_field(kind), "Axes"))
    return (("use_axes", "Own Axes"), *((name, f"Axis {i + 1}") for i, name in enumerate(AXES[: kind.nv])))


def joint_settings(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.PropertyGroup:
    """The fields of the joint that the active bone carries; valid where `joint_summary` finds one."""
    return obj.data.bones[binding(obj).own_bone(active_bone(context, obj).name)].robokin


def joint_problem(obj: bpy.types.Object, bone: bpy.types.Bone | None) -> str:
    """Why the robot of a bone that is a joint cannot be read; empty when it can, or the bone is no joint."""
    if bone is None or not bone.robokin.version:
        return ""
    try:
        binding(obj)
    except RobokinError as error:
        return str(error)
    return ""


def active_bone(context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Bone | None:
    """The robot's active bone: in pose mode, in the Properties editor's Bone tab, or as last chosen."""
    shown = getattr(context, "bone", None)
    if shown is not None and shown.id_data == obj.data:
        return shown
    return obj.data.bones.active


def lines(context: bpy.types.Context, text: str, indent: int = 0, units: int = 0) -> Sequence[str]:
    """`text` broken into lines that fit the region's width, so that nothing is cut off; units: the width of a popover
    instead, in units of the interface (20 pixels)."""
    return _wrapped(text, max(16, int(_letters(context, 55, units)) - indent))


@lru_cache(maxsize=64)
def _wrapped(text: str, width: int) -> tuple[str, ...]:
    """A word that is longer than a line begins a new one, and is broken after an underscore where it has some."""
    parts = re.compile(rf".{{1,{width}}}$|.{{1,{width - 1}}}[_/]|.{{1,{width}}}")
    words = (parts.findall(word) if len(word) > width else [word] for word in text.split())
    return tuple(wrap(" ".join(part for word in words for part in word), width)) or ("",)


def row_letters(context: bpy.types.Context, share: float) -> int:
    """How many fit this share of a list's row."""
    return max(8, int(share * _letters(context, 80)))  # less tabs, margins, padlock


def _letters(context: bpy.types.Context, margin: int, units: int = 0) -> float:
    """How many fit the region's width, or that of so many units, less a margin in pixels."""
    preferences, region = context.preferences, context.region
    scale = preferences.system.ui_scale or 1.0  # 0 without a window
    width = 20.0 * units * scale if units else region.width if region else 292  # as Blender begins
    scale *= preferences.ui_styles[0].widget.points / 11
    return (width - margin) / (6.2 * scale)


class RobotPanel:
    """Mixin: a panel of the sidebar tab, shown for a robot on its `page`. `draw_robot` draws it."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = CATEGORY
    page = ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return (not cls.page or shown_page(context) == cls.page) and active_robot(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        obj = active_robot(context)
        with redraw_cache(obj):
            self.draw_robot(context, layout, obj)


def options(layout: bpy.types.UILayout, name: str, text: str = "Options") -> bpy.types.UILayout | None:
    """The layout for rarely used settings, below a line that unfolds it; None while it is folded."""
    header, body = layout.panel(name, default_closed=True)
    header.label(text=text)
    return body


def draw_entries(layout: bpy.types.UILayout, robot: bpy.types.PropertyGroup, entries: str, entry: str) -> None:
    """The list `entries` ("tasks") of a robot, with the buttons of its operators ("task")."""
    row = layout.row()
    row.template_list(f"ROBOKIN_UL_{entries}", "", robot, entries, robot, f"active_{entry}", rows=3)
    buttons = row.column(align=True)
    buttons.operator_menu_enum(f"robokin.{entry}_add", "kind", text="", icon="ADD")
    buttons.operator(f"robokin.{entry}_remove", text="", icon="REMOVE")
    if len(getattr(robot, entries)) > 1:
        buttons.separator()
        buttons.operator(f"robokin.{entry}_move", text="", icon="TRIA_UP").direction = "UP"
        buttons.operator(f"robokin.{entry}_move", text="", icon="TRIA_DOWN").direction = "DOWN"


def draw_checkbox(layout: bpy.types.UILayout, item: bpy.types.PropertyGroup, name: str) -> None:
    """A Boolean property in the row of a list. By an icon: Blender 4 shows no checkbox there."""
    icon = "CHECKBOX_HLT" if getattr(item, name) else "CHECKBOX_DEHLT"
    layout.prop(item, name, text="", icon=icon, emboss=False)


def draw_text(
    context: bpy.types.Context, layout: bpy.types.UILayout, text: str, icon: str = "NONE", units: int = 0
) -> None:
    """A paragraph, the icon before its first line. units: as of `lines`."""
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(lines(context, text, 3 if icon != "NONE" else 0, units)):
        first = icon if i == 0 else ("BLANK1" if icon != "NONE" else "NONE")
        column.label(text=line, icon=first)


def draw_status(
    context: bpy.types.Context, layout: bpy.types.UILayout, status: str, reason: str, is_present: bool, rows: int = 0
) -> None:
    """Status and reason of a solve; nothing before the first one. is_present: nothing has changed since.   rows: how
    many follow that give the reason."""
    if not status:
        return
    box = layout.box()
    box.alert = status != "CONVERGED" and is_present
    box.active = is_present
    words = status_words(status, reason)
    if not is_present:
        words = f"Before the change: {words[0].lower()}{words[1:]}"
    box.label(text=words, icon=STATUS_ICONS.get(status, "ERROR") if is_present else "TIME")
    if reason and not rows:
        draw_text(context, box, in_scene_units(context.scene, reason))
