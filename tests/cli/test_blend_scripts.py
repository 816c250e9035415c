"""What is Python in a Blender file is not run by the command line, which ends all the same."""

from __future__ import annotations

import pytest
from support.blender.scene_file import put_scene
from support.few import rest_slow
from support.program import program
from support.robots import robot


@pytest.fixture
def scene_file(addon, tmp_path):
    import bpy

    put_scene(tmp_path / "scene.blend", robot("panda"), "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    text = bpy.data.texts.new("script.py")
    text.write(f"open({str(tmp_path / 'script')!r}, 'w')\n")
    text.use_module = True  # Register
    for index, words in enumerate((f"len([open({str(tmp_path / 'driver')!r}, 'w')])", "0.1 + sin(0)")):
        driver = bpy.data.objects["target"].driver_add("location", index).driver
        driver.type, driver.expression = "SCRIPTED", words
    bpy.ops.wm.save_mainfile()
    yield tmp_path / "scene.blend"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.mark.parametrize(
    "command", rest_slow([["bake", "-o", "baked.blend"], ["info"], ["check"], ["export", "-o", "a.csv"]])
)
def test_scripts_in_a_blender_file_are_not_run(scene_file, tmp_path, command) -> None:
    (tmp_path / "driver").unlink(missing_ok=True)  # of Blender itself, as this test made the file
    done = program(command[0], scene_file, *command[1:], timeout=60, cwd=tmp_path)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done
    assert not (tmp_path / "script").exists() and not (tmp_path / "driver").exists(), command
