"""A captured motion as tasks of the robot: the table of pairs, and the operator that makes tasks of it."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding
from ...properties.pairs.retarget_pairs import RETARGET_KINDS
from ...properties.selected.tips import possible_tips
from ...robokin.units import counted
from ...scene.animation.lists import add_entry
from ...scene.conversion.retarget import check_source, guess_pairs, retarget
from ..common import RobotOperator
from .entries import MoveEntryOperator, RemoveEntryOperator


class ROBOKIN_OT_retarget_pair_add(RobotOperator, bpy.types.Operator):
    """Add a pair for the selected bone of the robot, or its tool"""

    bl_idname = "robokin.retarget_pair_add"
    bl_label = "Add Pair"

    kind: bpy.props.EnumProperty(name="Type", description="What the tip follows", items=RETARGET_KINDS)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        tip = possible_tips(obj, binding(obj))[0]
        add_entry(obj, "retarget_pairs", tip, self.kind).tip = tip
        return {"FINISHED"}


class ROBOKIN_OT_retarget_pair_remove(RemoveEntryOperator, bpy.types.Operator):
    """Remove the active pair; its task stays"""

    bl_idname = "robokin.retarget_pair_remove"
    bl_label = "Remove Pair"
    entries = "retarget_pairs"


class ROBOKIN_OT_retarget_pair_move(MoveEntryOperator, bpy.types.Operator):
    """Move the active pair in the list"""

    bl_idname = "robokin.retarget_pair_move"
    bl_label = "Reorder Pair"
    entries = "retarget_pairs"


class SourceOperator(RobotOperator):
    """Mixin: an operator on the armature whose motion the robot is to follow: that of the robot's setting, or else
    another one that is selected."""

    def source(self, context: bpy.types.Context, obj: bpy.types.Object) -> bpy.types.Object:
        """Raises RobokinError."""
        chosen = obj.robokin.retarget_source
        if chosen is None:
            others = [each for each in context.selected_objects if each.type == "ARMATURE" and each != obj]
            chosen = others[0] if len(others) == 1 else None
        obj.robokin.retarget_source = check_source(obj, chosen)
        return chosen


class ROBOKIN_OT_retarget_guess(SourceOperator, bpy.types.Operator):
    """Pair tips of the robot with bones of the source by their names: feet, pelvis, hands, head"""

    bl_idname = "robokin.retarget_guess"
    bl_label = "Guess Pairs"

    turn_hands: bpy.props.BoolProperty(
        name="Turn Hands", description="Hands turn as the bones do, besides going where they are"
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        guess_pairs(obj, binding(obj), self.source(context, obj), "HAND" if self.turn_hands else "POSITION")
        return {"FINISHED"}


class ROBOKIN_OT_retarget_motion(SourceOperator, bpy.types.Operator):
    """Make tasks whose targets follow the bones of another armature, a captured motion, scaled to the robot. Both
    should stand alike: the robot as it is now, the other armature in its rest pose. Then bake"""

    bl_idname = "robokin.retarget_motion"
    bl_label = "Retarget Motion"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        source, settings = self.source(context, obj), obj.robokin
        base = retarget(obj, binding(obj), source, settings.retarget_scale)
        context.view_layer.update()
        tasks = counted(sum(bool(item.source) for item in settings.retarget_pairs), "task follows", "tasks follow")
        said = f"{tasks} {source.name!r}, scaled by {base.matrix_world.median_scale:.3g}"
        action = source.animation_data.action if source.animation_data else None
        if action is not None:
            first, last = action.frame_range
            said += f", which moves in frames {first:.0f} to {last:.0f}"
        self.report({"INFO"}, said)
        return {"FINISHED"}


CLASSES = (
    ROBOKIN_OT_retarget_pair_add,
    ROBOKIN_OT_retarget_pair_remove,
    ROBOKIN_OT_retarget_pair_move,
    ROBOKIN_OT_retarget_guess,
    ROBOKIN_OT_retarget_motion,
)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
