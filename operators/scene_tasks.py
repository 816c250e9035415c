"""The tasks of a robot as the scene states them: solver tasks, and their targets now or over many frames."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ..properties.bridge import binding, world_from_root
from ..properties.tasks import follow_renamed_tip
from ..robokin import RobokinError, UnknownNameError
from ..solvers import AxisTask, FrameTask, OrientationTask, PoseTask, PositionTask
from . import animation
from .cycles import refuse_cycles

Array = np.ndarray
RobokinTask = bpy.types.PropertyGroup

_CHUNK = 32  # frames of the scene visited between two reports of progress


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of k tasks over n frames. T: (n, k, 4, 4) T_root_target [m]; influence: (n, k)."""

    T: Array
    influence: Array


def enabled_tasks(obj: bpy.types.Object) -> list[RobokinTask]:
    """The tasks that take part. Raises RobokinError naming the task whose tip or target is missing or unusable."""
    tasks = [task for task in obj.robokin.tasks if task.enabled]
    links = binding(obj).link_of_bone
    for task in tasks:
        if not task.tip:
            raise RobokinError(f"task {task.name!r} has no tip: choose one of the robot's bones")
        follow_renamed_tip(task)
        if task.tip not in links:
            raise UnknownNameError(f"tip of task {task.name!r}, a bone,", task.tip, links)
        if task.use_target and task.target is None:
            raise RobokinError(f"task {task.name!r} has no target: choose an object, or hold a fixed pose")
        if task.use_target:
            refuse_cycles(obj, task.target, task.name)
    return tasks


