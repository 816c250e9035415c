"""What the criteria of a robot say of what it shows now: costs and slopes, while Blender draws."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...properties.bridge import Binding, binding_held, read_configuration
from ...properties.frame_rate import frame_seconds
from ...properties.handlers import going_on
from ...properties.results import readouts
from ...properties.results.change_marks import MARKS
from ...properties.results.readouts import CriterionReadout
from ...properties.results.redraw import redraw
from ...robokin import RobokinError, difference
from ...robokin.arrays import Array
from ...scene.animation.curves import shown_by_keys
from ...scene.criteria.costs import cost, steepness
from ...scene.criteria.solver_criteria import root_gravity, solver_criterion
from ...scene.obstacle_shapes import AwaitedError
from ...scene.surroundings import still_collisions
from ...scene.tasks.shown_shapes import missing_shapes, read_shapes, shape_count, shown_shape
from ...scene.tasks.solver_tasks import SolverTasks, enabled_tasks
from ...scene.tasks.targets import places_of, targets_shown, world_matrix
from ...solvers.kinematics.state import State
from ...solvers.velocity.task_levels import TaskLevels

Velocities = tuple[Array, Array, float]

PULLS = 4  # joints that a readout names
WEAK = 1e-3  # of the strongest pull: what is weaker is not named

SAME = 1e-6  # [rad, m] a pose that is no farther from that of the keys is theirs

SLOW = 0.001  # [s] what takes longer does not make a redraw wait
MOMENT = 0.02  # [s] between two looks at what is awaited
PAUSE = 5.0  # times as long as it took before it is computed again

_last: dict[int, dict] = {}  # of each robot, by its object's session_uid


def criteria_readouts(obj: bpy.types.Object, may_wait: bool = True) -> Sequence[CriterionReadout]:
    """One for each criterion of the list, at the present pose, with the velocity that the keys give it; a pose that is
    not that of the keys is at rest. Computed anew only when something changed. may_wait: what was slow is shown as it
    was, and computed soon after."""
    may_wait = may_wait and _draws()
    scene = bpy.context.scene
    of = MARKS.scene, scene.session_uid, scene.unit_settings.scale_length, *obj.robokin.criteria.keys()
    last = _last_of(obj)
    if may_wait and last.get("of") == of:
        return last["shown"]
    try:
        with binding_held(obj) as robot:
            shown = _shown(obj, robot, may_wait)
    except RobokinError as error:
        if isinstance(error, AwaitedError):
            _compute_soon(obj, MOMENT)
        return [CriterionReadout(None, problem=str(error)) for _ in obj.robokin.criteria]
    last["of"] = of if shown is last.get("shown") else None
    return shown


def _last_of(obj: bpy.types.Object) -> dict:
    if obj.session_uid not in _last:
        present = {each.session_uid for each in bpy.data.objects}
        for uid in _last.keys() - present:
            del _last[uid]
    return _last.setdefault(obj.session_uid, {})


def _shown(obj: bpy.types.Object, robot: Binding, may_wait: bool) -> Sequence[CriterionReadout]:
    tasks = enabled_tasks(obj, robot)
    missing = missing_shapes(obj, tasks)
    if missing and may_wait:  # what draws may not make the data that it takes to read a curve
        _compute_soon(obj, 0.0)
        return [CriterionReadout(None) for _ in obj.robokin.criteria]
    read_shapes(obj, missing)
    q = read_configuration(obj, robot)
    motion = _motion(bpy.context.scene, obj, robot, q)
    numbers = (bytes(np.asarray(part).data) for part in motion)
    key = (robot.model, q.tobytes(), *numbers, *_contents(obj, tasks))
    last, names = _last_of(obj), obj.robokin.criteria.keys()
    if last.get("key") == key:
        return last["shown"]
    seconds = last.get("seconds", max(each.get("seconds", 0.0) for each in _last.values()))
    if may_wait and seconds > SLOW:
        _compute_soon(obj, PAUSE * seconds)
        before = last["shown"] if last.get("names") == names else [CriterionReadout(None) for _ in names]
        return [replace(readout, is_present=False) for readout in before]
    started = time.perf_counter()
    state = _state(obj, robot, tasks, q, motion)
    shown = [_readout(obj, item, state, motion[0]) for item in obj.robokin.criteria]
    last.update(key=key, shown=shown, names=names, seconds=time.perf_counter() - started)
    return shown


_waiting: set[str] = set()


def _draws() -> bool:
    """Whether values are asked for while Blender draws: nobody sees them elsewhere but scripts."""
    return not bpy.app.background


def _compute_soon(obj: bpy.types.Object, seconds: float) -> None:
    _waiting.add(obj.name)
    _start_timer(seconds)


def _start_timer(seconds: float) -> None:
    if not bpy.app.timers.is_registered(_compute_waiting):
        bpy.app.timers.register(_compute_waiting, first_interval=seconds)


def _compute_waiting() -> float | None:
    names = [*_waiting]
    _waiting.clear()
    for name in names:
        obj = bpy.data.objects.get(name)
        if obj is not None:
            with going_on("computing criteria"):
                criteria_readouts(obj, may_wait=False)
    redraw(bpy.context.window_manager)
    return MOMENT if _waiting else None  # what is awaited still


def _motion(scene: bpy.types.Scene, obj: bpy.types.Object, robot: Binding, q: Array) -> Velocities:
    """(the velocity (nv,), that of the frame before, seconds between two keys) of what is shown."""
    step = obj.robokin.solver.step
    dt = step * frame_seconds(scene)
    model, still = robot.model, np.zeros(robot.model.nv)
    Q = shown_by_keys(obj, scene.frame_current_final - step * np.arange(3), robot)
    if Q is None or not np.allclose(Q[0], q, rtol=0.0, atol=SAME):
        return still, still, dt
    return difference(model, Q[1], q) / dt, difference(model, Q[2], Q[1]) / dt, dt


def _contents(obj: bpy.types.Object, tasks: Sequence[bpy.types.PropertyGroup]) -> Iterator[object]:
    """All beside the pose that costs may depend on; `tasks`: those enabled."""
    yield obj.robokin.solver.mode
    yield root_gravity(obj).tobytes()
    yield shape_count()
    yield tuple(map(tuple, obj.matrix_world))
    if any(item.kind == "FAR_FROM_OBSTACLES" for item in obj.robokin.criteria):
        yield still_collisions(obj)
    for group in (*obj.robokin.tasks, *obj.robokin.criteria, *obj.robokin.postures):
        names = (name for name in group.bl_rna.properties.keys() if name != "rna_type")
        yield tuple(_plain(getattr(group, name)) for name in names)
    for task in tasks:
        yield tuple(world_matrix(place).tobytes() for place in places_of(task).values())


def _plain(value: object) -> object:
    """What may be kept: not Blender's own data, which go with their file."""
    if isinstance(value, bpy.types.ID):
        return value.session_uid
    return value if isinstance(value, (str, int, float, type(None))) else tuple(value)


