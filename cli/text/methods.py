"""`robokin solve --method`: a method of the papers, step by step."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from ...robokin import RobotModel
from ...robokin.arrays import Array
from ...solvers import Task
from ...solvers.methods.of_tasks import solve_tasks_by
from ..errors import UsageError
from ..report import write_report

SHOWN = 20  # steps that are printed; the report has all


def add_method(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="a method of the papers, for Pose and Position tasks in turn: newton_raphson, levenberg_marquardt, "
        "goal_oriented, roll_pitch_yaw",
    )
    parser.add_argument(
        "--set", metavar="NAME=JSON", action="append", default=[], help="a setting of the method (repeatable)"
    )


def check_method(arguments: argparse.Namespace) -> None:
    """Raises UsageError for options that do not go together."""
    if arguments.method is None:
        if arguments.set:
            raise UsageError("--set is for --method")
        return
    given = [name for name in ("all", "avoid", "criterion") if getattr(arguments, name)]
    if given:
        raise UsageError(f"--method is a solver of its own, without --{given[0]}")


def tell_method(arguments: argparse.Namespace, model: RobotModel, tasks: Sequence[Task], q0: Array | None) -> bool:
    """Whether all targets are met; the report has every step."""
    result = solve_tasks_by(arguments.method, model, tasks, q0, **dict(map(_setting, arguments.set)))
    values = model.joint_values(result.q)
    lines = [f"{result.method}: {result.reason}"]
    stride = result.iterations // SHOWN + 1
    for i, (error, k) in enumerate(zip(result.errors, result.targets, strict=True)):
        if i % stride and i < result.iterations:
            continue
        lines.append(f"  step {i}: {error[0]:.3g} m, {error[1]:.3g} rad off target {k + 1}")
    lines += [f"  {name} = {value}" for name, value in values.items()]
    write_report(result.to_dict() | {"q": values}, arguments.json, "\n".join(lines))
    return result.converged


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    try:
        return name, json.loads(value if equals else "")
    except json.JSONDecodeError:
        raise UsageError(f'--set {text}: expected NAME=JSON, as stiff=["joint_5"]') from None
