"""Full disks, programs that are killed, several writers, damaged kernels: what is on the disk is whole, old or new."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import robokin_kernel
from robokin_addon.cli.blend_file import is_whole_blend
from support.blender.scene_file import put_scene
from support.command import run
from support.hostile.fuzzing import SEED, VARIABLE, damaged_bytes, damaged_text, inputs
from support.program import LOAD, command, program, room_left
from support.robots import robot

pytestmark = pytest.mark.slow

PANDA = str(robot("panda"))


@pytest.fixture
def scene_file(addon, tmp_path) -> Path:
    """In a folder of its own."""
    (tmp_path / "scene").mkdir()
    path = tmp_path / "scene" / "scene.blend"
    put_scene(path, PANDA, "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    return path


def test_full_disks(scene_file, capsys) -> None:
    """Whatever the room: done and whole, or refused and as it was."""
    folder = scene_file.parent
    commands = {
        "scene.blend": ["bake", scene_file, "--frames", "1:5"],
        "new.blend": ["import", PANDA, "--no-meshes", "-o", folder / "new.blend"],
        "r.json": ["info", PANDA, "--json", folder / "r.json"],
        "out.urdf": ["export", PANDA, "-o", folder / "out.urdf"],
        **{
            f"out.{end}": ["export", scene_file, "-o", folder / f"out.{end}", *more]
            for end, more in (("csv", ["--frames", "1:99"]), ("yaml", ["--frames", "1:99"]), ("srdf", []))
        },
    }
    whole, before = {}, scene_file.read_bytes()
    for name, line in commands.items():
        assert run(capsys, *line).code == 0, line
        whole[name] = (folder / name).read_bytes()
        scene_file.write_bytes(before)
    for number, rng in inputs(100, "full disks"):
        name = rng.choice(list(commands))
        for other in folder.iterdir():
            other.unlink()
        scene_file.write_bytes(before)
        old = rng.choice((None, b"old" * 9999)) if name != "scene.blend" else before
        if old is not None:
            (folder / name).write_bytes(old)
        room = rng.choice((0, 1, 4096, rng.randrange(len(whole[name])), len(whole[name]) - 1, 10**8))
        with room_left(room):
            done = run(capsys, *commands[name])
        told = (f"{VARIABLE}={SEED}", number, name, room, done)
        found = (folder / name).read_bytes() if (folder / name).exists() else None
        assert done.code in (0, 2), told
        if done.code == 2:
            assert found == old and len(done.err.splitlines()) == 1, told
        else:
            assert is_whole_blend(folder / name) if name.endswith(".blend") else found == whole[name], told
        assert {each.name for each in folder.iterdir()} <= {name, "scene.blend", "scene.blend1", "new.blend1"}, told


# Writes one of three contents again and again; says so before the first.
TEXTS = """
from robokin_addon.robokin.files.text_file import write_text
contents = [letter * size for letter, size in zip("abc", (10, 300_000, 5_000_000))]
print("ready", flush=True)
while True:
    for content in contents:
        write_text(sys.argv[1], content)
"""
BLENDS = """
import bpy
from robokin_addon.cli.blend_saving import save_as
from robokin_addon.cli.quiet import output_dropped
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
print("ready", flush=True)
with output_dropped():
    while True:
        save_as(sys.argv[1])
