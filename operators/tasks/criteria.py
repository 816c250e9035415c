"""Adding, removing and ordering the criteria of a robot."""

from __future__ import annotations

import bpy

from ...properties.criteria import KINDS
from ...properties.postures import free_name
from ...scene.animation.lists import move_entry, remove_entry
from ..common import RobotOperator

_LABELS = {identifier: label for identifier, label, *_ in KINDS}


class ROBOKIN_OT_criterion_add(RobotOperator, bpy.types.Operator):
    """Add a criterion: what to prefer among the motions that the tasks leave free"""

    bl_idname = "robokin.criterion_add"
    bl_label = "Add Criterion"

    kind: bpy.props.EnumProperty(name="Type", description="What is preferred", items=KINDS)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        criteria = obj.robokin.criteria
        name = free_name(_LABELS[self.kind], {item.name for item in criteria})
        item = criteria.add()
        item.name, item.kind = name, self.kind
        obj.robokin.active_criterion = len(criteria) - 1
        return {"FINISHED"}


class ROBOKIN_OT_criterion_remove(RobotOperator, bpy.types.Operator):
    """Remove the active criterion together with its animation"""

    bl_idname = "robokin.criterion_remove"
    bl_label = "Remove Criterion"

    index: bpy.props.IntProperty(
        name="Index", description="Which criterion; -1: the active one", default=-1, min=-1, options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        remove_entry(obj, "criteria", self.index)
        return {"FINISHED"}


class ROBOKIN_OT_criterion_move(RobotOperator, bpy.types.Operator):
    """Move the active criterion in the list; its animation follows"""

    bl_idname = "robokin.criterion_move"
    bl_label = "Move Criterion"

    index: bpy.props.IntProperty(
        name="Index", description="Which criterion; -1: the active one", default=-1, min=-1, options={"SKIP_SAVE"}
    )
    direction: bpy.props.EnumProperty(name="Direction", items=(("UP", "Up", ""), ("DOWN", "Down", "")))

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        return {"FINISHED"} if move_entry(obj, "criteria", self.index, self.direction) else {"CANCELLED"}


CLASSES = (ROBOKIN_OT_criterion_add, ROBOKIN_OT_criterion_remove, ROBOKIN_OT_criterion_move)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
