"""Drag Joint: one degree of freedom of a joint, or one of its limits, goes along with the mouse."""

from __future__ import annotations

import math
from dataclasses import dataclass

import bpy
import numpy as np

from ...properties.bridge import (
    Binding,
    binding,
    read_configuration,
    refuse_linked_bones,
    world_from_root,
    write_configuration,
)
from ...properties.bridge.pose.motion_frames import motion_frames
from ...properties.bridge.record.fields import bound_field
from ...properties.handlers import posing_paused
from ...properties.results.result_text import quantity_text
from ...properties.selected.active_robot import active_robot
from ...robokin import RobokinError, UnknownNameError
from ...robokin.arrays import Array
from ...robokin.model.joint_types import MotionPrimitive
from ...robokin.model.tree import axis_to_z
from ...robokin.spatial import quaternion
from ...robokin.units import counted
from ...scene.animation.curves import refuse_driven
from ..tools.gesture import settle
from .drag_operator import DragOperator
from .mouse_drag import Sliding, Turning, snapped

ENDS = (
    ("VALUE", "Value", "The joint moves"),
    ("LOWER", "Lower Limit", "Its lower limit moves"),
    ("UPPER", "Upper Limit", "Its upper limit moves"),
)
STEPS = {"ROTATION": (math.radians(5.0), math.radians(1.0)), "LENGTH": (0.01, 0.001)}  # with Ctrl, and Shift too


@dataclass(frozen=True)
class Freedom:
    """One degree of freedom of a joint. node: in the compiled tree.   kind: "ROTATION" or "LENGTH".   axis: (3,) in the
    node's frame.   index: among those of its joint."""

    node: int
    kind: str
    axis: Array
    index: int
    is_ball: bool


def freedoms(robot: Binding, joint: str) -> list[Freedom]:
    """What can be dragged of a joint: nothing of a floating one, which Blender's own tools move and turn."""
    model, found = robot.model, []
    for node in np.flatnonzero(model.tree.node_joint == model.joint_index(joint)).tolist():
        motion = MotionPrimitive(model.tree.motion[node])
        if motion is MotionPrimitive.BALL:
            axes = model.limits.ball_axes(int(model.tree.iq[node]))
            found += [Freedom(node, "ROTATION", axes[:, i], i, True) for i in range(3)]
        elif motion.has_axis:
            kind = "LENGTH" if motion is MotionPrimitive.TRANSLATION else "ROTATION"
            found.append(Freedom(node, kind, np.array([0.0, 0.0, 1.0]), len(found), False))
    return found


def moved_configuration(robot: Binding, q: Array, freedom: Freedom, value: float) -> Array:
    """(nq,) q with the freedom at a value of its own coordinate, inside its limits; of a ball, turned by it about its
    own axis, which `write_configuration` keeps in its cone."""
    tree, q = robot.model.tree, np.array(q, float)
    iq = int(tree.iq[freedom.node])
    if freedom.is_ball:
        q[iq : iq + 4] = quaternion.multiply(q[iq : iq + 4], quaternion.exp(value * freedom.axis))
    else:
        own = (value - tree.offset[freedom.node]) / tree.scale[freedom.node]
        q[iq] = min(max(own, tree.lower[iq]), tree.upper[iq])
    return q


def clamped(robot: Binding, freedom: Freedom, value: float) -> float:
    """The value that a freedom can have which is nearest; of a ball any."""
    if freedom.is_ball:
        return value
    q = moved_configuration(robot, robot.model.neutral(), freedom, value)
    return present_value(robot, q, freedom)


def present_value(robot: Binding, q: Array, freedom: Freedom) -> float:
    """The value of its own coordinate; 0 of a ball."""
    if freedom.is_ball:
        return 0.0
    tree = robot.model.tree
    return float(tree.scale[freedom.node] * q[tree.iq[freedom.node]] + tree.offset[freedom.node])


