"""Find a path between two postures on which no link touches another or an obstacle, timed inside the limits. Exit code
1 when none is found.

Of a .blend: from the pose at the first frame to that at the last, around the objects that are marked as obstacles; the
path is written as keyframes. Of any other FILE: from --q0 to --q1, around the collision shapes of the links of the
description WORLD, as joint values over time."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...solvers.motion.files import write_motion
from ...solvers.planning.plan import BUDGET, RESOLUTION, plan_path_steps
from ...solvers.tasks.clearance import MARGIN
from ..arguments import BLEND, add_frames, add_json, add_robot_file, is_blend, is_whole, output_file, rate, seed
from ..collisions import add_margin, add_obstacles, collisions_among
from ..errors import UsageError
from ..interrupts import run_steps
from ..motion_arguments import MOTIONS, add_motion_limits, motion_limits
from ..report import kept_report, read_joint_values, read_start, show_report, write_report
from ..robot_file import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    add_frames(parser)
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it; others are at 0')
    parser.add_argument("--q1", metavar="JSON", help="end, likewise; others are as at the start")
    add_obstacles(parser)
    add_margin(parser)
    parser.add_argument("--budget", metavar="N", type=_budget, default=BUDGET, help=f"postures drawn ({BUDGET})")
    parser.add_argument("--seed", metavar="N", type=seed, default=0, help="of what is drawn (0)")
    add_motion_limits(parser, ("velocity", "acceleration"))
    parser.add_argument("--rate", metavar="HZ", type=rate, help="samples per second (100)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=output_file,
        help="motion.csv, .json, .yaml, .servo; of a .blend one (FILE itself)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    return _keyed(arguments) if is_blend(arguments.file) else _written(arguments)


def _keyed(arguments: argparse.Namespace) -> bool:
    given = {"--q0": arguments.q0, "--q1": arguments.q1, "--obstacles": arguments.obstacles, "--rate": arguments.rate}
    given |= {f"--{kind}": limit for kind, limit in motion_limits(arguments).items()}
    for option, value in given.items():
        if value is not None:
            raise UsageError(
                f"{option} is for robot descriptions; a .blend holds its own poses, obstacles, limits and frame rate"
            )
    if arguments.output is not None and Path(arguments.output).suffix.lower() != BLEND:
        raise UsageError(f"-o {arguments.output}: the path of a .blend is written into a {BLEND}")
    from ..blend_saving import save_as
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...scene.bake.path_plan import plan_steps
        from ...scene.collisions import margin_of

        robot = find_robot(arguments.robot)
        bound = binding(robot)
        frames = chosen_frames(robot, arguments.frames, 1)
        margin = arguments.margin
        if margin is None:
            margin = margin_of(robot, bound)
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        ends = frames[0], frames[-1]
        steps = plan_steps(scene, view_layer, robot, bound, *ends, margin, arguments.budget, arguments.seed)
        found = run_steps(steps)
        target = arguments.output or bpy.data.filepath
        report = {"robot": robot.name, **found.plan.to_dict()}
        with kept_report(report, arguments.json):
            if found.plan.found:
                save_as(target)
    written = [target] if found.plan.found else []
    show_report(report, arguments.json, f"{target}: {found.summary()}", *written)
    return found.plan.found


def _written(arguments: argparse.Namespace) -> bool:
    if arguments.frames is not None:
        raise UsageError("--frames is for the poses of a .blend; a description takes --q0 and --q1")
    if arguments.q1 is None or arguments.output is None:
        raise UsageError("name the end with --q1 and the motion with -o")
    if Path(arguments.output).suffix.lower() not in MOTIONS:
        raise UsageError(f"-o {arguments.output} does not end in {', '.join(MOTIONS)}")

    model = load_model(arguments)
    q0 = read_start(model, arguments.q0 or "{}", "--q0")
    end, q1 = read_joint_values(arguments.q1, "--q1"), q0.copy()
    given = model.configuration(end)
    for name in end:
        q1[model.slot(name).q] = given[model.slot(name).q]
    margin = MARGIN if arguments.margin is None else arguments.margin
    collisions = collisions_among(model, arguments.obstacles, margin + RESOLUTION)
    limits = motion_limits(arguments)
    plan = run_steps(
        plan_path_steps(model, collisions, q0, q1, limits, margin=margin, budget=arguments.budget, seed=arguments.seed)
    )
    report = {"robot": model.name, **plan.to_dict()}
    if plan.motion is None:
        write_report(report, arguments.json, f"no path: {plan.reason}")
        return False
    write_motion(plan.motion.motion(arguments.rate or 100.0), arguments.output)
    write_report(report, arguments.json, f"{arguments.output}: {plan.reason}")
    return True


def _budget(text: str) -> int:
    if not is_whole(text) or int(text) > 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of postures >= 0")
    return int(text)
