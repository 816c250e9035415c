"""Solve again the frames of an animation that miss a task or break a limit; all others stay as they are. Exit code 1
when some still do."""

from __future__ import annotations

import argparse

from ....robokin.units import counted
from ...arguments import add_blend_file, add_frames, add_json, add_output, add_step
from ...interrupts import run_steps
from ...report import show_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    add_step(parser)
    add_output(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    from ...blend_saving import save_with_report
    from ...blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ....scene.repair.again import repair_steps

        robot = find_robot(arguments.robot)
        scene, layer = bpy.context.scene, bpy.context.view_layer
        frames = chosen_frames(robot, arguments.frames, arguments.step)
        result = run_steps(repair_steps(scene, layer, robot, frames))
        report = result.to_dict()
        target = save_with_report(arguments, report)
    show_report(report, arguments.json, f"{target}: {counted(len(frames), 'frame')}: {result.summary()}", target)
    return not result.after
