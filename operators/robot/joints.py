"""Editing the joints of many bones at once: set what they are, or copy what the active one is."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import bpy
import numpy as np

from ...properties.bridge import BridgeError, bone_record, edit_records, metres_per_unit
from ...properties.bridge.editing.infer_joints import angle, shortest
from ...properties.bridge.record.fields import becomes_ball
from ...properties.bridge.record.rescale import lengths
from ...properties.bridge.record.stored import KEY, BoneRecord
from ...properties.joint import TYPES
from ...properties.selected.selection import selected_bones
from ...robokin import Joint
from ...robokin.units import counted
from ..common import RobotOperator

AXES = (
    ("KEEP", "As It Is", "The axis that the joint has; a new spherical joint twists about its bone"),
    ("X", "X", "The bone's X axis"),
    ("Y", "Y", "The bone's Y axis, along the bone"),
    ("Z", "Z", "The bone's Z axis"),
    ("-X", "-X", "Against the bone's X axis"),
    ("-Y", "-Y", "Against the bone's Y axis"),
    ("-Z", "-Z", "Against the bone's Z axis"),
)
LIMITS = (
    ("KEEP", "As They Are", "The limits that the joint has, where the type can have them"),
    ("NONE", "None", "No limits on the position"),
    ("RANGE", "Range", "The same limits for all"),
)
_BOUNDS = ("lower", "upper", "velocity", "effort", "acceleration")
_COPIED = (
    *_BOUNDS,
    "type",
    "order",
    "axes",
    "pitch",
    "damping",
    "friction",
    "rotor_inertia",
    "stiffness",
    "rest_position",
)


def selected_joints(obj: bpy.types.Object) -> dict[str, BoneRecord]:
    """The selected bones that are joints. Raises BridgeError when there are none."""
    bones = [obj.data.bones[name] for name in selected_bones(obj)]
    found = {bone.name: bone_record(bone) for bone in bones if KEY in bone}
    if not found:
        raise BridgeError(f"no joint of {obj.name!r} is selected: select bones in Pose Mode")
    return found


def retyped(joint: Joint, kind: str, **changes: Any) -> Joint:
    """The joint as one of another type; its limits stay if they limit the same."""
    bare = Joint("", kind, None, "", axis=joint.axis)
    if kind != joint.type:
        changes = {"axes": None, "drive": None} | changes
    if bare.kind.has_cone != joint.kind.has_cone or not np.array_equal(lengths(bare), lengths(joint)):
        changes = {name: getattr(bare, name) for name in (*_BOUNDS, "rest_position")} | changes
    if not bare.kind.bounded:
        changes |= {"lower": bare.lower, "upper": bare.upper}
    order = joint.order if joint.order in bare.kind.orders else ""
    return dataclasses.replace(joint, type=kind, **({"order": order} | changes))


class ROBOKIN_OT_set_joint(RobotOperator, bpy.types.Operator):
    """Set type, axis and limits of all selected joints"""

    bl_idname = "robokin.set_joint"
    bl_label = "Set Joints"

    joint_type: bpy.props.EnumProperty(name="Type", description="What the joints can do", items=TYPES)
    axis: bpy.props.EnumProperty(name="Axis", description="Axis of each bone that is the joint's", items=AXES)
    limits: bpy.props.EnumProperty(name="Limits", description="Limits on the position", items=LIMITS)
    lower_angle: bpy.props.FloatProperty(
        name="Lower", description="Angle, for joints that turn", subtype="ANGLE", default=-math.pi / 2.0
    )
    upper_angle: bpy.props.FloatProperty(
        name="Upper", description="Angle, for joints that turn", subtype="ANGLE", default=math.pi / 2.0
    )
    lower_length: bpy.props.FloatProperty(
        name="Lower Distance", description="Length, for joints that slide", subtype="DISTANCE"
    )
    upper_length: bpy.props.FloatProperty(
        name="Upper Distance", description="Length, for joints that slide", subtype="DISTANCE", default=1.0
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        active = context.active_pose_bone
        if active is not None and KEY in active.bone and active.bone.robokin.joint_type:
            self.given("joint_type", active.bone.robokin.joint_type)
        return context.window_manager.invoke_props_dialog(self, confirm_text="Set")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        records = selected_joints(obj)
        edit_records(context, obj, {name: self._edited(name, record) for name, record in records.items()})
        self.report({"INFO"}, f"{counted(len(records), 'joint is', 'joints are')} {self.joint_type}")
        return {"FINISHED"}

    def _edited(self, bone: str, record: BoneRecord) -> BoneRecord:
        changes: dict[str, Any] = {}
        if self.axis != "KEEP":
            changes["axis"] = record.frame @ np.eye(3)["XYZ".index(self.axis[-1])] * (-1 if self.axis[0] == "-" else 1)
        elif becomes_ball(record, self.joint_type):
            changes["axis"] = record.along
        if self.limits == "NONE":
            changes |= {"lower": -np.inf, "upper": np.inf}
        elif self.limits == "RANGE":
            changes |= self._range(retyped(record.joint, self.joint_type))
        return dataclasses.replace(record, joint=retyped(record.joint, self.joint_type, **changes))

    def _range(self, joint: Joint) -> dict[str, Any]:
        unit = metres_per_unit()
        ends = {}
        for end in ("lower", "upper"):
            distance, turned = getattr(self, f"{end}_length"), getattr(self, f"{end}_angle")
            ends[end] = np.where(lengths(joint), shortest(distance) * unit, angle(turned))
        if joint.kind.has_cone:
            ends["lower"][:2] = -ends["upper"][:2]
        return ends

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.draw_properties("joint_type", "axis", "limits")
        if self.limits == "RANGE":
            motions = lengths(Joint("", self.joint_type, None, ""))
            for kind, some in (("angle", not motions.all()), ("length", motions.any())):
                column = layout.column(align=True)
                for end in ("lower", "upper") if some else ():
                    column.prop(self, f"{end}_{kind}")


class ROBOKIN_OT_copy_joint(RobotOperator, bpy.types.Operator):
    """Give all selected joints the type, axis, limits and drive of the active one"""

    bl_idname = "robokin.copy_joint"
    bl_label = "Copy Joint to Selected"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        active = obj.data.bones.active
        if active is None or KEY not in active:
            raise BridgeError(f"{obj.name!r}: the active bone is no joint to copy")
        source = bone_record(active)
        records = {name: record for name, record in selected_joints(obj).items() if name != active.name}
        if not records:
            raise BridgeError(f"only {active.name!r} is selected: select the joints to copy it to as well")
        edit_records(context, obj, {name: self._edited(record, source) for name, record in records.items()})
        self.report({"INFO"}, f"{counted(len(records), 'joint is', 'joints are')} as {active.name!r}")
        return {"FINISHED"}

    def _edited(self, record: BoneRecord, source: BoneRecord) -> BoneRecord:
        copied = {name: getattr(source.joint, name) for name in _COPIED}
        turned = record.frame @ source.frame.T  # so that it is the same axis of the bone
        copied["axis"] = turned @ source.joint.axis
        copied["axes"] = None if source.joint.axes is None else source.joint.axes @ turned.T
        return dataclasses.replace(record, joint=dataclasses.replace(record.joint, **copied))


CLASSES = (ROBOKIN_OT_set_joint, ROBOKIN_OT_copy_joint)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
