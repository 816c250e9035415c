"""Limits from Two Angles: the arc of the circle in which the joint stands."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, read_configuration, refuse_linked_bones
from ...properties.bridge.model.binding import Binding
from ...properties.bridge.record.fields import bound_field
from ...robokin import Joint, RobokinError, UnknownNameError, arc_limits
from ...robokin.model.joint_types import MotionPrimitive
from ..common import RobotOperator


class ROBOKIN_OT_limits_from_arc(RobotOperator, bpy.types.Operator):
    """Limit a turning joint to the arc between two angles on the circle that holds its present angle"""

    bl_idname = "robokin.limits_from_arc"
    bl_label = "Limits from Two Angles"

    bone: bpy.props.StringProperty(
        name="Bone", description="Bone of the joint; empty: the active one", options={"SKIP_SAVE"}
    )
    first: bpy.props.FloatProperty(
        name="First", description="One end; whole turns do not matter", subtype="ANGLE", default=-1.5707963267948966
    )
    second: bpy.props.FloatProperty(
        name="Second",
        description="The other end; whole turns do not matter",
        subtype="ANGLE",
        default=1.5707963267948966,
    )
    freedom: bpy.props.IntProperty(
        name="Freedom",
        description="Which of the joint's degrees of freedom",
        default=1,
        min=1,
        max=3,
        options={"SKIP_SAVE"},
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        refuse_linked_bones(obj)
        robot = binding(obj)
        bone = _bone(obj, robot, self.bone)
        joint = robot.model.joints[robot.bones.index(bone.name)]
        if not _turns(joint, self.freedom - 1):
            raise RobokinError(
                f"bone {bone.name!r}: degree of freedom {self.freedom} of its {joint.type} joint is no single angle"
            )
        value = robot.model.joint_values(read_configuration(obj, robot))[joint.name]
        start = value if isinstance(value, float) else value[self.freedom - 1]
        limits = arc_limits(self.first, self.second, start)
        settings = bone.robokin
        if joint.type == "continuous":
            settings.joint_type = "revolute"
        for name, limit in zip(("lower", "upper"), limits, strict=True):
            field = bound_field(name, self.freedom - 1)
            setattr(settings, field, limit)
            setattr(settings, f"use_{field}", True)
        return {"FINISHED"}


def _bone(obj: bpy.types.Object, robot: Binding, name: str) -> bpy.types.Bone:
    """Raises RobokinError when there is no such joint, or none is active."""
    if name:
        if name not in robot.joint_of_bone:
            raise UnknownNameError("joint bone", name, robot.bones)
        return obj.data.bones[robot.own_bone(name)]
    active = obj.data.bones.active
    if active is None or active.name not in robot.joint_of_bone:
        raise RobokinError(f"select the bone of a turning joint of {obj.name!r}")
    return obj.data.bones[robot.own_bone(active.name)]


def _turns(joint: Joint, freedom: int) -> bool:
    """Whether the coordinate is an angle (that of a screw is)."""
    motions = joint.kind.motions
    return freedom < len(motions) and motions[freedom] in (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL)


CLASSES = (ROBOKIN_OT_limits_from_arc,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
