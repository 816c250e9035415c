"""What following has found of the tasks, for as long as it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import bpy

from ...robokin.arrays import Array
from ...scene.tasks.targets import world_matrix
from ...solvers import Task
from .inputs import RobotFields, kept_worlds, read_lists


@dataclass(frozen=True, eq=False)
class LiveResiduals:
    """fields, worlds: what was followed.   places: in the list, of the tasks that count.   forms: of these, in the
    solver's form.   values: (tasks, 2) residuals of their parts.   unit: metres in a Blender unit."""

    fields: RobotFields
    worlds: dict[tuple[int, str], bytes]
    places: Sequence[int]
    forms: Sequence[Task]
    values: Array
    unit: float

    def holds(self, obj: bpy.types.Object) -> bool:
        """Whether tasks and targets are as they were: Blender may have moved some after Live had looked."""
        if self.fields.lists != read_lists(obj):
            return False
        places = self.fields.places([obj.robokin.tasks[i] for i in self.fields.followed])
        every = {(obj, ""), *(place for own in places for place in own.values())}
        return self.worlds == kept_worlds({place: world_matrix(place) for place in every})
