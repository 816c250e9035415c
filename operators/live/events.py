"""When robots follow their targets: once for each update of the scene and each frame, never in a render, and not while
work goes on that holds them or visits frames."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import bpy

from ...properties.bridge import Binding, Changes, changes_in, read_configuration
from ...properties.bridge.belonging import has_object
from ...properties.handlers import add_handler, going_on, is_posing_paused, remove_handler, stay_awake
from ...properties.results import readouts
from ...properties.results.change_marks import once_for_each_change
from ...properties.results.readouts import LiveReadout, not_live
from ...robokin.arrays import Array, farthest
from ...scene.live.chains import Moves, in_order
from ...scene.live.readout import live_readout
from ...scene.live.residuals import LiveResiduals
from ...scene.live.robots import live_robots, live_robots_of_file
from ...scene.live.session import SAME, Event, Session
from ..handlers.hand_limits import transform_running
from . import rendering

MOMENT = 0.02  # [s] for the window between two looks of a robot that awaits something
ROUNDS = 5  # that robots which hang on one another in a circle look at each other again
_UNITS = attrgetter("system", "length_unit", "system_rotation", "scale_length")  # a change is no update

_sessions: dict[int, Session] = {}
# restored: by undo, or from a file.   anew: an update was missed.   robots: names of those that were live at the last
# one of a scene.   is_on: whether any robot of the file is live, or may be.
_state: dict[str, Any] = {"rounds": ROUNDS, "is_busy": False, "is_restored": False, "robots": (0, [])}
_state.update(is_anew=True, is_on=True)


def follow_changes(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes) -> None:
    _follow(scene, depsgraph, changes)


def follow_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not bpy.data.armatures:
        return
    changes = changes_in(depsgraph)
    if _state["is_on"] or changes.armatures:  # Blender lists actions that nobody has changed
        _follow(scene, depsgraph, changes._replace(actions=frozenset()), is_frame=True)


def _follow(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, changes: Changes, is_frame: bool = False) -> None:
    if depsgraph.mode != "VIEWPORT":
        return
    if _state["is_busy"] or is_posing_paused() or rendering.is_rendering():
        _look_anew()
        return
    robots = _robots(scene, is_frame or changes.scene or bool(changes.armatures) or _state["is_anew"])
    if not robots:
        _state["is_anew"] = False
        return
    _state["is_busy"] = True
    try:
        _follow_all(scene, depsgraph, robots, changes, is_frame)
    finally:
        _state["is_busy"] = False


def _robots(scene: bpy.types.Scene, is_anew: bool) -> list[bpy.types.Object]:
    """The live ones in order. is_anew: something was changed that may say which they are."""
    uid, known = _state["robots"]
    if uid == scene.session_uid and not is_anew:
        return in_order([bpy.data.objects[name, None] for name in known])
    found = live_robots_of_file()
    _set_on(bool(found))
    robots = in_order([obj for obj in found if has_object(scene, obj)])
    _state["robots"] = scene.session_uid, [obj.name for obj in robots]
    for gone in _sessions.keys() - {obj.session_uid for obj in robots}:
        del _sessions[gone]
    for obj in robots:
        _sessions.setdefault(obj.session_uid, Session())
    return robots


def _follow_all(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    robots: Sequence[bpy.types.Object],
    changes: Changes,
    is_frame: bool,
) -> None:
    moves = Moves()
    actions = frozenset() if _state["is_restored"] else changes.actions
    is_anew, _state["is_anew"] = changes.scene or _state["is_anew"], False
    is_dragging = not is_frame and transform_running()
    event = Event(scene, depsgraph, moves, changes.armatures, actions, is_anew, is_frame, is_dragging)
    is_posed = False
    for obj in robots:
        session = _sessions[obj.session_uid]
        if _state["is_restored"]:
            session.restore()
        with going_on("following targets"):
            if session.look(obj, event) and session.robot is not None and session.q is not None:
                is_posed = True
                moves.note(obj, session.robot, session.q)
    _state["is_restored"] = False
    rendering.watch()
    if is_posed and len(robots) > 1:
        _look_again_soon()
    else:
        _state["rounds"] = ROUNDS
        if any(session.awaits for session in _sessions.values()):
            _look_again_after(MOMENT)


def _look_again_soon() -> None:
    """What hangs on a robot by constraints is where it belongs only after this update."""
    if bpy.app.background or not _state["rounds"]:
        _state["rounds"] = ROUNDS
        return
    _state["rounds"] -= 1
    _look_again_after(0.0)


def _look_again_after(seconds: float) -> None:
    if not bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.register(_look_again, first_interval=seconds)


def _look_again() -> None:
    for obj in live_robots(bpy.context.scene):
        obj.update_tag(refresh={"OBJECT"})


def _set_on(is_on: bool) -> None:
    """While no robot is live nothing is asked at a change of anything else."""
    _state["is_on"] = is_on
    stay_awake(follow_changes, is_on)


def _look_anew() -> None:
    _state["is_anew"] = True
    _set_on(True)


def _restore(*_: object) -> None:
    _state["is_restored"] = True
    _look_anew()


def _forget(*_: object) -> None:
    _sessions.clear()
    _restore()


def _readout(obj: bpy.types.Object) -> LiveReadout | None:
    session, settings = _sessions.get(obj.session_uid), obj.robokin.solver
    if session is None:
        return None
    said = session.problem, session.is_searched, settings.status, settings.reason
    return _shown_readout(obj, *said, *_UNITS(bpy.context.scene.unit_settings))


@once_for_each_change
def _shown_readout(obj: bpy.types.Object, problem: str, is_searched: bool, *_also: object) -> LiveReadout:
    return live_readout(obj, problem, is_searched)


def stand(obj: bpy.types.Object, robot: Binding) -> None:
    """The pose that the robot has is the best that a search found: Live says its reason until something changes."""
    if (session := _sessions.get(obj.session_uid)) is not None:
        session.stand(read_configuration(obj, robot))


def residuals_now(obj: bpy.types.Object, robot: Binding) -> tuple[LiveResiduals, Array] | None:
    """What following has found, and the pose q (nq,), where the robot, its tasks and targets are as they were then."""
    session = _sessions.get(obj.session_uid)
    if session is None or session.residuals is None or session.robot is not robot or _state["is_anew"]:
        return None
    q = read_configuration(obj, robot)
    return (session.residuals, q) if session.residuals.holds(obj) and farthest(q, session.q) <= SAME else None


_HANDLERS = (
    ("change", follow_changes),
    ("frame_change_post", follow_frame),
    ("undo_post", _restore),
    ("redo_post", _restore),
    ("load_post", _forget),
)


def register() -> None:
    for event, handler in _HANDLERS:
        add_handler(event, handler)
    _look_anew()
    readouts.live = _readout


def unregister() -> None:
    readouts.live = not_live
    for event, handler in reversed(_HANDLERS):
        remove_handler(event, handler)
    if bpy.app.timers.is_registered(_look_again):
        bpy.app.timers.unregister(_look_again)
    _sessions.clear()
    _state.update(rounds=ROUNDS, is_restored=False, is_anew=True)
