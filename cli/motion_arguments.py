"""Arguments of the commands that make motions."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..solvers.trajectories.motion_limits import KINDS
from .arguments import MOTIONS, checked_number, output_ending, rate
from .errors import UsageError


def add_motion_limits(parser: argparse.ArgumentParser, kinds: Sequence[str] = KINDS) -> None:
    for kind in kinds:
        parser.add_argument(
            f"--{kind}", metavar="LIMIT", type=_limit, help=f"limit on every joint's {kind}, besides the robot's own"
        )


def add_path_limits(parser: argparse.ArgumentParser) -> None:
    """What counts along paths alone."""
    parser.add_argument("--power", metavar="W", type=_limit, help="limit on the power of every drive; needs gravity")
    parser.add_argument("--tool", metavar="LINK", help="link whose origin has ...")
    parser.add_argument("--tool-speed", metavar="LIMIT", type=_limit, help="... this speed at most [m/s] ...")
    parser.add_argument("--tool-acceleration", metavar="LIMIT", type=_limit, help="... and this acceleration [m/s²]")


def path_limits(arguments: argparse.Namespace) -> dict[str, object]:
    """Raises UsageError for a tool without limits, and limits without a tool."""
    found: dict[str, object] = {**motion_limits(arguments)}
    if arguments.power is not None:
        found["power"] = arguments.power
    own = {"speed": arguments.tool_speed, "acceleration": arguments.tool_acceleration}
    own = {kind: value for kind, value in own.items() if value is not None}
    if (arguments.tool is None) == bool(own):
        raise UsageError("--tool names the link that --tool-speed and --tool-acceleration limit: give both")
    return found | {"tools": {arguments.tool: own}} if own else found


def add_motion_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", metavar="HZ", type=rate, default=100.0, help="samples per second (100)")
    parser.add_argument(
        *("-o", "--output"),
        metavar="OUT",
        type=output_ending(*MOTIONS),
        required=True,
        help="motion.csv, .json, .yaml, .servo, .svg",
    )


def motion_limits(arguments: argparse.Namespace) -> dict[str, float]:
    given = {kind: getattr(arguments, kind, None) for kind in KINDS}
    return {kind: value for kind, value in given.items() if value is not None}


def _limit(text: str) -> float:
    return positive(text, "a limit > 0, in SI units and radians")


def seconds(text: str) -> float:
    return positive(text, "a number of seconds > 0")


def positive(text: str, what: str) -> float:
    return checked_number(text, lambda x: 0.0 < x < 1e9, what)
