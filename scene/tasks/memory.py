"""What Live, Solve and Bake remember from one pose to the next. It is kept with the robot's data, so that undo, files
and copies have it as they have the pose: `Object.robokin.live_memory`."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field

import bpy

from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array, farthest

SAME = 1e-4  # [rad, m] a pose that is no farther from a remembered one is that


@dataclass(eq=False)
class LiveMemory:
    """origins: (nq,) where each task, by its name, began that is counted from its start.   without: (nq,) where the
    robot would be without the tasks that have faded, None where none has.   q: (nq,) the pose that was shown then.
    baked: `q` and `without` where the last bake began."""

    origins: dict[str, Array] = field(default_factory=dict)
    without: Array | None = None
    q: Array | None = None
    baked: tuple[Array, Array] | None = None

    def without_at(self, q: Array) -> Array | None:
        """(nq,) where a robot that stands at q would be without the tasks that have faded; None where q is another pose
        than those remembered."""
        known = [(self.q, self.without), *([self.baked] if self.baked else [])]
        return next((there for pose, there in known if pose is not None and farthest(pose, q) <= SAME), None)


def read_memory(obj: bpy.types.Object, model: RobotModel) -> LiveMemory:
    text, memory = obj.robokin.live_memory, LiveMemory()
    if not text:
        return memory
    with suppress(ValueError, TypeError, AttributeError, RobokinError):  # of a robot that was another then
        found = json.loads(text)
        memory.origins = {name: model.check_configuration(q) for name, q in found.get("origins", {}).items()}
        if found.get("without") is not None:
            memory.without = model.check_configuration(found["without"])
            memory.q = model.check_configuration(found["q"])
        if found.get("baked"):
            pose, there = map(model.check_configuration, found["baked"])
            memory.baked = pose, there
    return memory


def write_memory(obj: bpy.types.Object, memory: LiveMemory) -> None:
    found: dict[str, object] = {}
    if memory.origins:
        found["origins"] = {name: q.tolist() for name, q in memory.origins.items()}
    if memory.without is not None and memory.q is not None:
        found |= {"without": memory.without.tolist(), "q": memory.q.tolist()}
    if memory.baked:
        found["baked"] = [q.tolist() for q in memory.baked]
    text = json.dumps(found) if found else ""
    if text != obj.robokin.live_memory:
        obj.robokin.live_memory = text


def remember_shown(obj: bpy.types.Object, model: RobotModel, q: Array, without: Array | None) -> None:
    """The robot stands at q (nq,), and where it would be without the tasks that fade; None: none fades."""
    memory = read_memory(obj, model)
    memory.q, memory.without = q, without
    write_memory(obj, memory)
