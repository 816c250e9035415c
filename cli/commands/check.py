"""Compare a robot's animation as it stands with its tasks and with the limits on position, speed
and acceleration, and find where it collides with itself or with obstacles. Nothing is changed. Exit code 1
when a task is missed, a limit is broken, or something collides; being near a singularity is but a warning."""

from __future__ import annotations

import argparse

from ..arguments import add_blend_file, add_frames, add_json, add_scene_tasks, add_step, threshold
from ..interrupts import run_steps
from ..motion_arguments import add_motion_limits, add_path_limits, path_limits
from ..report import frame_rows, write_report
from ..text.scene_tasks import ad_hoc_tasks
from ..text.task_grammar import GRAMMAR, VELOCITIES

EPILOG = f"{GRAMMAR}\n\n{VELOCITIES}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    add_step(parser)
    add_scene_tasks(parser)
    parser.add_argument(
        "--efforts",
        action=argparse.BooleanOptionalAction,
        help="compare what the drives must give with their effort limits, too",
    )
    parser.add_argument(
        "--tipping", action=argparse.BooleanOptionalAction, help="compare the zero-moment point with what it stands on"
    )
    add_motion_limits(parser, ("jerk",))
    add_path_limits(parser)
    parser.add_argument(
        "--singularity",
        metavar="VALUE",
        type=threshold,
        help="warn of frames with a smaller singular value of a tool (as the robot's settings say; 0: do not look); "
        "those of all frames are in the report",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...scene.bake.retime import set_limits
        from ...scene.check.check import check_steps

        robot = find_robot(arguments.robot)
        bound = binding(robot)
        frames = chosen_frames(robot, arguments.frames, arguments.step)
        chosen = {kind: getattr(arguments, kind) for kind in ("efforts", "tipping", "singularity")}
        chosen |= {kind: getattr(robot.robokin.solver, kind) for kind, given in chosen.items() if given is None}
        ad_hoc, use_own = ad_hoc_tasks(arguments, bound.model)
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        limits = path_limits(arguments) or set_limits(robot, bound)
        own = None if use_own else ()
        found = run_steps(check_steps(scene, view_layer, robot, bound, frames, ad_hoc, own, limits=limits, **chosen))
    record = found.to_dict()
    more = ["singularities"] if arguments.singularity else []
    report = {"frames": frame_rows(record, *more), "violations": record["violations"]}
    report |= {key: record[key] for key in ("warnings", "slip", "side_slip") if record.get(key)}
    write_report(report, arguments.json, found.summary())
    return found.passed
