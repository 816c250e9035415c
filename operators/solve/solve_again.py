"""Solve These Frames Again: what the curves break after an edit, the rest left as it is."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...robokin.units import counted
from ...scene.repair.again import repair_steps
from ..common import FramesOperator, check_report
from ..modal import ModalOperator


class ROBOKIN_OT_solve_again(ModalOperator, FramesOperator, bpy.types.Operator):
    """Solve only the frames that miss a task or break a limit, from the frame before them into those after; all other
    frames stay as they are (Esc stops, and writes nothing)"""

    bl_idname = "robokin.solve_again"
    bl_label = "Solve These Frames Again"

    report_path: bpy.props.StringProperty(
        name="Report", description="Write the report as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        frames = self.frames(context.scene, obj.robokin.solver)
        result = yield from repair_steps(context.scene, context.view_layer, obj, frames)
        self.write_report(self.report_path, result.to_dict())
        self.report({"WARNING" if result.after else "INFO"}, f"{counted(len(frames), 'frame')}: {result.summary()}")


CLASSES = (ROBOKIN_OT_solve_again,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
