"""Make tasks of a captured motion, that of another armature of a .blend: feet, pelvis, hands and head of the robot
follow the bones that are called so, or those that its table of pairs names. `robokin bake` then makes keys."""

from __future__ import annotations

import argparse

from ...robokin.units import counted
from ..arguments import add_blend_file, add_json, add_output
from ..motion_arguments import positive
from ..report import show_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    parser.add_argument("--source", metavar="NAME", required=True, help="the armature whose motion it is")
    parser.add_argument(
        "--scale", metavar="S", type=_scale, default=0.0, help="of that motion (as the robot's legs are to its legs)"
    )
    parser.add_argument("--turn-hands", action="store_true", help="hands turn as the bones do, besides their place")
    add_output(parser)
    add_json(parser)


def _scale(text: str) -> float:
    return positive(text, "a scale > 0")


def run(arguments: argparse.Namespace) -> bool:
    from ..blend_saving import save_with_report
    from ..blender import blender_file, find_object, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...scene.conversion.retarget import retarget

        robot = find_robot(arguments.robot)
        source = find_object(arguments.source)
        hands = "HAND" if arguments.turn_hands else "POSITION"
        base = retarget(robot, binding(robot), source, arguments.scale or robot.robokin.retarget_scale, hands)
        bpy.context.view_layer.update()
        pairs = {item.tip: item.source for item in robot.robokin.retarget_pairs if item.source}
        report = {"robot": robot.name, "source": source.name, "scale": base.matrix_world.median_scale, "pairs": pairs}
        target = save_with_report(arguments, report)
    tasks = counted(len(pairs), "task follows", "tasks follow")
    line = f"{target}: {tasks} {source.name!r}, scaled by {report['scale']:.3g}"
    show_report(report, arguments.json, line, target)
    return True
