"""Add > Armature > Robot > Examples: ready scenes, with targets and tasks, to be baked."""

from __future__ import annotations

import bpy

from ...properties.bridge.visuals.new_data import all_or_nothing
from ...scene.examples import EXAMPLES
from ..common import ReportingOperator
from .first_look import show


class ROBOKIN_OT_add_example(ReportingOperator, bpy.types.Operator):
    """Add a robot with a task to do at the 3D cursor: press Bake then"""

    bl_idname = "robokin.add_example"
    bl_label = "Add Robot Example"

    example: bpy.props.EnumProperty(
        name="Example",
        description="Which scene",
        items=[(each.name, each.label, each.description) for each in EXAMPLES.values()],
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        return EXAMPLES[properties.example].description

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if context.mode != "OBJECT":
            cls.poll_message_set("Go to Object Mode")
        return context.mode == "OBJECT"

    def work(self, context: bpy.types.Context) -> set[str]:
        with all_or_nothing():
            robot = EXAMPLES[self.example].make(context)
        notes = show(context, robot)
        last = context.scene.frame_end
        self.report({"INFO"}, "; ".join([f"{robot.name!r} and its tasks, frames 1 to {last}: press Bake", *notes]))
        return {"FINISHED"}


class ROBOKIN_MT_add_example(bpy.types.Menu):
    bl_idname = "ROBOKIN_MT_add_example"
    bl_label = "Examples"

    def draw(self, context: bpy.types.Context) -> None:
        for each in EXAMPLES.values():
            self.layout.operator(ROBOKIN_OT_add_example.bl_idname, text=each.label).example = each.name


CLASSES = (ROBOKIN_OT_add_example, ROBOKIN_MT_add_example)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
