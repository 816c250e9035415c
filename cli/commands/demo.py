"""Make one of the ready scenes, bake it, check it and write it as a .blend: the examples of the papers that Robokin
comes from. Exit code 1 when a frame is not met or a limit is broken."""

from __future__ import annotations

import argparse
import os

from ...robokin.units import counted
from ..arguments import add_json, check_written_files, output_blend
from ..errors import UsageError
from ..interrupts import run_steps
from ..report import frame_rows, show_report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "example",
        metavar="NAME",
        help="laser: two beams draw two circles; door, door-pivoting: the arm opens a door; nut: from bolt to bolt",
    )
    parser.add_argument("-o", "--output", metavar="OUT", type=output_blend, help="the .blend to write (NAME.blend)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    from ..blend_saving import save_with_report
    from ..blender import blender, some_window

    with blender():
        import bpy

        from ...properties.bridge import binding
        from ...robokin import UnknownNameError
        from ...scene.bake.bake import bake_steps
        from ...scene.bake.choices import BakeChoices
        from ...scene.bake.start import bake_start
        from ...scene.check.check import check_steps
        from ...scene.examples import EXAMPLES

        if arguments.example not in EXAMPLES:
            raise UnknownNameError("example", arguments.example, EXAMPLES)
        if not arguments.output:
            arguments.output = f"{arguments.example}.blend"
            check_written_files(arguments)
            if os.path.exists(arguments.output):
                raise UsageError(f"{arguments.output!r} is there already: name the file to write with -o")
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        with some_window():
            robot = EXAMPLES[arguments.example].make(bpy.context)
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        frames = range(scene.frame_start, scene.frame_end + 1)
        bound = binding(robot)
        start = bake_start(scene, robot, bound, robot.robokin.solver.start)
        result = run_steps(bake_steps(scene, view_layer, robot, bound, BakeChoices(frames=frames, q0=start)))
        found = run_steps(check_steps(scene, view_layer, robot, bound, frames))
        record = result.to_dict()
        report = {
            "frames": frame_rows(record),
            "failures": record["failures"],
            **{key: each for key, each in found.to_dict().items() if key in ("violations", "slip", "side_slip")},
        }
        target = save_with_report(arguments, report)
    status, reason = result.summary()
    lines = [
        f"{target}: {counted(len(frames), 'frame')} baked: {status}, {reason}",
        *(f"  {line}" for line in result.lines()),
    ]
    show_report(report, arguments.json, "\n".join([*lines, found.summary()]), target)
    return result.converged and found.passed