def _state(
    obj: bpy.types.Object, robot: Binding, tasks: Sequence[bpy.types.PropertyGroup], q: Array, motion: Velocities
) -> State:
    targets = targets_shown(obj, robot, tasks, shown_shape)
    levels = TaskLevels(robot.model, SolverTasks(obj, robot, tasks).at(targets)[1])
    return levels.state(q, levels.targets, motion[2], motion[1])


def _readout(obj: bpy.types.Object, item: bpy.types.PropertyGroup, state: State, v: Array) -> CriterionReadout:
    try:
        value, slope = cost(solver_criterion(obj, item, item.weight, item.gain), state, v)
    except RobokinError as error:
        return CriterionReadout(None, problem=str(error))
    pulls = []
    for joint in state.model.moving_joints:
        steepest = max(slope[state.model.slot(joint.name).v], key=abs)
        if abs(steepest) > WEAK * abs(slope).max():
            pulls.append((joint.name, float(steepest)))
    pulls.sort(key=lambda pull: -abs(pull[1]))
    return CriterionReadout(value, steepness(slope), tuple(pulls[:PULLS]))


def register() -> None:
    readouts.criteria = criteria_readouts


def unregister() -> None:
    readouts.criteria = readouts.nothing
    if bpy.app.timers.is_registered(_compute_waiting):
        bpy.app.timers.unregister(_compute_waiting)
    _last.clear()
    _waiting.clear()
