"""Where every link of a robot is, in its root frame, for given joint values."""

from __future__ import annotations

import argparse

from ...robokin import forward_kinematics
from ..arguments import add_backend, add_json, add_robot_file
from ..report import read_joint_values, write_report
from ..robot_file import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument(
        "--q", metavar="JSON", default="{}", help='joint values, {"joint": value}, or a file of them (others: 0)'
    )
    add_backend(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    model = load_model(arguments)
    q = model.configuration(read_joint_values(arguments.q, "--q"))
    frames = forward_kinematics(model, q, backend=arguments.backend)
    positions = [f"{name}: {' '.join(f'{x:.6g}' for x in T[:3, 3].round(9) + 0.0)}" for name, T in frames.items()]
    report = {"frames": {name: T.tolist() for name, T in frames.items()}}
    write_report(report, arguments.json, "\n".join(["position of each link [m]:", *positions]))
    return True
