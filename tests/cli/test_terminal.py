"""What reaches the terminal: no character that steers it, one line for each fault, and nothing lost where it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from robokin_addon.cli.blend_file import is_whole_blend
from robokin_addon.cli.terminal import LONGEST, plain
from support.blender.scene_file import put_scene
from support.command import run
from support.few import rest_slow
from support.program import command, program
from support.robots import robot

PANDA = str(robot("panda"))
SCENE = "the scene"  # in place of the path of the fixture
FAR = "kind=position,tip=panda_hand,target=9:0:0"


@pytest.fixture
def scene_file(addon, tmp_path) -> Path:
    put_scene(tmp_path / "scene.blend", PANDA, "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    return tmp_path / "scene.blend"


def is_plain(text: str) -> bool:
    return plain(text) == text


def test_names_do_not_steer_the_terminal(capsys, tmp_path) -> None:
    name = "&#x7f;&#x9b;31m\u202e&#9;&#x2028;"
    file = tmp_path / "a.urdf"
    file.write_text(
        f"<robot name='r{name}'><link name='a{name}'/><link name='b'/><link name='c'/>"
        f"<joint name='j{name}' type='continuous'><parent link='a{name}'/><child link='b'/></joint>"
        f"<joint name='k' type='continuous'><parent link='b'/><child link='c'/><mimic joint='no{name}'/></joint>"
        "</robot>",
        "utf-8",
    )
    for arguments in (
        ["info", file],
        ["fk", file],
        ["solve", file, "--task", "kind=position,tip=b,target=0:0:0"],
        ["fk", file, "--q", '{"x\x1b[31m": 1}'],
        ["solve", file, "--task", "kind=posi\x1btion,tip=b"],
        ["info", f"{file}\x1b[31m"],
        ["info", file, "--root", "\x1b[31m\u202e"],
        ["info", file, "--\x1b[31m"],
        ["info\x9b"],
        ["export", file, "-o", tmp_path / "a\x1b.urdf"],
    ):
        outcome = run(capsys, *arguments)
        assert outcome.code in (0, 2) and is_plain(outcome.out) and is_plain(outcome.err), (arguments, outcome)
        assert outcome.out or outcome.err
    told = json.loads(run(capsys, "info", file, "--json", "-").out)
    assert told["robot"].startswith("r\x7f\x9b31m\u202e") and "\\u202e" in run(capsys, "info", file).out
    assert is_plain(run(capsys, "info", file, "--json", "-").out)


def test_letters_of_any_alphabet_stay() -> None:
    text = "Gelenk ü\n関節 مفصل \U0001f916 e\u0301 \u200d"
    assert plain(text) == text and plain("a\tb\ud800") == "a\\u0009b\\ud800"


def test_remarks_of_readers_are_said_as_all_others(capsys, tmp_path) -> None:
    file = tmp_path / "a.urdf"
    file.write_text(
        "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='continuous'><parent link='a'/>"
        "<child link='b'/><mimic joint='none'/></joint></robot>"
    )
    outcome = run(capsys, "info", file)
    assert outcome.code == 0
    assert re.fullmatch(r"robokin: .*a\.urdf:1: joint 'j' mimics 'none', .*ignored\n", outcome.err), outcome.err


def test_an_error_is_one_line_of_bounded_length(capsys) -> None:
    for arguments in (
        ["info", "x" * 100_000],
        ["solve", PANDA, "--task", "k" * 100_000],
        ["info", PANDA, "y" * 100_000],
    ):
        outcome = run(capsys, *arguments)
        assert outcome.code == 2 and outcome.err.count("\n") == 1 and len(outcome.err) < LONGEST + 50


def test_who_reads_may_have_seen_enough() -> None:
    """The exit code is that of the command, not of the pipe; nothing is said of it."""
    task = "kind=position,tip=panda_hand,target="
    for arguments, code, stream in (
        (["info", PANDA, "--json", "-"], 0, "stdout"),
        (["solve", PANDA, "--task", f"{task}9:0:0"], 1, "stdout"),
        (["solve", "--help"], 0, "stdout"),
        (["info", "nowhere.urdf"], 2, "stderr"),
    ):
        read, write = os.pipe()
        os.close(read)
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: write}
        done = program(*arguments, capture_output=False, **streams)
        os.close(write)
        assert (done.returncode, done.stdout or "", done.stderr or "") == (code, "", ""), (arguments, done)


def test_a_full_disk_behind_standard_output_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = program("info", PANDA, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (
        2,
        "robokin: standard output: cannot be written (No space left on device)\n",
    )


BAKE = ["bake", SCENE, "--frames", "1:2", "-o"]
IN_VAIN = [
    ([["--version"], ["info", PANDA, "--json", "-"], ["fk", PANDA]], 2, []),
    ([["info", PANDA, "--json", "r.json"]], 0, ["r.json"]),
    ([["solve", PANDA, "--task", FAR, "--json", "far.json"]], 1, ["far.json"]),
    ([[*BAKE, "b.blend", "--json", "b.json"]], 0, ["b.blend", "b.json"]),
    ([["solve", "--help"], ["solve", PANDA, "--task", FAR]], 2, []),
    ([["import", PANDA, "--no-meshes", "-o", "p.blend"]], 0, ["p.blend"]),
    ([[*BAKE, "a.blend"]], 0, ["a.blend"]),
    ([[*BAKE, "c.blend", "--json", "-"]], 0, ["c.blend"]),
    ([[*BAKE, "d.blend", "--task", FAR]], 1, ["d.blend"]),
    ([["check", SCENE, "--json", "check.json"]], 1, ["check.json"]),
    ([["export", PANDA, "-o", "o.urdf"]], 0, ["o.urdf"]),
    ([["export", SCENE, "-o", "o.csv"]], 0, ["o.csv"]),
]


@pytest.mark.parametrize(("commands", "code", "written"), rest_slow(IN_VAIN, 4))
def test_what_is_done_is_not_undone_by_a_full_standard_output(scene_file, tmp_path, commands, code, written) -> None:
    """Where a command has written its files, the code is that of its outcome, and a line names them."""
    for words in commands:
        arguments = [scene_file if word == SCENE else word for word in words]
        with open("/dev/full", "w") as full:
            streams = {"capture_output": False, "stdout": full, "stderr": subprocess.PIPE}
            done = program(*arguments, cwd=tmp_path, **streams)
        told = "standard output: cannot be written (No space left on device)"
        told += f"; written: {', '.join(written)}" if written else ""
        assert (done.returncode, done.stderr) == (code, f"robokin: {told}\n"), (arguments, done)
        assert all((tmp_path / name).exists() for name in written), arguments


@pytest.mark.parametrize("closed", [">&-", "0<&- >&- 2>&-"])
def test_closed_streams(closed, tmp_path) -> None:
    """A file that takes the number of a closed stream would get what is printed there."""
    blend, report = tmp_path / "p.blend", tmp_path / "r.json"
    for arguments, code in (
        (["info", PANDA, "--json", report], 0),
        (["import", PANDA, "--no-meshes", "-o", blend], 0),
        (["info", "nowhere"], 2),
    ):
        shell = ["sh", "-c", f'"$@" {closed}', "sh", *command(*arguments)]
        done = subprocess.run(shell, capture_output=True, text=True, timeout=120)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done
    assert json.loads(report.read_text("utf-8"))["robot"] == "panda" and is_whole_blend(blend)


def test_json_may_go_to_standard_output_under_its_own_name(tmp_path) -> None:
    for name in ("-", "/dev/stdout"):
        done = program("info", PANDA, "--json", name)
        assert (done.returncode, json.loads(done.stdout)["robot"]) == (0, "panda")
    with open(tmp_path / "out.json", "w") as out:
        done = program("info", PANDA, "--json", "/dev/stdout", capture_output=False, stdout=out)
    assert done.returncode == 0 and json.loads((tmp_path / "out.json").read_text())["robot"] == "panda"


def test_ctrl_c_is_one_line_and_130() -> None:
    # What the solver is called with waits, so that the signal comes in the middle of the work.
    before = (
        "import time\nfrom robokin_addon.cli.commands import solve\n"
        "def wait(*_, **__):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "solve.solve_ik = wait"
    )
    arguments = ["solve", PANDA, "--task", "kind=position,tip=panda_hand,target=0.4:0.1:0.5"]
    process = subprocess.Popen(
        command(*arguments, before=before), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "robokin: interrupted\n")


def test_warnings_of_numpy_are_not_shown() -> None:
    """pytest itself would catch them: the program is run alone, with a fault that warns before it."""
    before = (
        "import numpy\nfrom robokin_addon.cli.commands import info\nfrom robokin_addon.robokin import RobokinError\n"
        "def fail(_):\n    raise RobokinError(f'{numpy.float64(1e300) ** 2:g}')\n"
        "info.load_model = fail"
    )
    done = program("info", PANDA, before=before)
    assert (done.returncode, done.stderr) == (2, "robokin: inf\n")


def test_only_files_are_read(capsys, tmp_path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for name, reason in ((pipe, "is no regular file"), ("/dev/zero", "is no regular file"), (tmp_path, "is a folder")):
        assert run(capsys, "info", name).refused(str(name), reason)
    for name in (pipe, "/dev/zero", "/dev/stdin", tmp_path, "a\0b", "x" * 300):
        for option in (["fk", PANDA, "--q"], ["solve", PANDA, "--task", "kind=pose,tip=panda_hand", "--q0"]):
            outcome = run(capsys, *option, name)
            assert outcome.code == 2 and len(outcome.err.splitlines()) == 1, outcome


@pytest.mark.parametrize(
    "text",
    [
        '{"panda_joint1": ' + "9" * 5000 + "}",
        '{"panda_joint1": [' + "9" * 5000 + "]}",
        '{"panda_joint1": -' + "9" * 400 + "}",
        '{"panda_joint1": {"a": ' + "9" * 500 + "}}",
        '{"panda_joint1": 1e999}',
        '{"panda_joint1": NaN}',
        '{"panda_joint1": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda text: text[:24],
)
def test_numbers_that_are_none(text, capsys, tmp_path) -> None:
    file = tmp_path / "q.json"
    file.write_text(text)
    for given in (text, file):
        outcome = run(capsys, "fk", PANDA, "--q", given)
        assert outcome.refused("robokin: ") and len(outcome.err) < 2100
