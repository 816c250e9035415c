"""What operators on the lists of a robot share: which entry, removing and moving it."""

from __future__ import annotations

from typing import ClassVar

import bpy

from ...scene.animation.lists import move_entry, remove_entry
from ..common import RobotOperator


class EntryOperator(RobotOperator):
    """Mixin: an operator on one entry of a list of the robot."""

    index: bpy.props.IntProperty(
        name="Index", description="Which entry; -1: the active one", default=-1, min=-1, options={"SKIP_SAVE"}
    )


class RemoveEntryOperator(EntryOperator):
    """Mixin: removes an entry of the list `entries`."""

    entries: ClassVar[str]

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        remove_entry(obj, self.entries, self.index)
        return {"FINISHED"}


class MoveEntryOperator(EntryOperator):
    """Mixin: moves an entry of the list `entries` up or down."""

    entries: ClassVar[str]
    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Which way in the list",
        items=(("UP", "Up", "One place up"), ("DOWN", "Down", "One place down")),
    )

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        return {"FINISHED"} if move_entry(obj, self.entries, self.index, self.direction) else {"CANCELLED"}