class ROBOKIN_OT_drag_joint(DragOperator, bpy.types.Operator):
    """Drag to move the joint inside its limits. Ctrl snaps, Shift is finer, numbers are typed"""

    bl_idname = "robokin.drag_joint"
    bl_label = "Drag Joint"

    bone: bpy.props.StringProperty(
        name="Bone", description="Bone of the joint; empty: the active one", options={"SKIP_SAVE"}
    )
    freedom: bpy.props.IntProperty(
        name="Freedom",
        description="Which of the joint's degrees of freedom",
        default=1,
        min=1,
        max=3,
        options={"SKIP_SAVE"},
    )
    end: bpy.props.EnumProperty(name="End", description="What is moved", items=ENDS, options={"SKIP_SAVE"})
    angle: bpy.props.FloatProperty(
        name="Angle",
        description="Angle of a turning joint; of a ball, the angle by which it turns",
        subtype="ANGLE",
        options={"SKIP_SAVE"},
    )
    length: bpy.props.FloatProperty(
        name="Position", description="Length of a sliding joint", subtype="DISTANCE", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        chosen = self._chosen(obj, robot)
        unit = robot.metres_per_unit if chosen.kind == "LENGTH" else 1.0
        value = (self.length if chosen.kind == "LENGTH" else self.angle) * unit
        with posing_paused():
            self._put(context, obj, robot, chosen, read_configuration(obj, robot), value)
            self._key(context, obj)
        return {"FINISHED"}

    def _chosen(self, obj: bpy.types.Object, robot: Binding) -> Freedom:
        """Raises RobokinError when there is no such freedom."""
        name = self.bone or (obj.data.bones.active.name if obj.data.bones.active else "")
        if name not in robot.joint_of_bone:
            raise UnknownNameError("joint bone", name, robot.bones)
        joint = robot.joint_of_bone[name]
        self.bone = robot.own_bone(name)
        found = freedoms(robot, joint.name)
        if self.freedom > len(found):
            many = counted(len(found), "degree of freedom", "degrees of freedom")
            raise RobokinError(f"bone {name!r}: its {joint.type} joint has {many} to drag")
        if self.end != "VALUE" and (found[0].is_ball or joint.mimic is not None):
            raise RobokinError(f"bone {name!r}: the limits of its joint cannot be dragged")
        if self.end == "VALUE":
            refuse_driven(obj, robot, robot.model.slot(joint.name).q)
        return found[self.freedom - 1]

    def _put(
        self,
        context: bpy.types.Context,
        obj: bpy.types.Object,
        robot: Binding,
        freedom: Freedom,
        q: Array,
        value: float,
    ) -> None:
        if self.end == "VALUE":
            write_configuration(obj, moved_configuration(robot, q, freedom, value), robot)
            return
        refuse_linked_bones(obj)
        settings, other = obj.data.bones[self.bone].robokin, "upper" if self.end == "LOWER" else "lower"
        field, other = bound_field(self.end.lower(), freedom.index), bound_field(other, freedom.index)
        if getattr(settings, f"use_{other}"):
            bound = getattr(settings, other)
            value = min(value, bound) if self.end == "LOWER" else max(value, bound)
        setattr(settings, field, value)
        setattr(settings, f"use_{field}", True)

    def _key(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        if self.end == "VALUE":
            settle(context, obj)

    # -- with the mouse ------------------------------------------------------------------------------------------------

    def begin(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> Turning | Sliding:
        robot = binding(obj)
        self._freedom = chosen = self._chosen(obj, robot)
        self._q = read_configuration(obj, robot)
        self._name = robot.joint_of_bone[self.bone].name
        mimic = robot.joint_of_bone[self.bone].mimic
        self._with = f"   moves {mimic.joint}, which it follows" if mimic else ""
        self._which = f" axis {chosen.index + 1}" if len(freedoms(robot, self._name)) > 1 else ""
        tree, index = robot.model.tree, chosen.index
        settings = obj.data.bones[self.bone].robokin
        field = bound_field(self.end.lower(), index) if self.end != "VALUE" else ""
        self._before = (field, getattr(settings, field), getattr(settings, f"use_{field}")) if field else None
        self._start = self._before[1] if self._before else present_value(robot, self._q, chosen)
        self._value = self._start
        world = world_from_root(obj, None, robot)
        world[:3] /= robot.metres_per_unit
        before, after = motion_frames(tree, self._q, world)
        T = after[chosen.node] @ _turned_to(chosen.axis) if chosen.is_ball else before[chosen.node]
        ray = self.ray(context, event)
        if chosen.kind == "LENGTH":
            return Sliding(T, *ray)
        bone = obj.pose.bones[self.bone]
        size = bone.custom_shape_scale_xyz[0] if bone.custom_shape else bone.length
        return Turning(T, *ray, max(abs(size) * robot.metres_per_unit, 1e-6))

    def apply(self, context: bpy.types.Context, obj: bpy.types.Object, event: bpy.types.Event) -> None:
        self._value = self._wanted(context, event)
        self._put(context, obj, binding(obj), self._freedom, self._q, self._value)
        if self.end != "VALUE":
            write_configuration(obj, self._q)  # a limit pushes its joint, and lets it come back

    def _wanted(self, context: bpy.types.Context, event: bpy.types.Event) -> float:
        typed = self._number(context)
        if typed is not None:
            return typed
        value = self._start + self.moved
        if self.snap.is_held:
            value = snapped(value, STEPS[self._freedom.kind][event.shift])
        return value if self.end != "VALUE" else clamped(binding(active_robot(context)), self._freedom, value)

    def _number(self, context: bpy.types.Context) -> float | None:
        """What is typed, in the unit that the scene shows; None when it is no number yet."""
        if self._freedom.kind == "LENGTH" and (typed := self.typed.length(context.scene)) is not None:
            return typed * binding(active_robot(context)).metres_per_unit
        return self.typed.angle(context.scene)

    def header_text(self, context: bpy.types.Context) -> str:
        shown = quantity_text(context.scene, self._freedom.kind, self._value)
        what = {"VALUE": "", "LOWER": " lower limit", "UPPER": " upper limit"}[self.end]
        return f"{self._name}{self._which}{what}: {shown}{self._with}"

    def keep(self, context: bpy.types.Context, obj: bpy.types.Object) -> None:
        if self._freedom.kind == "LENGTH":
            self.length = self._value / binding(obj).metres_per_unit
        else:
            self.angle = self._value
        self._key(context, obj)

    def put_back(self, obj: bpy.types.Object) -> None:
        if self._before is not None:
            settings, (field, value, used) = obj.data.bones[self.bone].robokin, self._before
            setattr(settings, field, value)
            setattr(settings, f"use_{field}", used)
        write_configuration(obj, self._q)


def _turned_to(axis: Array) -> Array:
    """(4, 4) turn whose Z is an axis (3,)."""
    T = np.eye(4)
    T[:3, :3] = axis_to_z(axis)
    return T


CLASSES = (ROBOKIN_OT_drag_joint,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
