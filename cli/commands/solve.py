"""Joint values for which the robot's links do what the tasks ask, within the limits.

The same seed gives the same answer. Exit code 1, with the reason, when a task cannot be met; the
report then holds the best configuration found, which is inside the limits too."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from ...robokin import Joint, RobotModel, TaskError
from ...robokin.structure.locking import locked_model
from ...robokin.units import coordinate_units, counted, with_unit
from ...solvers import ClearanceTask, Task, all_postures, solve_ik
from ...solvers.tasks import FrameTask
from ...solvers.tasks.clearance import MARGIN
from ...solvers.tasks.protocols import VelocityTask
from ..arguments import add_backend, add_criteria, add_json, add_lock, add_posture, add_robot_file, is_blend, seed
from ..collisions import add_margin, add_obstacles, collisions_among
from ..errors import UsageError
from ..interrupts import run_steps
from ..report import read_joint_values, write_report
from ..robot_file import load_posed, posed_of_blend
from ..text.criteria import GRAMMAR as CRITERIA
from ..text.criteria import parse_criterion
from ..text.methods import add_method, check_method, tell_method
from ..text.scene_tasks import parse_scene_tasks
from ..text.task_grammar import GRAMMAR as TASKS
from ..text.tasks import check_task, parse_task

if TYPE_CHECKING:
    from ...robokin.collision import CollisionModel
    from ...solvers.criteria import Criterion

    Request = tuple[RobotModel, np.ndarray | None, list[Task], list[Task], list[Criterion]]

EPILOG = f"{TASKS}\n\n{CRITERIA}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument("--task", metavar="TASK", action="append", required=True, help="see below (repeatable)")
    add_criteria(parser)
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it (default: mid-range)')
    add_posture(parser)
    add_lock(parser)
    parser.add_argument("--srdf", metavar="FILE", help="named poses for --posture, where the robot is no .blend")
    parser.add_argument(
        "--seed", metavar="N", type=seed, default=0, help="which restarts are drawn when the first attempt fails (0)"
    )
    parser.add_argument(
        "--all", action="store_true", help="all postures that meet the tasks, the nearest to the start first"
    )
    add_method(parser)
    parser.add_argument("--avoid", action="store_true", help="keep links away from one another and from obstacles")
    add_obstacles(parser)
    add_margin(parser)
    add_backend(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    if arguments.q0 is not None and arguments.posture is not None:
        raise UsageError("--q0 and --posture both say where to start: give one")
    if arguments.all and arguments.criterion:
        raise UsageError("--criterion says which posture to prefer, --all asks for every one: give one")
    check_method(arguments)
    keeps_far = any("far_from_obstacles" in text for text in arguments.criterion)
    if not arguments.avoid and (arguments.margin is not None or (arguments.obstacles is not None and not keeps_far)):
        raise UsageError("--obstacles and --margin are for --avoid")
    if arguments.avoid and arguments.all:
        raise UsageError("--avoid asks for one posture, --all for every one: give one")
    found = _in_scene(arguments) if is_blend(arguments.file) else _without_scene(arguments)
    model, q0, tasks, apart, criteria = found
    if arguments.q0 is not None:
        q0 = model.configuration(read_joint_values(arguments.q0, "--q0"))
    if arguments.lock:
        q0 = model.limits.middle(model.neutral()) if q0 is None else q0
        model = locked_model(model, arguments.lock, q0)
    if arguments.method is not None:
        return tell_method(arguments, model, tasks, q0)
    if arguments.all:
        return _tell_all(model, tasks, q0, arguments)
    result = solve_ik(model, [*tasks, *apart], q0, arguments.seed, arguments.backend, criteria=criteria)
    if apart:
        result = result.first(len(tasks))
    values = model.joint_values(result.q)
    report = {
        "status": str(result.status),
        "reason": result.reason,
        "q": values,
        "residuals": result.residuals,
        "iterations": int(result.iterations),
    }
    if criteria:
        report["costs"] = result.costs
    lines = [f"{result.status}: {result.reason}"]
    for task, residual, text in zip(tasks, result.residuals, arguments.task, strict=True):
        lines.append(f"  {_missing(task, residual)} off {text}")
    lines += [f"  cost of {name}: {cost + 0.0:.6g}" for name, cost in result.costs.items()]
    lines += [f"  {name} = {_value(value, model.joint(name))}" for name, value in values.items()]
    write_report(report, arguments.json, "\n".join(lines))
    return result.converged


def _tell_all(model: RobotModel, tasks: list[Task], q0: np.ndarray | None, arguments: argparse.Namespace) -> bool:
    found = all_postures(model, tasks, q0, arguments.seed, arguments.backend)
    values = [model.joint_values(q) for q in found.q]
    report = {
        "family": found.family,
        "complete": found.complete,
        "remark": found.remark,
        "postures": [{"name": name, "q": own} for name, own in zip(found.names, values, strict=True)],
    }
    number = counted(len(found), "posture")
    lines = [f"{number}, {'all there are' if found.complete else 'there may be others'}: {found.family or 'no family'}"]
    lines += [f"  {found.remark}"] if found.remark else []
    for name, own in zip(found.names, values, strict=True):
        lines.append(f"{name}:")
        lines += [f"  {joint} = {_value(value, model.joint(joint))}" for joint, value in own.items()]
    write_report(report, arguments.json, "\n".join(lines))
    return len(found) > 0


def _without_scene(arguments: argparse.Namespace) -> Request:
    """The model, the start, the tasks, what keeps links away, and the criteria."""
    tasks = [parse_task(text) for text in arguments.task]
    _refuse_velocities(arguments.task, tasks)
    model, q0 = load_posed(arguments, arguments.posture, arguments.srdf)
    for text, task in zip(arguments.task, tasks, strict=True):
        check_task(text, task, model)

    margin = MARGIN if arguments.margin is None else arguments.margin

    def collisions() -> CollisionModel:
        return collisions_among(model, arguments.obstacles, margin)

    criteria = [parse_criterion(text, model, collisions) for text in arguments.criterion]
    if not arguments.avoid:
        return model, q0, tasks, [], criteria
    return model, q0, tasks, [ClearanceTask(collisions(), margin)], criteria


def _in_scene(arguments: argparse.Namespace) -> Request:
    """The model, the start, the tasks, what keeps links away, and the criteria.

    Targets that are objects are where the scene has them at its present frame, and so are joints with a padlock."""
    with posed_of_blend(arguments, arguments.posture, arguments.srdf) as (robot, model, q0):
        import bpy

        from ...properties.bridge import binding, read_configuration
        from ...scene.collisions import clearance_now
        from ...scene.surroundings import still_collisions
        from ...scene.tasks.solver_tasks import ad_hoc_now

        ad_hoc = parse_scene_tasks(arguments.task, model)
        _refuse_velocities(arguments.task, [each.task for each in ad_hoc])
        bound = binding(robot)
        padlocked = bound.model_at(read_configuration(robot, bound))
        if arguments.obstacles is not None:
            raise UsageError("--obstacles is for robot descriptions; a .blend holds its own obstacles")
        scene = bpy.context.scene
        assert scene is not None  # an open file has one
        apart: list[Task] = [*run_steps(clearance_now(scene, robot, bound, arguments.avoid, arguments.margin))]
        criteria = [parse_criterion(text, model, lambda: still_collisions(robot)) for text in arguments.criterion]
        return padlocked, q0, ad_hoc_now(bpy.context, robot, ad_hoc), apart, criteria


def _refuse_velocities(texts: list[str], tasks: list[Task]) -> None:
    for text, task in zip(texts, tasks, strict=True):
        if isinstance(task, VelocityTask):
            raise TaskError(f"task {text!r}: no pose can meet a velocity: robokin bake takes it")


def _missing(task: Task, residual: dict[str, float]) -> str:
    units = {"position": "m", "orientation": "rad"} | {part.name: part.unit for part in task.parts}
    counted = set(residual)
    if isinstance(task, FrameTask):  # which has the parts of a pose, also where only one of them counts
        counts = {"position": task.position_weights, "orientation": task.orientation_weights}
        counted = {name for name, weights in counts.items() if weights.any()}
    return ", ".join(f"{value:.3g} {units[name]}".rstrip() for name, value in residual.items() if name in counted)


def _value(value: float | list[float], joint: Joint) -> str:
    units = coordinate_units(joint)
    return ", ".join(with_unit(round(x, 9) + 0.0, unit) for x, unit in zip(np.atleast_1d(value), units, strict=True))