class SolverTasks:
    """The solver's form of tasks, for any targets and influences."""

    def __init__(self, obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> None:
        """Raises BridgeError."""
        links = binding(obj).link_of_bone
        self._tasks = [(task, links[task.tip]) for task in tasks]
        self._levels = obj.robokin.solver.mode == "PRIORITIES"
        self._unit = metres_per_world_unit(obj)

    def at(self, T: Array, influence: Array) -> tuple[list[int], list[FrameTask]]:
        """(the indices of the tasks that count, their solver's form). T: (k, 4, 4); influence: (k,).

        Raises TaskError naming the task.
        """
        counting = np.flatnonzero(influence > 0.0).tolist()
        tasks = []
        for i in counting:
            task, link = self._tasks[i]
            level = task.priority if self._levels else 1
            tasks.append(_solver_task(task, link, self._unit, T[i], influence[i], level))
        return counting, tasks


def _solver_task(
    task: RobokinTask, link: str, metres_per_unit: float, T: Array, influence: float, level: int
) -> FrameTask:
    position = np.array(task.use_location) * (task.position_weight * influence)
    orientation = np.array(task.use_rotation) * (task.orientation_weight * influence)
    frame = task.frame.lower()
    near, turned = task.position_tolerance * metres_per_unit, task.orientation_tolerance
    name = f"task {task.name!r}"
    if task.kind == "POSITION":
        return PositionTask(link, T[:3, 3], position, frame, tolerance=near, name=name, priority=level)
    if task.kind == "ORIENTATION":
        return OrientationTask(link, T[:3, :3], orientation, frame, tolerance=turned, name=name, priority=level)
    if task.kind == "AXIS":
        weight = task.orientation_weight * influence
        return AxisTask(link, _signed_axis(task.axis), T[:3, 2], weight, tolerance=turned, name=name, priority=level)
    return PoseTask(link, T, position, orientation, frame, None, near, turned, name, level)


def metres_per_world_unit(obj: bpy.types.Object) -> float:
    """Metres of the robot in a Blender unit of the world: a robot whose object is scaled up is solved at its own size.

    Raises BridgeError for a non-uniform or negative scale.
    """
    scale = np.cbrt(np.linalg.det(world_from_root(obj)[:3, :3]))
    return float(binding(obj).metres_per_unit / scale)


def targets_now(context: bpy.types.Context, obj: bpy.types.Object, tasks: Sequence[RobokinTask]) -> Targets:
    """Targets as the scene stands, also where it has been moved by hand and not keyed. One view layer update."""
    context.view_layer.update()
    robot = np.array(obj.matrix_world)[None]
    return Targets(
        _stacked([roots_from_world(obj, robot, _world_now(context, task), task.name) for task in tasks], 1),
        np.array([[task.influence for task in tasks]]),
    )


def _world_now(context: bpy.types.Context, task: RobokinTask) -> Array:
    """(1, 4, 4)"""
    if not task.use_target:
        return _fixed_poses(np.array([(*task.location, *task.rotation)]))
    if not animation.is_evaluated(task.target, context.view_layer) and animation.moved_by_keys_only(task.target):
        return animation.keyed_matrices(task.target, [context.scene.frame_current_final])
    animation.check_evaluated(task.target, context.view_layer, f"task {task.name!r}")
    return np.array(task.target.matrix_world)[None]


def targets_over(
    scene: bpy.types.Scene,
    view_layer: bpy.types.ViewLayer,
    obj: bpy.types.Object,
    tasks: Sequence[RobokinTask],
    frames: Sequence[float],
) -> Generator[float, None, Targets]:
    """Yield the share of the work done (0..1) now and then; return the Targets over the frames.

    What is moved by keys alone is computed from the curves; the rest is read from the scene frame by frame, and the
    present frame comes back. Raises RobokinError.
    """
    objects = {task.target for task in tasks if task.use_target} | {obj}
    visited = {o for o in objects if not animation.moved_by_keys_only(o)}
    worlds = {o: animation.keyed_matrices(o, frames) for o in objects - visited}
    if animation.keyed_only(obj, lambda path: path.startswith("robokin.")):
        settings = [_settings_from_curves(obj, task, frames) for task in tasks]
    else:
        settings = []
    if visited or len(settings) < len(tasks):
        for o in visited:
            animation.check_evaluated(o, view_layer, f"robot {obj.name!r}")
        worlds |= {o: np.empty((len(frames), 4, 4)) for o in visited}
        seen = np.empty((len(tasks), len(frames), 7))
        for index in animation.visit_frames(scene, frames):
            for o in visited:
                worlds[o][index] = o.matrix_world
            for row, task in zip(seen[:, index], tasks, strict=True):
                row[:] = (*task.location, *task.rotation, task.influence)
            if index % _CHUNK == 0:
                yield index / len(frames)
        settings = settings or list(seen)
    T = []
    for task, values in zip(tasks, settings, strict=True):
        world = worlds[task.target] if task.use_target else _fixed_poses(values)
        T.append(roots_from_world(obj, worlds[obj], world, task.name))
    influence = [values[:, 6].clip(0.0, 1.0) for values in settings]
    return Targets(_stacked(T, len(frames)), np.array(influence).reshape(len(tasks), len(frames)).T)


def _settings_from_curves(obj: bpy.types.Object, task: RobokinTask, frames: Sequence[float]) -> Array:
    """(n, 7): fixed location and rotation, influence."""
    path = task.path_from_id()
    parts = (("location", 3), ("rotation", 3), ("influence", 1))
    return np.hstack([animation.property_values(obj, f"{path}.{name}", size, frames) for name, size in parts])


def _fixed_poses(values: Array) -> Array:
    """(n, 4, 4) of rows that begin with location and rotation."""
    poses = np.tile(np.eye(4), (len(values), 1, 1))
    poses[:, :3, :3] = animation.rotation_matrices(values[:, 3:6], "XYZ")
    poses[:, :3, 3] = values[:, :3]
    return poses


def roots_from_world(obj: bpy.types.Object, T_world_robot: Array, T_world_target: Array, task: str) -> Array:
    """(n, 4, 4) T_root_target [m] from world matrices (n, 4, 4) of the robot object and the target, scales dropped.

    The same as the bridge's `root_from_world`, for many frames at once. Raises BridgeError for a robot of non-uniform
    scale, RobokinError for a target without one.
    """
    robot = binding(obj)
    # Blender 5 gives its matrices as arrays of single precision, in which a product with the unit would be rounded.
    world, T_world_target = np.array(T_world_robot, float), np.asarray(T_world_target, float)
    for bad in _not_similar(world):
        world_from_root(obj, Matrix(world[bad].tolist()))  # raises, saying what is wrong with it
    world[:, :3, 3] *= robot.metres_per_unit
    world = world @ robot.root
    scale = np.cbrt(np.linalg.det(world[:, :3, :3]))
    rotation = _rotations(world[:, :3, :3])
    if not np.isfinite(T_world_target).all():
        raise RobokinError(f"task {task!r}: its target is nowhere (its position or rotation is not a number)")
    if abs(np.linalg.det(T_world_target[:, :3, :3])).min(initial=1.0) < 1e-18:
        raise RobokinError(f"task {task!r}: its target has a scale of zero, so its axes have no direction")
    away = T_world_target[:, :3, 3] * robot.metres_per_unit - world[:, :3, 3]
    T = np.zeros_like(T_world_target)
    T[:, :3, :3] = rotation.swapaxes(1, 2) @ _rotations(T_world_target[:, :3, :3])
    T[:, :3, 3] = np.einsum("nji,nj->ni", rotation, away) / scale[:, None]
    T[:, 3, 3] = 1.0
    return T


def _not_similar(matrices: Array) -> list[int]:
    """The first index whose matrix is not rotation, location and uniform positive scale; as a list of one or none."""
    block = matrices[:, :3, :3]
    scale = np.maximum(np.linalg.norm(block, axis=1).mean(axis=1), 1e-30)[:, None, None]
    gram = block.swapaxes(1, 2) @ block / scale**2
    bad = (abs(gram - np.eye(3)).max(axis=(1, 2)) > 1e-4) | (np.linalg.det(block) <= 0)
    return np.flatnonzero(bad)[:1].tolist()


def _rotations(blocks: Array) -> Array:
    """(n, 3, 3) rotations of matrices with scale; a mirrored one as Blender decomposes it, all three axes turned."""
    columns = blocks / np.linalg.norm(blocks, axis=1, keepdims=True)
    u, _, vt = np.linalg.svd(columns)
    rotations = u @ vt
    return rotations * np.sign(np.linalg.det(rotations))[:, None, None]


def _stacked(per_task: list[Array], frames: int) -> Array:
    """(n, k, 4, 4)"""
    return np.stack(per_task, axis=1) if per_task else np.zeros((frames, 0, 4, 4))


def _signed_axis(axis: str) -> Array:
    direction = np.zeros(3)
    direction["XYZ".index(axis[-1])] = -1.0 if axis[0] == "-" else 1.0
    return direction
