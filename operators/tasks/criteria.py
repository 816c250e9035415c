"""Adding, removing and ordering the criteria of a robot."""

from __future__ import annotations

import bpy

from ...properties.criteria import KINDS
from ...scene.animation.lists import add_entry
from ..common import RobotOperator
from .entries import MoveEntryOperator, RemoveEntryOperator

_LABELS = {identifier: label for identifier, label, *_ in KINDS}


class ROBOKIN_OT_criterion_add(RobotOperator, bpy.types.Operator):
    """Add a criterion: what to prefer among the motions that the tasks leave free"""

    bl_idname = "robokin.criterion_add"
    bl_label = "Add Criterion"

    kind: bpy.props.EnumProperty(name="Type", description="What is preferred", items=KINDS)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        add_entry(obj, "criteria", _LABELS[self.kind], self.kind)
        return {"FINISHED"}


class ROBOKIN_OT_criterion_remove(RemoveEntryOperator, bpy.types.Operator):
    """Remove the active criterion together with its animation"""

    bl_idname = "robokin.criterion_remove"
    bl_label = "Remove Criterion"
    entries = "criteria"


class ROBOKIN_OT_criterion_move(MoveEntryOperator, bpy.types.Operator):
    """Move the active criterion in the list; its animation follows"""

    bl_idname = "robokin.criterion_move"
    bl_label = "Move Criterion"
    entries = "criteria"


CLASSES = (ROBOKIN_OT_criterion_add, ROBOKIN_OT_criterion_remove, ROBOKIN_OT_criterion_move)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