"""


def start(script: str, path: Path) -> subprocess.Popen:
    command = [sys.executable, "-c", LOAD + script, str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while (line := process.stdout.readline()) != "ready\n":
        assert line, process.wait(60)
    return process


def kill(processes: list[subprocess.Popen], seconds: float) -> None:
    """After so long, if they have not ended by themselves, as they must not."""
    time.sleep(seconds)
    for process in processes:
        assert process.poll() is None
        process.kill()
        process.communicate()


@pytest.mark.parametrize("writers", [1, 3])
def test_programs_that_are_killed_while_they_write_text(writers, tmp_path) -> None:
    path = tmp_path / "a"
    path.write_text("c" * 5_000_000)
    for number, rng in inputs(8, f"killed {writers}"):
        kill([start(TEXTS, path) for _ in range(writers)], rng.uniform(0.0, 0.3))
        text = path.read_text()
        assert (text[:1], len(text)) in (("a", 10), ("b", 300_000), ("c", 5_000_000)), (SEED, number)
        assert text == text[:1] * len(text), (SEED, number)
    for part in tmp_path.glob(".robokin-*.part"):  # what a killed program leaves, and nothing else
        part.unlink()
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("writers", [1, 2])
def test_programs_that_are_killed_while_they_save(writers, scene_file) -> None:
    for number, rng in inputs(6, f"killed saves {writers}"):
        kill([start(BLENDS, scene_file) for _ in range(writers)], rng.uniform(0.0, 0.5))
        kept = scene_file.with_name("scene.blend1")
        assert is_whole_blend(scene_file) and (not kept.exists() or is_whole_blend(kept)), (SEED, number)
    assert program("info", scene_file).returncode == 0


def test_bakes_in_place_at_once(scene_file) -> None:
    for number, rng in inputs(3, "bakes at once"):
        processes = []
        for _ in range(3):
            line = command("bake", scene_file, "--frames", f"1:{rng.randint(1, 9)}")
            processes.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            time.sleep(rng.uniform(0.0, 0.3))
        ends = [(*process.communicate(timeout=120), process.returncode) for process in processes]
        assert all(code == 0 and not err for _, err, code in ends), (SEED, number, ends)
        assert sorted(os.listdir(scene_file.parent)) == ["scene.blend", "scene.blend1"], (SEED, number)
        assert is_whole_blend(scene_file) and is_whole_blend(scene_file.with_name("scene.blend1")), (SEED, number)


def test_ctrl_c_while_baking(scene_file) -> None:
    """At any time: one line and 130, or done."""
    before = scene_file.read_bytes()
    for number, rng in inputs(12, "ctrl c"):
        line = command("bake", scene_file, "--frames", "1:150", before="print('ready', flush=True)")
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(rng.uniform(0.0, 2.5))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
        told = (f"{VARIABLE}={SEED}", number, process.returncode, err)
        assert (process.returncode, err) in ((0, ""), (130, "robokin: interrupted\n")), told
        assert is_whole_blend(scene_file), told
        scene_file.write_bytes(before)
        assert set(os.listdir(scene_file.parent)) <= {"scene.blend", "scene.blend1"}, told


def test_damaged_kernels(tmp_path) -> None:
    """The library is refused or as it was, the package anything: NumPy takes over, and says so in a line."""
    whole = Path(robokin_kernel.library_path()).read_bytes()
    source = Path(robokin_kernel.__file__).read_text("utf-8")
    robots = program("fk", PANDA, "--q", '{"panda_joint1": 0.3}')
    assert robots.returncode == 0 and not robots.stderr
    for number, rng in inputs(15, "kernels"):
        folder = tmp_path / str(number) / "robokin_kernel"
        folder.mkdir(parents=True)
        library, text = whole, source
        if rng.random() < 0.5:
            library = rng.choice((whole[: rng.randrange(len(whole))], damaged_bytes(rng, whole), _flipped(rng, whole)))
        else:
            text = damaged_text(rng, source)
        (folder / Path(robokin_kernel.library_path()).name).write_bytes(library)
        (folder / "__init__.py").write_text(text, "utf-8", errors="surrogatepass")
        path = os.pathsep.join(filter(None, (str(folder.parent), os.environ.get("PYTHONPATH"))))
        done = program("fk", PANDA, "--q", '{"panda_joint1": 0.3}', env=os.environ | {"PYTHONPATH": path})
        told = (f"{VARIABLE}={SEED}", number, done)
        assert (done.returncode, done.stdout) == (0, robots.stdout), told
        lines = done.stderr.splitlines()
        assert len(lines) <= 1 and all("the native kernel is not used" in line for line in lines), told
        assert lines or library == whole, told


def _flipped(rng: random.Random, data: bytes) -> bytes:
    """One bit."""
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
