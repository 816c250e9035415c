"""Arguments that several commands share, each checked before any work is done."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable
from pathlib import Path

from ..robokin.backend import NAMES as BACKENDS
from ..robokin.files.text_file import number
from ..robokin.model.robot import ROOT_TYPES
from .errors import UsageError

BLEND = ".blend"
MOTIONS = (".csv", ".json", ".yaml", ".yml", ".servo", ".svg")


def add_robot_file(parser: argparse.ArgumentParser) -> None:
    """FILE: a .urdf, .xacro or .csv, or a .blend (which may be left out inside Blender: the open file is meant)."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="robot: .urdf, .xacro, .csv, .blend (in Blender: the open file)"
    )
    parser.add_argument("--robot", metavar="NAME", help="which robot of a .blend with several")
    add_urdf_options(parser)


def add_blend_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="robot: .blend (in Blender: the open file)")
    parser.add_argument("--robot", metavar="NAME", help="which robot of several")


def add_urdf_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--package-path",
        metavar="DIR",
        action="append",
        default=[],
        help="folder in which package:// names are looked up, besides those around the file (repeatable)",
    )
    parser.add_argument("--root", choices=ROOT_TYPES, help="kind of base (fixed)")
    parser.add_argument(
        "--xacro-arg", metavar="NAME:=VALUE", action="append", default=[], help="argument of a .xacro (repeatable)"
    )


def add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="OUT", type=output_blend, help="the .blend to write (FILE itself)")


def add_new_action(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--new-action", action=argparse.BooleanOptionalAction, help="write into a new action, and keep the present one"
    )


def add_posture(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--posture", metavar="NAME", help="start from this stored posture")


def add_lock(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--lock", metavar="JOINT", action="append", default=[], help="leave a joint where the start has it (repeatable)"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="OUT", type=report_file, help="write the report as JSON; - is stdout")


def add_criteria(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--criterion", metavar="CRITERION", action="append", default=[], help="what to prefer, see below (repeatable)"
    )


def add_scene_tasks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        metavar="TASK",
        action="append",
        default=[],
        help="a task besides those of the .blend, see below (repeatable)",
    )
    parser.add_argument(
        "--only-given", action="store_true", help="tasks given here in place of those of the .blend, not besides them"
    )


def add_backend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", choices=BACKENDS, default="auto", help="who computes (auto: native if there)")


def add_frames(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--frames", metavar="A:B", type=frames, help="frames, both included (as in the robot's settings)"
    )


def add_step(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--step", metavar="N", type=step, help="every Nth frame (as in the robot's settings)")


def is_whole(text: str) -> bool:
    """Whether a text is plain digits: Python takes those of other scripts, too."""
    return text.isascii() and text.isdecimal()


def step(text: str) -> int:
    if not is_whole(text) or not 0 < int(text) <= 1_048_574:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of frames >= 1")
    return int(text)


def frames(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(-?[0-9]+):(-?[0-9]+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not A:B with whole frame numbers")
    first, last = int(match[1]), int(match[2])
    if first > last:
        raise argparse.ArgumentTypeError(f"{text!r}: the first frame is after the last")
    if max(abs(first), abs(last)) > 1_048_574:
        raise argparse.ArgumentTypeError(f"{text!r}: Blender's frames end at 1048574")
    return first, last


def seed(text: str) -> int:
    if not is_whole(text) or int(text) >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2^63 - 1")
    return int(text)


def checked_number(text: str, fits: Callable[[float], bool], what: str) -> float:
    """The number that an argument gives. Raises ArgumentTypeError, that it is not `what`."""
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not fits(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return value


def rate(text: str) -> float:
    return checked_number(text, lambda x: 0.0 < x <= 1e6, "a number of samples per second in (0, 1e6]")


def threshold(text: str) -> float:
    return checked_number(text, lambda x: 0.0 <= x < math.inf, "a number from 0 on")


def report_file(text: str) -> str:
    """A file that can be written, "-" for standard output, however that is named."""
    return "-" if text == "-" or _is_standard_output(text) else output_file(text)


def check_written_files(arguments: argparse.Namespace) -> None:
    """Raises UsageError for a file that would take the place of another one that the command reads or writes; a robot
    and a motion may take that of the one before."""
    read = "srdf", "q", "q0", "q1", "moves"
    for written, others in (("json", ("file", "output", "motion", *read)), ("output", read)):
        path = getattr(arguments, written, None)
        for name in others if path else ():
            other = getattr(arguments, name, None)
            if other and os.path.realpath(str(path)) == os.path.realpath(other.replace("\0", "")):
                raise UsageError(f"--{written} {path}: this is {'FILE' if name == 'file' else '--' + name}")


def output_file(text: str) -> str:
    """A file that can be written."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a folder")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}: there is no folder {str(path.absolute().parent)!r}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written")
    return text


def _is_standard_output(path: str) -> bool:
    """Whether a path is standard output, or the file that it is redirected to (> FILE)."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(1))
    except (OSError, ValueError):
        return False


def output_ending(*endings: str) -> Callable[[str], str]:
    """What reads an argument that names a file to be written, with one of the endings."""

    def read(text: str) -> str:
        if Path(text).suffix.lower() not in endings:
            raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(endings)}")
        return output_file(text)

    return read


output_blend = output_ending(BLEND)


def is_blend(file: str | None) -> bool:
    """Whether FILE is a Blender file (None: the open one); anything else is read as URDF. Raises UsageError."""
    if file is None:
        return True
    if not Path(file).is_file():
        reason = "is a folder" if Path(file).is_dir() else "is no regular file"
        raise UsageError(f"{file}: {reason if os.path.lexists(file) else 'there is no such file'}")
    return Path(file).suffix.lower() == BLEND
