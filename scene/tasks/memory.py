"""What Live, Solve and Bake remember from one pose to the next. It is kept with the robot's data, so that undo, files
and copies have it as they have the pose: `Object.robokin.live_memory`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import bpy

from ...robokin import RobokinError, RobotModel
from ...robokin.arrays import Array, farthest
from ...solvers import Task
from ...solvers.tasks.influence import is_partial

SAME = 1e-3  # [rad, m] a pose that is no farther from a remembered one is that: solves end where tolerances are met


@dataclass(frozen=True, eq=False)
class Faded:
    """tasks: names of the tasks that have faded.   q: (nq,) the pose that was shown then.   without: (nq,) where the
    robot would be without them."""

    tasks: tuple[str, ...]
    q: Array
    without: Array


@dataclass(eq=False)
class LiveMemory:
    """origins: (nq,) where each task, by its name, began that is counted from its start.   shown: of the last pose,
    None where nothing has faded.   baked: of the pose where the last bake began."""

    origins: dict[str, Array] = field(default_factory=dict)
    shown: Faded | None = None
    baked: Faded | None = None

    def faded_at(self, q: Array) -> Faded | None:
        """What is remembered of q; None where it is another pose."""
        known = (self.shown, self.baked)
        return next((one for one in known if one is not None and farthest(one.q, q) <= SAME), None)

    def without_at(self, q: Array, tasks: tuple[str, ...]) -> Array | None:
        """(nq,) where a robot that stands at q would be without these tasks; None where it stands elsewhere, or others
        have faded."""
        found = self.faded_at(q)
        return found.without if found is not None and found.tasks == tasks else None


def fading(tasks: Sequence[Task], shares: Sequence[float]) -> tuple[str, ...]:
    """Names of the tasks of partial influence, sorted."""
    return tuple(sorted(task.name for task, share in zip(tasks, shares, strict=True) if is_partial(share)))


def read_memory(obj: bpy.types.Object, model: RobotModel) -> LiveMemory:
    text, memory = obj.robokin.live_memory, LiveMemory()
    if not text:
        return memory
    with suppress(ValueError, TypeError, KeyError, AttributeError, RobokinError):  # of a robot that was another then
        found = json.loads(text)
        memory.origins = {name: model.check_configuration(q) for name, q in found.get("origins", {}).items()}
        memory.shown, memory.baked = (_read_faded(found.get(key), model) for key in ("shown", "baked"))
    return memory


def _read_faded(found: Any, model: RobotModel) -> Faded | None:
    if found is None:
        return None
    q, without = model.check_configuration(found["q"]), model.check_configuration(found["without"])
    return Faded(tuple(map(str, found["tasks"])), q, without)


def write_memory(obj: bpy.types.Object, memory: LiveMemory) -> None:
    found: dict[str, object] = {}
    if memory.origins:
        found["origins"] = {name: q.tolist() for name, q in memory.origins.items()}
    for key, one in (("shown", memory.shown), ("baked", memory.baked)):
        if one is not None:
            found[key] = {"tasks": one.tasks, "q": one.q.tolist(), "without": one.without.tolist()}
    text = json.dumps(found) if found else ""
    if text != obj.robokin.live_memory:
        obj.robokin.live_memory = text


def remember_shown(obj: bpy.types.Object, model: RobotModel, shown: Faded | None) -> None:
    """What fades in the pose that the robot stands in; None: nothing."""
    memory = read_memory(obj, model)
    memory.shown = shown
    write_memory(obj, memory)


def forget_fades(obj: bpy.types.Object) -> None:
    """What tasks began with is kept."""
    with suppress(ValueError, AttributeError):
        origins = json.loads(obj.robokin.live_memory or "{}").get("origins")
        obj.robokin.live_memory = json.dumps({"origins": origins}) if origins else ""


def stand_there(obj: bpy.types.Object, model: RobotModel, q: Array) -> None:
    """The robot stands at q (nq,), and what fades is the same."""
    memory = read_memory(obj, model)
    memory.shown = memory.shown and replace(memory.shown, q=q)
    write_memory(obj, memory)
