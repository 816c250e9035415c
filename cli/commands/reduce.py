"""Leave as few keys in the animation of a .blend as keep each tool within --position and --rotation of its path, at
eighths of frames, and inside the limits that it keeps. Between them the curves are Bezier curves."""

from __future__ import annotations

import argparse
import math

from ..arguments import add_blend_file, add_frames, add_json, add_new_action, add_output
from ..interrupts import run_steps
from ..motion_arguments import positive
from ..report import show_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    parser.add_argument("--position", metavar="MM", type=_bound, default=1.0, help="what a tool may be off, in mm (1)")
    parser.add_argument("--rotation", metavar="DEG", type=_bound, default=0.5, help="and in degrees (0.5)")
    add_output(parser)
    add_new_action(parser)
    add_json(parser)


def _bound(text: str) -> float:
    return positive(text, "a bound > 0")


def run(arguments: argparse.Namespace) -> bool:
    from ..blend_saving import save_with_report
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...scene.animation.key_reduction import reduce_steps

        robot = find_robot(arguments.robot)
        settings, scene = robot.robokin.solver, bpy.context.scene
        frames = chosen_frames(robot, arguments.frames, 1)
        new = settings.new_action if arguments.new_action is None else arguments.new_action
        bounds = 1e-3 * arguments.position, math.radians(arguments.rotation)
        result = run_steps(reduce_steps(scene, robot, frames[0], frames[-1], *bounds, new))
        report = result.to_dict()
        target = save_with_report(arguments, report)
    show_report(report, arguments.json, f"{target}: {result.summary()}", target)
    return result.broken_after <= result.broken_before
