"""The command line as a whole: help, version, exit codes, and that bad input is one clear line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from robokin_addon.cli import main, version
from robokin_addon.cli.commands import info
from support.command import run
from support.program import program
from support.robots import robot

PANDA_TASK = "kind=position,tip=panda_hand,target=0.4:0.1:0.5"


def test_version(capsys) -> None:
    outcome = run(capsys, "--version")
    assert outcome == (0, f"robokin {version()}\n", "")


def test_help_names_every_command_and_every_command_has_help(capsys) -> None:
    outcome = run(capsys, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    for command in COMMANDS:
        assert f"  {command} " in outcome.out
        own = run(capsys, command, "--help")
        assert (own.code, own.err) == (0, "")
        assert own.out.startswith(f"usage: robokin {command}")
    assert "exit codes" in outcome.out
    assert "kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz" in run(capsys, "solve", "--help").out


COMMANDS = ("import", "info", "fk", "solve", "bake", "check", "export")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["COMMAND"]),
        (["dance"], ["dance", "info", "solve"]),
        (["info", "PANDA", "--jsn", "x"], ["--jsn", "see robokin info --help"]),
        (["info", "nowhere.urdf"], ["nowhere.urdf", "no such file"]),
        (["info", "FOLDER"], ["FOLDER", "folder"]),
        (["info", "PANDA", "--json", "FOLDER"], ["--json", "folder"]),
        (["info", "PANDA", "--json", "FOLDER/none/report.json"], ["--json", "no folder"]),
        (["info", "PANDA", "--root", "flying"], ["--root", "flying", "floating"]),
        (["info", "PANDA", "--robot", "panda"], ["--robot", ".blend"]),
        (["fk", "PANDA", "--backend", "gpu"], ["--backend", "gpu", "numpy"]),
        (["fk", "PANDA", "--q"], ["--q"]),
        (["solve", "PANDA"], ["--task"]),
        (["solve", "PANDA", "--task", PANDA_TASK, "--seed", "-1"], ["--seed", "-1"]),
        (["solve", "PANDA", "--task", PANDA_TASK, "--seed", "many"], ["--seed", "many"]),
        (["solve", "PANDA", "--task", PANDA_TASK, "--q0", '{"x": 1}'], ["joint", "'x'", "valid"]),
        (["solve", "PANDA", "--task", PANDA_TASK.replace("hand", "foot")], ["link", "panda_foot"]),
        (["bake", "PANDA", "--frames", "1:10"], ["PANDA", ".blend"]),
        (["bake", "nowhere.blend", "--frames", "1:10"], ["nowhere.blend", "no such file"]),
        (["bake", "--frames", "1-10"], ["--frames", "1-10", "A:B"]),
        (["bake", "--frames", "10:1"], ["--frames", "10:1", "after"]),
        (["check", "BROKEN.blend"], ["BROKEN.blend"]),
        (["export", "nowhere.blend", "--rate", "0", "-o", "m.csv"], ["--rate", "'0'"]),
        (["export", "nowhere.blend", "--rate", "30", "-o", "m.txt"], ["m.txt", ".csv"]),
        (["export", "nowhere.blend", "--rate", "30"], ["-o"]),
        (["import", "PANDA"], ["-o"]),
        (["import", "PANDA", "-o", "panda.png"], ["panda.png", ".blend"]),
        (["import", "nowhere.urdf", "-o", "panda.blend"], ["nowhere.urdf"]),
    ],
)
def test_bad_command_lines(arguments, words, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "BROKEN.blend").write_bytes(b"not a Blender file")
    names = {"PANDA": str(robot("panda")), "FOLDER": str(tmp_path)}
    for name, value in names.items():
        arguments = [a.replace(name, value) for a in arguments]
        words = [w.replace(name, value) for w in words]
    assert run(capsys, *arguments).refused(*words)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\x01\x02 binary",
        b"<robot name='x'><link name='a'/>",
        b"<robot name='x'/>",
        b"<robot name='x'><link name='a'/><link name='b'/></robot>",
        b"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><robot name='&b;'/>",
        b"<html><body>404</body></html>",
        b"\xff\xfe<robot",
    ],
)
def test_a_file_that_is_no_robot_is_refused_with_its_name(content, capsys, tmp_path) -> None:
    path = tmp_path / "bad.urdf"
    path.write_bytes(content)
    assert run(capsys, "info", path).refused("bad.urdf")


def test_a_report_that_cannot_be_written_is_bad_input(capsys, tmp_path) -> None:
    """Found before the work is done, where that can be known."""
    if os.access("/dev/full", os.W_OK):
        assert run(capsys, "info", robot("panda"), "--json", "/dev/full").refused("/dev/full")
    assert run(capsys, "info", robot("panda"), "--json", tmp_path / "a" / "b").refused("--json")


@pytest.mark.parametrize(
    ("command", "read", "written"),
    [
        (["move", "PANDA", "--velocity", "1"], "--moves", "--output"),
        (["move", "PANDA", "-o", "OTHER"], "--moves", "--json"),
        (["move", "PANDA", "--moves", "OTHER"], "--q0", "--output"),
        (["plan", "PANDA", "--q0", "{}"], "--q1", "--output"),
        (["plan", "PANDA", "-o", "OTHER"], "--q1", "--json"),
        (["retime", "PANDA", "-o", "OTHER"], "--motion", "--json"),
    ],
)
def test_what_a_command_reads_is_not_what_it_writes(command, read, written, capsys, tmp_path) -> None:
    names = {"PANDA": str(robot("panda")), "OTHER": str(tmp_path / "other.json")}
    path = tmp_path / "own.json"
    path.write_text('{"moves": [{"joints": {}}]}')
    arguments = [names.get(word, word) for word in command]
    assert run(capsys, *arguments, read, path, written, path).refused(f"{written} {path}: this is {read}")
    assert path.read_text() == '{"moves": [{"joints": {}}]}' and len(list(tmp_path.iterdir())) == 1


def test_as_a_program(tmp_path) -> None:
    """The console script in a process of its own: no Blender is loaded for a .urdf, exit codes reach the shell."""

    def run_alone(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
        return program(*arguments, after="assert 'bpy' not in sys.modules", env=os.environ | environment)

    panda = str(robot("panda"))
    info = run_alone("info", panda, "--json", "-")
    assert (info.returncode, json.loads(info.stdout)["nv"]) == (0, 8)
    reached = run_alone("solve", panda, "--task", PANDA_TASK, "--json", "-")
    assert (reached.returncode, json.loads(reached.stdout)["status"]) == (0, "CONVERGED")
    too_far = run_alone("solve", panda, "--task", "kind=position,tip=panda_hand,target=9:0:0", "--json", "-")
    assert (too_far.returncode, json.loads(too_far.stdout)["status"]) == (1, "OUT_OF_REACH")
    (tmp_path / "other.urdf").write_text('<robot name="\u30ed\U0001f916"><link name="b"/></robot>', "utf-8")
    other = run_alone("info", str(tmp_path / "other.urdf"), "--json", "-", PYTHONIOENCODING="ascii")
    assert (other.returncode, json.loads(other.stdout)["robot"]) == (0, "\u30ed\U0001f916"), other
    assert run_alone("info", str(tmp_path / "other.urdf"), PYTHONIOENCODING="ascii").returncode == 0
    bad = run_alone("info", str(tmp_path / "nothing.urdf"))
    assert (bad.returncode, bad.stdout) == (2, "")
    assert len(bad.stderr.splitlines()) == 1


def test_a_fault_of_the_program_is_no_target_that_is_missed(monkeypatch, capsys) -> None:
    def fail(arguments):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(info, "run", fail)
    outcome = run(capsys, "info", robot("panda"))
    assert (outcome.code, outcome.out) == (3, "")
    assert "Traceback" in outcome.err and "ZeroDivisionError: a fault" in outcome.err


def test_frames_may_be_negative(capsys) -> None:
    assert run(capsys, "check", "nowhere.blend", "--frames", "-5:10").refused("nowhere.blend")
    assert run(capsys, "check", "nowhere.blend", "--frames", "-5:-10").refused("--frames", "-5:-10", "after")


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["robokin", "info", str(robot("panda"))])
    assert main() == 0
    assert "panda" in capsys.readouterr().out
