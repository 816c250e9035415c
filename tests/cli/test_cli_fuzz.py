"""Damaged command lines and files: each ends with 0, 1 or 2, in bounded time, and says so in plain lines."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from robokin_addon.cli.blend_file import is_whole_blend
from robokin_addon.cli.text.task_grammar import GRAMMAR, VELOCITIES
from robokin_addon.solvers.criteria import KINDS as CRITERIA
from support.blender.scene_file import put_scene
from support.command import Outcome, run
from support.hostile.fuzzing import NUMBERS, SEED, VARIABLE, bounded, damaged_bytes, damaged_text, inputs

pytestmark = pytest.mark.slow

# By the Unicode standard: what no terminal should get from a file, but the end of a line.
STEERING = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SECONDS = 60

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><inertial><origin xyz="0 0 0.1" rpy="0 0 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual></link>
  <link name="upper"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="lower"/><link name="slide"/><link name="hand"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="3" effort="10"/><origin xyz="0 0 0.5" rpy="0 0.1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <limit velocity="3" effort="10"/><origin xyz="0.5 0 0"/><dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="rail" type="prismatic"><parent link="lower"/><child link="slide"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.3" velocity="1" effort="10"/></joint>
  <joint name="finger" type="prismatic"><parent link="slide"/><child link="hand"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.3" velocity="1" effort="10"/><mimic joint="rail" multiplier="0.5" offset="0"/></joint>
</robot>
"""
TABLE = """robot,arm
angles,degrees
lengths,mm
joint,type,a,alpha,d,theta,lower,upper,mass
one,R,100,90,300,0,-170,170,2
two,R,250,0,0,45,-90,90,1
three,P,0,0,100,0,0,200,1
"""
SRDF = """<robot name="arm"><group name="g"><joint name="shoulder"/><joint name="elbow"/></group>
<group_state name="home" group="g"><joint name="shoulder" value="0.5"/><joint name="elbow" value="1"/></group_state>
</robot>
"""
VALUES = '{"shoulder": 0.5, "elbow": [1.0], "rail": 0.1}'


def tasks() -> Iterator[str]:
    """One of each kind, from what --help says of them."""
    for line in f"{GRAMMAR}\n{VELOCITIES}".splitlines():
        for text in re.findall(r"\bkind=\S+", line):
            text = text.rstrip(",").replace("LINK", "hand", 1).replace("LINK", "base").replace("JOINT", "elbow")
            text = text.replace("JSON", '{"elbow": 0.3}').replace("...", "0:1:2").replace("qw:qx:qy:qz", "1:0:0:0")
            yield re.sub(r"=([a-z]+:[a-z:0-9.]*|N)", lambda found: "=" + re.sub("[a-zN]+", "0.5", found[1]), text)


OPTIONS = re.findall(r",\w+=[^\s,(]+", "".join(re.findall(r"(?m)^            ,.*$", f"{GRAMMAR}\n{VELOCITIES}")))


FILES = {"arm.urdf": URDF, "arm.csv": TABLE, "arm.srdf": SRDF, "q.json": VALUES}
OTHERS = (
    "folder",
    "pipe.urdf",
    "zero.urdf",
    "loop.urdf",
    "none.urdf",
    "/dev/null",
    "/dev/full",
    "/dev/zero",
    "-",
    "--",
)
POSITION = "kind=position,tip=hand,target=0.5:0.1:0.4"


