"""Saving Blender files from the command line: whole or not at all, links and permissions as they were."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from robokin_addon.cli.blend_file import is_whole_blend
from support.blender.scene_file import put_scene
from support.command import run
from support.few import rest_slow
from support.program import command, full_disk, program
from support.robots import robot

pytestmark = pytest.mark.usefixtures("addon")


@pytest.fixture(scope="module")
def scene_file(addon, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("panda") / "panda.blend"
    put_scene(path, robot("panda"), "panda_hand_joint", (0.45, 0.1, 0.5), "--no-meshes")
    return path


@pytest.fixture
def file(scene_file, tmp_path) -> Path:
    path = tmp_path / "scene.blend"
    path.write_bytes(scene_file.read_bytes())
    return path


@pytest.mark.parametrize("share", rest_slow([0.5, 0.0, 0.1]))
def test_a_full_disk_leaves_the_file_that_was_there(file, share) -> None:
    """Blender itself reports a compressed file as saved that lacks its end. share: of the file that has room."""
    before = file.read_bytes()
    for arguments in (["bake", file], ["import", robot("panda"), "--no-meshes", "-o", file]):
        done = program(*arguments, before=full_disk(int(share * len(before))))
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done
        assert f"robokin: {file}: cannot be " in done.stderr
        assert file.read_bytes() == before and os.listdir(file.parent) == [file.name]
    new = file.with_name("new.blend")
    assert program("bake", file, "-o", new, before=full_disk(8192)).returncode == 2
    assert os.listdir(file.parent) == [file.name]


def test_a_report_that_cannot_be_written_leaves_the_file_too(file, tmp_path, capsys) -> None:
    """Exit code 2 means that nothing has been done."""
    before = file.read_bytes()
    assert run(capsys, "bake", file, "--json", "/dev/full").refused("/dev/full", "No space left")
    assert file.read_bytes() == before
    report = tmp_path / "report.json"
    report.write_text("old")
    assert run(capsys, "bake", file, "--frames", "1:900", "--json", report).code == 0  # longer than the file is large
    size = report.stat().st_size
    assert size > 2 * len(file.read_bytes()) > 0
    file.write_bytes(before)
    report.write_text("old")
    done = program("bake", file, "--frames", "1:900", "--json", report, before=full_disk(size - 1))
    assert done.returncode == 2 and str(report) in done.stderr, done
    assert file.read_bytes() == before and report.read_text() == "old"


def test_blend1_is_kept_as_blender_keeps_it(file, capsys) -> None:
    import bpy

    first = file.read_bytes()
    assert run(capsys, "bake", file).code == 0
    second = file.read_bytes()
    kept = file.with_name("scene.blend1")
    assert second != first and kept.read_bytes() == first
    assert run(capsys, "bake", file, "--frames", "1:5").code == 0
    assert kept.read_bytes() == second and sorted(os.listdir(file.parent)) == ["scene.blend", "scene.blend1"]
    bpy.ops.wm.open_mainfile(filepath=str(file))


@pytest.mark.parametrize("count", [0, 3])
def test_as_many_versions_are_kept_as_the_preferences_say(count, file) -> None:
    import bpy
    from robokin_addon.cli.blend_saving import save_as

    filepaths = bpy.context.preferences.filepaths
    filepaths.save_version = count
    try:
        bpy.ops.wm.open_mainfile(filepath=str(file))
        saved = [file.read_bytes()]
        for frame in range(1, 6):
            bpy.context.scene.frame_end = frame
            save_as(str(file))
            saved.insert(0, file.read_bytes())
    finally:
        filepaths.save_version = 1
    assert sorted(os.listdir(file.parent)) == ["scene.blend", *(f"scene.blend{i + 1}" for i in range(count))]
    for i in range(count):
        assert Path(f"{file}{i + 1}").read_bytes() == saved[i + 1]


def test_permissions_and_links_stay(file, tmp_path, capsys) -> None:
    file.chmod(0o640)
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "link.blend"
    link.symlink_to(file)
    before = file.read_bytes()
    assert run(capsys, "bake", link).code == 0
    assert link.is_symlink() and file.read_bytes() != before and stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(link.parent) == ["link.blend"]


def test_a_name_may_be_long(scene_file, tmp_path, capsys) -> None:
    file = tmp_path / ("n" * 245 + ".blend")
    file.write_bytes(scene_file.read_bytes())
    outcome = run(capsys, "bake", file, "--json", tmp_path / ("r" * 250 + ".json"))
    assert outcome.code == 0 and len(os.listdir(tmp_path)) == 3, outcome
    assert run(capsys, "export", file, "-o", tmp_path / ("m" * 251 + ".csv")).code == 0


def test_what_the_file_refers_to_is_found_from_the_new_place(file, tmp_path, capsys) -> None:
    import bpy

    (tmp_path / "a.png").write_bytes(b"")
    bpy.ops.wm.open_mainfile(filepath=str(file))
    image = bpy.data.images.new("a", 4, 4)
    image.source, image.filepath, image.use_fake_user = "FILE", "//a.png", True
    bpy.ops.wm.save_mainfile()
    (tmp_path / "folder").mkdir()
    other = tmp_path / "folder" / "other.blend"
    assert run(capsys, "bake", file, "-o", other).code == 0
    assert run(capsys, "bake", file).code == 0
    for path in (other, file):
        bpy.ops.wm.open_mainfile(filepath=str(path))
        assert Path(bpy.path.abspath(bpy.data.images["a"].filepath)).resolve() == tmp_path / "a.png"
        assert bpy.data.images["a"].filepath.startswith("//")


def test_a_file_that_the_open_one_links_from_is_not_replaced(file, tmp_path, capsys) -> None:
    import bpy

    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {bpy.data.meshes.new("linked")}, fake_user=True)
    bpy.ops.wm.open_mainfile(filepath=str(file))
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.meshes = ["linked"]
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("linked", wanted.meshes[0]))
    bpy.ops.wm.save_mainfile()
    before = library.read_bytes()
    assert run(capsys, "bake", file, "-o", library).refused("library.blend", "links from it")
    assert library.read_bytes() == before


def test_a_report_is_not_put_where_a_file_is_read_or_written(file, tmp_path, capsys) -> None:
    before = file.read_bytes()
    assert run(capsys, "bake", file, "--json", file).refused("--json", "FILE")
    assert run(capsys, "bake", file, "-o", tmp_path / "o.blend", "--json", tmp_path / "o.blend").refused("--output")
    link = tmp_path / "link"
    link.symlink_to(file)
    assert run(capsys, "check", link, "--json", file).refused("--json", "FILE")
    assert file.read_bytes() == before


def test_two_bakes_in_place_at_once(file) -> None:
    both = [subprocess.Popen(command("bake", file), stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for each in both:
        out, err = each.communicate(timeout=120)
        assert (each.returncode, err) == (0, b""), (out, err)
    assert sorted(os.listdir(file.parent)) == ["scene.blend", "scene.blend1"]
    assert all(is_whole_blend(file.parent / name) for name in os.listdir(file.parent))
    assert program("info", file).returncode == 0
