"""Joint values for which the robot's links do what the tasks ask, within the limits.

The same seed gives the same answer. Exit code 1, with the reason, when a task cannot be met; the
report then holds the best configuration found, which is inside the limits too."""

from __future__ import annotations

import argparse

import numpy as np

from ..robokin import Joint
from ..robokin.units import coordinate_units, with_unit
from ..solvers import solve_ik
from .arguments import add_backend, add_json, add_posture, add_robot_file, seed
from .errors import UsageError
from .report import read_joint_values, write_report
from .robot_file import load_posed
from .task_text import GRAMMAR, parse_task

NAME = "solve"
HELP = "inverse kinematics"
EPILOG = GRAMMAR


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument("--task", metavar="TASK", action="append", required=True, help="see below (repeatable)")
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it (default: mid-range)')
    add_posture(parser)
    parser.add_argument("--srdf", metavar="FILE", help="named poses for --posture, where the robot is no .blend")
    parser.add_argument("--seed", metavar="N", type=seed, default=0, help="which sequence of restarts is tried (0)")
    add_backend(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    tasks = [parse_task(text) for text in arguments.task]
    if arguments.q0 is not None and arguments.posture is not None:
        raise UsageError("--q0 and --posture both say where to start: give one")
    model, q0 = load_posed(arguments, arguments.posture, arguments.srdf)
    if arguments.q0 is not None:
        q0 = model.configuration(read_joint_values(arguments.q0, "--q0"))
    result = solve_ik(model, tasks, q0=q0, seed=arguments.seed, backend=arguments.backend)
    report = {
        "status": str(result.status),
        "reason": result.reason,
        "q": model.joint_values(result.q),
        "residuals": result.residuals,
        "iterations": int(result.iterations),
    }
    write_report(report, arguments.json, _summary(report, arguments.task, [model.joint(name) for name in report["q"]]))
    return result.converged


def _summary(report: dict, tasks: list[str], joints: list[Joint]) -> str:
    lines = [f"{report['status']}: {report['reason']}"]
    for text, residual in zip(tasks, report["residuals"], strict=True):
        lines.append(f"  {residual['position']:.3g} m, {residual['orientation']:.3g} rad off {text}")
    lines += [f"  {joint.name} = {_value(report['q'][joint.name], joint)}" for joint in joints]
    return "\n".join(lines)


def _value(value: float | list[float], joint: Joint) -> str:
    units = coordinate_units(joint)
    return ", ".join(with_unit(round(x, 9) + 0.0, unit) for x, unit in zip(np.atleast_1d(value), units, strict=True))