def put_files(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe.urdf")
    (folder / "zero.urdf").symlink_to("/dev/zero")
    (folder / "loop.urdf").symlink_to("loop.urdf")


def descriptions() -> list[list[str]]:
    """Right command lines, on descriptions of robots."""
    lines = []
    for file in ("arm.urdf", "arm.csv"):
        lines += [
            ["info", file, "--json", "-"],
            ["info", file, "--root", "floating", "--json", "out.json"],
            ["fk", file, "--q", VALUES if file == "arm.urdf" else '{"one": 0.3}'],
            ["fk", file, "--q", "q.json" if file == "arm.urdf" else "{}", "--backend", "numpy"],
            ["export", file, "-o", "out.urdf"],
        ]
    lines.append(["info", "arm.urdf", "--package-path", "folder"])
    for task in tasks():
        lines.append(["solve", "arm.urdf", "--task", task, "--seed", "3"])
        lines.append(["solve", "arm.urdf", "--task", task, "--q0", VALUES, "--json", "-"])
    lines.append(["solve", "arm.urdf", "--task", POSITION, "--srdf", "arm.srdf", "--posture", "home"])
    return lines + [["solve", "arm.urdf", "--task", POSITION, "--criterion", f"kind={kind}"] for kind in CRITERIA]


def scenes() -> list[list[str]]:
    """Right command lines, with Blender."""
    lines = [
        *(["import", file, "-o", "out.blend", "--no-meshes"] for file in ("arm.urdf", "arm.csv")),
        ["import", "arm.urdf", "-o", "out.blend", "--root", "planar", "--srdf", "arm.srdf"],
        ["info", "arm.blend", "--json", "out.json"],
        ["fk", "arm.blend", "--q", VALUES, "--robot", "arm"],
        ["check", "arm.blend", "--frames", "1:3", "--json", "-"],
        ["solve", "arm.blend", "--task", "kind=position,tip=hand,object=target", "--posture", "home"],
        ["export", "arm.blend", "-o", "out.urdf"],
        ["export", "arm.blend", "-o", "out.srdf"],
        *(
            ["export", "arm.blend", "-o", f"out.{end}", "--frames", "1:3", "--rate", "30"]
            for end in ("csv", "json", "yaml")
        ),
    ]
    for task in tasks():
        lines.append(["bake", "arm.blend", "-o", "out.blend", "--frames", "1:2", "--only-given", "--task", task])
    for more in (
        ["--q0", VALUES],
        ["--posture", "home", "--step", "2"],
        ["--start", "rest", "--seed", "4", "--new-action"],
    ):
        lines.append(["bake", "arm.blend", "-o", "out.blend", "--frames", "1:2", "--json", "out.json", *more])
    return lines


def damaged(rng: random.Random, lines: list[list[str]]) -> list[str]:
    """One of the right command lines, with one to three faults."""
    line = list(rng.choice(lines))
    words = [word for other in lines for word in other]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(1, len(line))
        task = next((i for i, word in enumerate(line) if word.startswith("kind=")), None)
        kind = rng.randrange(12)
        if kind == 0:
            del line[at]
        elif kind == 1:
            line.insert(at, rng.choice((*words, *OTHERS, *NUMBERS)))
        elif kind == 2:
            line[at] = rng.choice((*words, *OTHERS, *NUMBERS))
        elif kind == 3:
            line += rng.choice(lines)[2:]
        elif kind < 6 and task is not None:
            line[task] += re.sub(r"\b([a-zN]|[a-z]{2})\b", lambda _: rng.choice(NUMBERS), rng.choice(OPTIONS))
        elif kind < 9:
            at = at if task is None else task
            parts = re.split(r"(-?\d+(?:\.\d+)?)", line[at])  # every second is a number
            number = rng.choice(NUMBERS)
            line[at] = "".join(number if i % 2 and rng.random() < 0.4 else part for i, part in enumerate(parts))
        else:
            line[at] = damaged_text(rng, line[at])
        if len(line) < 2:
            line.append("")
    return [word.replace("\0", "") for word in line]  # no process has such arguments


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    put_files(tmp_path)
    return tmp_path


def check(outcome: Outcome, what: object) -> None:
    told = f"{VARIABLE}={SEED}: {str(what)[:3000]}: {str(outcome)[:3000]}"
    assert outcome.code in (0, 1, 2), told
    assert not STEERING.search(outcome.out) and not STEERING.search(outcome.err), told
    lines = outcome.err.splitlines()
    assert all(line.startswith("robokin: ") and len(line) < 2200 for line in lines), told
    if outcome.code == 2:
        assert outcome.out == "" and lines, told


@pytest.mark.parametrize("lines", [descriptions, scenes])
def test_right_command_lines_are_taken(lines, request, capsys) -> None:
    """Else the fuzzer would see refusals alone."""
    request.getfixturevalue("scene_file" if lines is scenes else "folder")
    done = [run(capsys, *line) for line in lines()]
    refused = [outcome.err for outcome in done if outcome.code == 2]
    assert len(refused) < len(done) / 5 and sum(each.code == 0 for each in done) > len(done) / 3, refused


def test_damaged_command_lines(folder, capsys) -> None:
    lines = descriptions()
    for number, rng in inputs(2500, "command lines"):
        line = damaged(rng, lines)
        with bounded(SECONDS, (number, line)):
            outcome = run(capsys, *line)
        check(outcome, (number, line))
        assert not list(folder.glob(".robokin-*")), (number, line)


def test_damaged_files(folder, capsys) -> None:
    commands = (
        ("x.urdf", ["info", "x.urdf"]),
        *(("x.urdf", ["fk", "x.urdf", "--root", root]) for root in ("floating", "planar", "wheeled")),
        ("x.urdf", ["solve", "x.urdf", "--task", POSITION]),
        ("x.urdf", ["export", "x.urdf", "-o", "out.urdf"]),
        ("x.csv", ["info", "x.csv"]),
        ("x.csv", ["export", "x.csv", "-o", "out.urdf"]),
        ("x.json", ["fk", "arm.urdf", "--q", "x.json"]),
        ("x.srdf", ["solve", "arm.urdf", "--task", "kind=pin,tip=hand", "--srdf", "x.srdf", "--posture", "home"]),
    )
    for number, rng in inputs(2500, "files"):
        name, line = rng.choice(commands)
        text = {"x.urdf": URDF, "x.csv": TABLE, "x.json": VALUES, "x.srdf": SRDF}[name]
        data = damaged_text(rng, text).encode() if rng.random() < 0.7 else damaged_bytes(rng, text.encode())
        (folder / name).write_bytes(data)
        with bounded(SECONDS, (number, line, data)):
            outcome = run(capsys, *line)
        check(outcome, (number, line, data))


@pytest.fixture
def scene_file(folder, addon) -> Path:
    put_scene(folder / "arm.blend", "arm.urdf", "finger", (0.5, 0.1, 0.4))
    return folder / "arm.blend"


def test_damaged_command_lines_with_blender(scene_file, capsys) -> None:
    lines, before = scenes(), scene_file.read_bytes()
    for number, rng in inputs(400, "scenes"):
        line = damaged(rng, lines)
        with bounded(SECONDS, (number, line)):
            outcome = run(capsys, *line)
        check(outcome, (number, line))
        if scene_file.read_bytes() != before:  # where OUT is left out, or is the file itself
            assert is_whole_blend(scene_file) and line[0] in ("bake", "import"), (number, line)
            scene_file.write_bytes(before)
        assert not list(scene_file.parent.glob(".robokin-*")), (number, line)
