"""Where a robot's list of moves will go, for what is drawn: followed in slices while Blender is idle, anew when the
list, what it names or its start has changed."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import bpy
import numpy as np

from ...properties.bridge import Binding, binding, read_configuration
from ...properties.results import readouts
from ...properties.results.change_marks import MARKS
from ...properties.results.readouts import ShownMoves
from ...robokin import RobokinError, clamp
from ...robokin.arrays import Array
from ...scene.animation.curves import refuse_driven, shown_by_keys
from ...scene.bake.moves import drives_gravity, keyed_progress, led_move
from ...scene.bake.retime import set_limits
from ...solvers.program.preview import preview_steps
from ..idle_work import IdleWork

DIGITS = 5  # of places that count as others

_work: IdleWork[ShownMoves] = IdleWork("previewing moves", is_finished_first=True)


def shown_moves(obj: bpy.types.Object) -> ShownMoves | None:
    """The preview as it was made last; None without moves, and before it is made."""
    if not len(obj.robokin.moves):
        return None
    if _is_playing():
        return _work.last(obj, "")
    try:
        robot = binding(obj)
        q0, frame = _start(obj, robot)
    except RobokinError:
        return None
    mark = robot.model, np.round(q0, DIGITS).tobytes(), frame, *_limits(obj, robot), *_dependencies(obj)
    return _work.result(obj, "", mark, lambda: _previewed(obj.name, q0, frame))


def finish_work() -> None:
    """Do all that waits, at once."""
    _work.finish()


def _is_playing() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


def _start(obj: bpy.types.Object, robot: Binding) -> tuple[Array, int | None]:
    """(nq,) the present pose, and None; at other frames than that where the moves were baked, the pose of the keys
    there, and that frame."""
    first = obj.robokin.moves[0]
    if first.last > first.first != bpy.context.scene.frame_current:
        found = shown_by_keys(obj, [first.first], robot)
        if found is not None:
            return found[0], first.first
    return read_configuration(obj, robot), None


def _dependencies(obj: bpy.types.Object) -> Iterator[object]:
    """All that the paths of the moves depend on."""
    data = obj.animation_data
    yield () if data is None else tuple((each.data_path, each.array_index, each.mute) for each in data.drivers)
    yield tuple((item.name, item.values) for item in obj.robokin.postures)
    own = obj.matrix_world.inverted_safe()
    for item in obj.robokin.moves:
        yield item.name, item.kind, item.posture, item.tip, round(item.blend, DIGITS), item.tool_speed > 0.0
        for each in (item.target, item.via):
            yield None if each is None else np.round(np.array(own @ each.matrix_world), DIGITS).tobytes()
        yield _timing(obj, item)
        if item.kind == "CURVE":
            yield MARKS.curves


def _limits(obj: bpy.types.Object, robot: Binding) -> tuple[str, bytes | None]:
    """Limits of drives and tools, and the gravity that the drives are under."""
    limits = set_limits(obj, robot)
    gravity = drives_gravity(obj, robot, obj.robokin.solver.efforts, limits)
    return repr(limits), None if gravity is None else gravity.tobytes()


def _timing(obj: bpy.types.Object, item: bpy.types.PropertyGroup) -> object:
    """What a move that is timed by hand depends on besides its path."""
    try:
        progress = keyed_progress(obj, item)
    except RobokinError as problem:  # which the preview shows
        return str(problem)
    return None if progress is None else (progress.tobytes(), item.speed, item.tool_speed)


def _previewed(name: str, q0: Array, frame: int | None) -> Generator[float, None, ShownMoves]:
    obj = bpy.data.objects[name]
    robot, moves, problem = binding(obj), [], ""
    model = robot.model_at(q0)
    names = obj.robokin.moves.keys()
    for item in obj.robokin.moves:
        try:
            refuse_driven(obj, robot)
            moves.append(led_move(obj, robot, item))
        except RobokinError as error:  # those before it can be shown
            problem = str(error)
            break
    limits = set_limits(obj, robot)
    gravity = drives_gravity(obj, robot, obj.robokin.solver.efforts, limits)
    found = yield from preview_steps(model, moves, clamp(model, q0), limits, gravity)
    failing = len(moves) if problem and not found.problem else found.failing
    return ShownMoves(tuple(names), found.q, found.owner, found.problem or problem, failing, frame)


def register() -> None:
    _work.register()
    readouts.moves, readouts.moves_count = shown_moves, lambda: _work.count


def unregister() -> None:
    readouts.moves, readouts.moves_count = readouts.no_moves, readouts.never
    _work.unregister()
