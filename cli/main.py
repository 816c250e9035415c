"""Entry point: parse, run one command, turn its outcome into an exit code."""

from __future__ import annotations

import argparse
import atexit
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

from ..robokin.errors import RobokinError
from .errors import UsageError
from .interrupts import ignore_interrupts, interrupts_held
from .terminal import log_shown, open_streams, out, say, tell
from .version import version


class Command(NamedTuple):
    """A command's module, imported when it is chosen, and what the list of commands says of it."""

    module: str
    help: str


COMMANDS = {
    "import": Command("import_urdf", "make a .blend of a .urdf, .xacro or .csv"),
    "info": Command("info", "list joints, limits and masses"),
    "fk": Command("fk", "forward kinematics: the pose of every link"),
    "solve": Command("solve", "inverse kinematics"),
    "bake": Command("bake", "solve the tasks of a .blend at every frame, write keyframes"),
    "check": Command("check", "compare the animation of a .blend with tasks and limits"),
    "demo": Command("demo", "make, bake and check a ready scene: two laser circles, a door"),
    "dynamics": Command("dynamics", "efforts, power, energy and the load on the ground of a motion"),
    "move": Command("move", "a list of moves, like a robot's program, as joint values over time"),
    "plan": Command("plan", "a path between two postures on which nothing collides"),
    "retime": Command("retime", "new timing for a motion: fastest, in a time, or as animated but legal"),
    "retarget": Command("retarget", "tasks of a robot that follow a captured motion of a .blend"),
    "reduce": Command("reduce", "fewer keys for the animation of a .blend, with a bound on the tool's error"),
    "smooth": Command("smooth", "repair the animation of a .blend that breaks limits"),
    "solve-again": Command(
        "motions.solve_again", "solve again the frames of a .blend that miss a task or break a limit"
    ),
    "export": Command("export", "write the animation of a .blend as joint values over time, or a robot as URDF"),
}

DONE, NOT_MET, BAD_INPUT, FAULT = 0, 1, 2, 3
INTERRUPTED = 130  # as of a shell: 128 and the signal

DESCRIPTION = """\
Robots in Blender, without the window: read a robot, solve its inverse kinematics, bake and check
its motion, export it. `robokin COMMAND --help` explains each command.

Everything is in SI units and radians; quaternions are w:x:y:z. FILE is a robot description (.urdf,
.xacro, or a table as .csv) or a Blender file (.blend) with a robot in it."""

EPILOG = """\
exit codes:
  0  done
  1  done, but a task or a limit is not met (the report says which)
  2  bad input, or a file that cannot be written: none was; one line says what is wrong
  3  a fault of the program; its traceback is what a report of it needs
  130  stopped by Ctrl+C; no file is half written

examples:
  robokin info panda.urdf
  robokin solve panda.urdf --task kind=pose,tip=panda_hand,target=0.4:0:0.5:0:1:0:0 --json pose.json
  robokin import panda.urdf -o panda.blend
  robokin bake panda.blend --task kind=position,tip=panda_hand,target=0.4:0:0.5 --frames 1:250 -o baked.blend
  robokin export baked.blend --frames 1:250 --rate 100 -o motion.csv
  blender --background baked.blend --command robokin check --frames 1:250"""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, where argparse prints the usage and ends the process."""

    def _print_message(self, message: str, file: object = None) -> None:
        out(message.rstrip("\n"))  # of --help and --version

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


class ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> NoReturn:
        out(f"robokin {version()}")
        parser.exit()


def build_parser(chosen: str) -> Parser:
    """The parser of the command line. chosen: the command whose arguments it knows."""
    parser = Parser(
        prog="robokin",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        sub = commands.add_parser(
            name, help=command.help, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        if name == chosen:
            module = import_module(f".commands.{command.module}", __package__)
            sub.description, sub.epilog = module.__doc__, getattr(module, "EPILOG", None)
            module.add_arguments(sub)
            sub.set_defaults(run=module.run, parser=sub)
    return parser


def main(argv: Sequence[str] | None = None, *, in_blender: bool = False) -> int:
    """Run one command line (without the program's name; None: that of the process) and return its exit code.

    0: done; 1: done, but a task or limit is not met; 2: bad input, said in one line on standard error;
    3: a fault of the program, its traceback there; 130: stopped by Ctrl+C.
    in_blender: Blender runs us, and its open file is meant where no FILE is named.
    """
    try:
        open_streams()
        with log_shown(), warnings.catch_warnings():
            if not sys.warnoptions:  # NumPy's remarks on large numbers; a command says itself what is wrong
                warnings.simplefilter("ignore", RuntimeWarning)
            return _run(sys.argv[1:] if argv is None else argv, in_blender)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    finally:
        if argv is None:  # the process has nothing else to do
            atexit.register(ignore_interrupts)  # called first at its end


def _run(argv: Sequence[str], in_blender: bool) -> int:
    try:
        words = _joined(argv)
        chosen = next((word for word in words if not word.startswith("-")), "")
        with interrupts_held():
            parser = build_parser(chosen)
        arguments, unknown = parser.parse_known_args(words, argparse.Namespace(in_blender=in_blender))
        if unknown:
            arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
        from .arguments import check_written_files  # the command has imported it

        check_written_files(arguments)
        return DONE if arguments.run(arguments) else NOT_MET
    except SystemExit as end:  # --help and --version
        return int(end.code or 0)
    except RobokinError as error:
        say(str(error))
        return BAD_INPUT
    except OSError as error:
        what = error.strerror or str(error)
        say(f"{error.filename}: {what}" if error.filename else what)
        return BAD_INPUT
    except Exception:  # Python's own exit code for it means a target that is not met
        import traceback

        tell(traceback.format_exc())
        return FAULT


def _joined(words: Sequence[str]) -> list[str]:
    """`--frames -5:10` as `--frames=-5:10`: argparse takes what begins with a dash for an option."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1].startswith("--") and re.match(r"-\.?\d", word):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined
