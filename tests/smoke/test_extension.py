"""The built extension in the real Blender application: installed, used, disabled, updated, removed.

The environment variable BLENDER holds the command that starts it. Its profile starts empty. The tests run in order:
each step is what a user does next.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import forward_kinematics, load_urdf
from support.robots import robot

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text("utf-8"))
MODULE = f"bl_ext.user_default.{MANIFEST['id']}"
NEXT_VERSION = "999.0.0"
TARGET = "kind=position,tip=panda_hand,target=0.4:0.1:0.5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the steps leave for each other."""
    return tmp_path_factory.mktemp("smoke")


def blender(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*shlex.split(os.environ["BLENDER"]), *map(str, arguments)]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def robokin(*arguments: object) -> subprocess.CompletedProcess[str]:
    return blender("--background", "--command", "robokin", *arguments)


def in_blender(folder: Path, script: str, *options: object) -> object:
    """What `script` leaves in `result`, run by Blender; an error in it fails the test."""
    (folder / "script.py").write_text(
        script + f"\nimport json\njson.dump(result, open({str(folder / 'out')!r}, 'w'))\n"
    )
    (folder / "out").unlink(missing_ok=True)
    arguments = ("--background", *options, "--python-exit-code", 7, "--python", folder / "script.py")
    done = blender(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "out").read_text())


def archive() -> Path:
    found = sorted((ROOT / "dist").glob(f"{MANIFEST['id']}-{MANIFEST['version']}-linux_x64.zip"))
    assert found, "make extension comes first"
    return found[0]


def installed_version(folder: Path) -> str:
    done = robokin("--version")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("robokin "))


def test_installs_and_is_enabled_after_a_restart(folder) -> None:
    before = robokin("--version")
    assert before.returncode != 0, "the profile is not empty"
    done = blender("--command", "extension", "install-file", "-r", "user_default", "-e", archive())
    assert done.returncode == 0, done.stdout + done.stderr
    assert installed_version(folder) == MANIFEST["version"]


def test_the_native_kernel_is_loaded_from_the_wheel(folder) -> None:
    script = f"""
import importlib
backend = importlib.import_module("{MODULE}.robokin.backend")
import robokin_kernel
result = [backend.get_backend("auto").name, robokin_kernel.library_path()]
"""
    name, library = in_blender(folder, script)
    assert name == "native"
    assert "/.local/lib/python3" in library


def test_blender_lists_it_without_a_warning(folder) -> None:
    done = blender("--command", "extension", "list")
    listed = [line for line in done.stdout.splitlines() if MANIFEST["name"] in line or "violation" in line]
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(listed) == 1, done.stdout
    assert "[installed]" in listed[0], done.stdout


def test_commands_give_what_they_give_outside(folder) -> None:
    path = robot("panda")
    model = load_urdf(path)
    values = {"panda_joint2": 0.5, "panda_joint4": -1.2}
    done = robokin("fk", path, "--q", json.dumps(values), "--json", folder / "fk.json")
    assert done.returncode == 0, done.stdout + done.stderr
    frames = json.loads((folder / "fk.json").read_text())["frames"]
    for link, T in forward_kinematics(model, model.configuration(values)).items():
        assert np.array(frames[link]) == pytest.approx(T, abs=1e-12)
    assert robokin("solve", path, "--task", TARGET).returncode == 0
    assert robokin("solve", path, "--task", TARGET.replace("0.4", "9")).returncode == 1
    bad = robokin("info", folder / "nothing.urdf")
    assert bad.returncode == 2
    assert "nothing.urdf: there is no such file" in bad.stderr
    assert "Traceback" not in bad.stderr + bad.stdout


def test_imports_a_robot_with_its_meshes(folder) -> None:
    done = robokin("import", robot("panda"), "-o", folder / "panda.blend")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "panda.blend").stat().st_size > 1_000_000
    done = robokin("info", folder / "panda.blend", "--json", folder / "info.json")
    assert done.returncode == 0, done.stdout + done.stderr
    outside = robokin("info", robot("panda"), "--json", folder / "urdf.json")
    assert outside.returncode == 0
    assert json.loads((folder / "info.json").read_text()) == json.loads((folder / "urdf.json").read_text())


