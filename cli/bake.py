"""Solve a robot's tasks at every frame and write the motion into the file as keyframes.

The motion depends on the scene alone, not on the keyframes it replaces. It starts from the robot's
stored posture chosen for it; without one, from a start that is looked for, from which every frame is
met; unless --posture or --q0 is given. Frames that are not met are listed with the reason.
Tasks given here count besides the robot's own, criteria in place of its own. Exit code 1 when a
frame is not met."""

from __future__ import annotations

import argparse

from .arguments import (
    add_blend_file,
    add_criteria,
    add_frames,
    add_json,
    add_posture,
    add_scene_tasks,
    output_blend,
    seed,
)
from .criterion_text import GRAMMAR as CRITERIA
from .criterion_text import parse_criterion
from .errors import UsageError
from .report import frame_rows, read_joint_values, write_report
from .scene_task_text import GRAMMAR as TASKS
from .scene_task_text import parse_scene_tasks

NAME = "bake"
EPILOG = f"{TASKS}\n\n{CRITERIA}"
HELP = "solve the tasks of a .blend at every frame, write keyframes"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    add_scene_tasks(parser)
    parser.add_argument("-o", "--output", metavar="OUT", type=output_blend, help="the .blend to write (FILE itself)")
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it')
    add_posture(parser)
    add_criteria(parser)
    parser.add_argument("--seed", metavar="N", type=seed, default=0, help="which sequence of restarts is tried (0)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    if arguments.q0 is not None and arguments.posture is not None:
        raise UsageError("--q0 and --posture both say where to start: give one")
    from .blender import blender_file, find_robot, run_steps, save_as, scene_frames

    with blender_file(arguments):
        import bpy

        from ..operators.bake import bake_steps
        from ..operators.posture import bake_start
        from ..properties.bridge import robot_model
        from ..properties.postures import find_posture, posture_configuration

        robot = find_robot(arguments.robot)
        if arguments.posture is not None:
            q0 = posture_configuration(robot, find_posture(robot, arguments.posture))
        elif arguments.q0 is not None:
            q0 = robot_model(robot).configuration(read_joint_values(arguments.q0, "--q0"))
        else:
            q0 = bake_start(robot, "POSTURE")
        criteria = [parse_criterion(text, robot_model(robot)) for text in arguments.criterion] or None
        frames = scene_frames(arguments.frames)
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        given, use_own = parse_scene_tasks(arguments), not arguments.only_given
        steps = bake_steps(
            scene, view_layer, robot, frames, q0, arguments.seed, criteria=criteria, given=given, use_own=use_own
        )
        result = run_steps(steps)
        target = arguments.output or bpy.data.filepath
        save_as(target)
    told = result.to_dict()
    report = {"frames": frame_rows(told), "failures": told["failures"]}
    status, reason = result.summary()
    lines = [f"{target}: {len(frames)} frames baked: {status}, {reason}", *(f"  {line}" for line in result.told())]
    write_report(report, arguments.json, "\n".join(lines))
    return result.converged
