"""What following remembers from one pose to the next. It is kept with the robot's data, so that undo, files and copies
have it as they have the pose: `Object.robokin.live_memory`."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field

import bpy

from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array


@dataclass(eq=False)
class LiveMemory:
    """origins: (nq,) where each task, by its name, began that is counted from its start.   without: (nq,) where the
    robot would be without the tasks that have faded, None where none has."""

    origins: dict[str, Array] = field(default_factory=dict)
    without: Array | None = None


def read_memory(obj: bpy.types.Object, model: RobotModel) -> LiveMemory:
    text, memory = obj.robokin.live_memory, LiveMemory()
    if not text:
        return memory
    with suppress(ValueError, TypeError, AttributeError, RobokinError):  # of a robot that was another then
        found = json.loads(text)
        if found.get("without") is not None:
            memory.without = model.check_configuration(found["without"])
        memory.origins = {name: model.check_configuration(q) for name, q in found.get("origins", {}).items()}
    return memory


def write_memory(obj: bpy.types.Object, memory: LiveMemory) -> None:
    text = ""
    if memory.origins or memory.without is not None:
        without = None if memory.without is None else memory.without.tolist()
        text = json.dumps({"origins": {name: q.tolist() for name, q in memory.origins.items()}, "without": without})
    if text != obj.robokin.live_memory:
        obj.robokin.live_memory = text
