"""Which frames the curves break while they are edited: judged in slices while Blender is idle, anew when a curve, a
task, a target or a limit has changed. What is drawn holds the plain result."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ...properties.bridge import binding
from ...properties.results import readouts
from ...properties.results.readouts import BrokenFrames
from ...robokin import RobokinError
from ...scene.animation.frames import chosen_span
from ...scene.bake.retime import set_limits
from ...scene.repair.broken_frames import broken_steps
from ..idle_work import IdleWork
from .scene_marks import present_mark

_work: IdleWork[BrokenFrames] = IdleWork("judging curves as they are edited", is_finished_first=True)


def edited_frames(obj: bpy.types.Object) -> BrokenFrames | None:
    """What was judged last; None before that, without keys, and where keys alone do not move the robot."""
    data = obj.animation_data
    if data is None or data.action is None:
        return None
    scene, settings = bpy.context.scene, obj.robokin.solver
    try:
        robot = binding(obj)
        mark, limits = present_mark(obj, robot), set_limits(obj, robot)
    except RobokinError:
        return None
    arguments = scene.name, *chosen_span(scene, settings), settings.step, settings.efforts
    return _work.result(obj, "", (mark, *arguments, repr(limits)), lambda: _judged(obj.name, *arguments, limits))


def finish_work() -> None:
    """Do all that waits, at once."""
    _work.finish()


def _judged(
    name: str, scene_name: str, first: int, last: int, step: int, efforts: bool, limits: dict[str, object]
) -> Generator[float, None, BrokenFrames | None]:
    scene, obj = bpy.data.scenes.get(scene_name), bpy.data.objects.get(name)
    if scene is None or obj is None or last < first:
        return None
    frames = range(first, last + 1, step)
    return (yield from broken_steps(scene, bpy.context.view_layer, obj, frames, efforts, limits))


def register() -> None:
    _work.register()
    readouts.broken, readouts.broken_count = edited_frames, lambda: _work.count


def unregister() -> None:
    readouts.broken, readouts.broken_count = readouts.not_judged, readouts.never
    _work.unregister()