def test_imports_into_the_open_file(folder) -> None:
    both = folder / "both.blend"
    open_file = ("--background", folder / "panda.blend", "--command", "robokin")
    done = blender(*open_file, "import", robot("ur5_robot"), "-o", both)
    assert done.returncode == 0, done.stdout + done.stderr
    assert robokin("info", both).returncode == 2
    for name in ("panda", "ur5"):
        assert robokin("info", both, "--robot", name).returncode == 0


def test_bakes_checks_and_exports(folder) -> None:
    script = """
import bpy
robot = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
target = bpy.data.objects.new("target", None)
bpy.context.scene.collection.objects.link(target)
for frame, y in ((1, -0.2), (20, 0.2)):
    target.location = (0.4, y, 0.5)
    target.keyframe_insert("location", frame=frame)
task = robot.robokin.tasks.add()
task.name, task.kind, task.target = "hold", "POSITION", target
task.tip = next(b.name for b in robot.data.bones if "hand" in b.name)
robot.robokin.solver.posture = '{"panda_joint4": -2, "panda_joint6": 2}'
bpy.ops.wm.save_mainfile()
result = None
"""
    in_blender(folder, script, folder / "panda.blend")
    baked = folder / "baked.blend"
    done = robokin("bake", folder / "panda.blend", "--frames", "1:20", "-o", baked, "--json", folder / "bake.json")
    assert done.returncode == 0, done.stdout + done.stderr
    frames = json.loads((folder / "bake.json").read_text())["frames"]
    assert [(f["frame"], f["status"]) for f in frames] == [(i, "CONVERGED") for i in range(1, 21)]
    done = blender("--background", baked, "--command", "robokin", "check", "--frames", "1:20")
    assert done.returncode == 0, done.stdout + done.stderr
    done = robokin("export", baked, "--frames", "1:20", "--rate", 50, "-o", folder / "motion.csv")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = (folder / "motion.csv").read_text().splitlines()
    assert rows[0].startswith("time,panda_joint1,")
    assert len(rows) > 20


def test_updates_to_a_newer_version(folder) -> None:
    newer = folder / "newer.zip"
    with zipfile.ZipFile(archive()) as old, zipfile.ZipFile(newer, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith("blender_manifest.toml"):
                text = content.decode()
                assert f'\nversion = "{MANIFEST["version"]}"' in text
                content = text.replace(MANIFEST["version"], NEXT_VERSION, 1).encode()
            new.writestr(entry, content)
    done = blender("--command", "extension", "install-file", "-r", "user_default", "-e", newer)
    assert done.returncode == 0, done.stdout + done.stderr
    assert installed_version(folder) == NEXT_VERSION
    assert robokin("info", folder / "panda.blend").returncode == 0


SWITCH = f"""
import bpy
bpy.ops.preferences.addon_{{}}(module="{MODULE}")
bpy.ops.wm.save_userpref()
result = [a.module for a in bpy.context.preferences.addons]
"""


def test_disables_and_enables(folder) -> None:
    assert MODULE not in in_blender(folder, SWITCH.format("disable"))
    assert robokin("--version").returncode != 0
    assert MODULE in in_blender(folder, SWITCH.format("enable"))
    assert installed_version(folder) == NEXT_VERSION


def test_files_open_without_it_and_keep_their_data(folder) -> None:
    kept = folder / "kept.blend"
    shutil.copy(folder / "baked.blend", kept)
    script = """
import bpy
robot = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
bpy.context.view_layer.objects.active = robot
bpy.ops.object.mode_set(mode="EDIT")
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.wm.save_mainfile()
result = hasattr(robot, "robokin")
"""
    assert in_blender(folder, script, "--factory-startup", kept) is False
    for file in ("baked", "kept"):
        done = robokin("info", folder / f"{file}.blend", "--json", folder / f"{file}.json")
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((folder / "kept.json").read_text()) == json.loads((folder / "info.json").read_text())
    check = robokin("check", kept, "--frames", "1:20", "--json", folder / "check.json")
    assert check.returncode == 0, check.stdout + check.stderr
    assert {frame["status"] for frame in json.loads((folder / "check.json").read_text())["frames"]} == {"CONVERGED"}


def test_is_removed(folder) -> None:
    done = blender("--command", "extension", "remove", f"user_default.{MANIFEST['id']}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert robokin("--version").returncode != 0
