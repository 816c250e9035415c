"""Repair the animation of a .blend that breaks limits, keyed by hand or captured: it becomes the nearest motion
that keeps the limits on position, velocity and acceleration at every frame. Exit code 1 when
a sample still breaks one."""

from __future__ import annotations

import argparse

from ...robokin.units import counted
from ..arguments import add_blend_file, add_frames, add_json, add_new_action, add_output, add_step, checked_number
from ..interrupts import run_steps
from ..report import show_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    add_step(parser)
    parser.add_argument("--time", metavar="S", type=seconds, default=0.04, help="shaking faster than this goes [s]")
    add_output(parser)
    add_new_action(parser)
    add_json(parser)


def seconds(text: str) -> float:
    return checked_number(text, lambda x: 0.0 <= x <= 1e3, "a number of seconds from 0 to 1000")


def run(arguments: argparse.Namespace) -> bool:
    from ..blend_saving import save_with_report
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...scene.bake.smooth import smooth_steps

        robot = find_robot(arguments.robot)
        settings, scene = robot.robokin.solver, bpy.context.scene
        frames = chosen_frames(robot, arguments.frames, arguments.step)
        new = settings.new_action if arguments.new_action is None else arguments.new_action
        result = run_steps(smooth_steps(scene, robot, frames, arguments.time, new))
        report = result.to_dict()
        target = save_with_report(arguments, report)
    show_report(report, arguments.json, f"{target}: {counted(len(frames), 'frame')}: {result.summary()}", target)
    return not result.after
