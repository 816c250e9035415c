"""What every operator on a robot shares: which robot, why not, and errors as one reported line."""

from __future__ import annotations

import json
from pathlib import Path

import bpy

from ..properties.active_robot import active_robot, why_no_robot
from ..robokin import RobokinError


class RobotOperator:
    """Mixin: `run(context, obj)` does the work on the robot; a RobokinError becomes a report and CANCELLED."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = active_robot(context)
        if obj is None:
            cls.poll_message_set(why_no_robot(context))
            return False
        if not obj.is_editable:
            cls.poll_message_set(f"{obj.name!r} is linked from another file: make a library override first")
            return False
        return True

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            return self.run(context, active_robot(context))
        except RobokinError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        raise NotImplementedError

    def given(self, name: str, otherwise: object) -> object:
        """The operator's property `name` when it was set, else `otherwise` (usually the robot's own setting)."""
        return getattr(self, name) if self.properties.is_property_set(name) else otherwise


def write_json(path: str, data: object) -> None:
    """Write a report. Raises RobokinError when the file cannot be written."""
    target = Path(bpy.path.abspath(path))
    try:
        target.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as fault:
        raise RobokinError(f"{target}: cannot write the report ({fault.strerror or fault})") from None
