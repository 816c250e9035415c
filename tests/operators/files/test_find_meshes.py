"""Find Meshes: files that the import did not find are found later, and shown where they belong."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.files.find_meshes import ROBOKIN_OT_find_meshes
from robokin_addon.properties.bridge import robot_model
from robokin_addon.robokin.model.geometry import Mesh
from support.blender.panels import draw
from support.robots import robot


@pytest.fixture
def bare(scene, tmp_path):
    """The Panda of a copy of its description alone, without its meshes."""
    folder = tmp_path / "alone"
    folder.mkdir()
    text = robot("panda").read_text().replace("package://example-robot-data", "package://no-such-package")
    (folder / "panda.urdf").write_text(text)
    assert bpy.ops.robokin.import_urdf(filepath=str(folder / "panda.urdf")) == {"FINISHED"}
    return bpy.context.object


def test_they_are_found_and_stand_where_an_import_puts_them(bare, tmp_path, capfd):
    assert not bare.children
    assert "robokin.find_meshes" in draw()["ROBOKIN_PT_robot"]["operators"]
    meshes = robot("panda").parent.parent / "meshes"
    shutil.copytree(meshes, tmp_path / "elsewhere" / "deep" / "meshes")
    assert bpy.ops.robokin.find_meshes(directory=str(tmp_path / "elsewhere")) == {"FINISHED"}
    assert "meshes found" in capfd.readouterr().out
    assert "robokin.find_meshes" not in draw()["ROBOKIN_PT_robot"]["operators"]
    shapes = [g.shape for link in robot_model(bare).links for g in link.visuals]
    assert all(shape.path for shape in shapes if isinstance(shape, Mesh))
    bpy.context.view_layer.update()
    places = {child.name: np.array(child.matrix_world) for child in bare.children}
    assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda")), postures=False) == {"FINISHED"}
    whole = {child.name.removesuffix(".001"): np.array(child.matrix_world) for child in bpy.context.object.children}
    assert places.keys() == whole.keys() and len(places) > 5
    assert all(np.allclose(places[name], whole[name], atol=1e-6) for name in places)


def test_meshes_of_collisions_count_too_and_folders_tell_files_of_one_name_apart(scene, tmp_path, capfd):
    link = "".join(
        f"<{kind}><geometry><mesh filename='meshes/{kind}/{name}.stl'/></geometry></{kind}>"
        for kind in ("visual", "collision")
        for name in "ab"
    )
    (tmp_path / "r.urdf").write_text(f"<robot name='r'><link name='base'>{link}{link}</link></robot>")
    bpy.ops.robokin.import_urdf(filepath=str(tmp_path / "r.urdf"))
    capfd.readouterr()
    said = bpy.data.texts[0].as_string()
    names = [f"meshes/{kind}/{name}.stl" for kind in ("visual", "collision") for name in "ab"]
    assert said.count("mesh left out") == 4 and all(said.count(f"{name}' not found") == 1 for name in names)
    for name in names:
        path = tmp_path / "kept" / name.lower()
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(next(Path(robot("panda").parent.parent, "meshes").rglob("link3.stl")), path)
    assert bpy.ops.robokin.find_meshes(directory=str(tmp_path / "kept")) == {"FINISHED"}
    assert "4 meshes found" in capfd.readouterr().out
    (link,) = robot_model(bpy.context.object).links
    found = [each.shape.path for each in (*link.visuals, *link.collisions)]
    assert found == [str(tmp_path / "kept" / name) for name in (*names[:2] * 2, *names[2:] * 2)]


def test_the_file_window_opens_beside_the_description(bare, tmp_path):
    opened = SimpleNamespace(directory="")
    windows = SimpleNamespace(window_manager=SimpleNamespace(fileselect_add=lambda operator: None), object=bare)
    windows.view_layer = bpy.context.view_layer
    ROBOKIN_OT_find_meshes.invoke(opened, windows, None)
    assert opened.directory == str(tmp_path / "alone") + os.sep
    ROBOKIN_OT_find_meshes.invoke(chosen := SimpleNamespace(directory="/chosen"), windows, None)
    assert chosen.directory == "/chosen"


def test_a_folder_without_them_is_refused_and_some_are_better_than_none(bare, tmp_path):
    with pytest.raises(RuntimeError, match="missing meshes is there"):
        bpy.ops.robokin.find_meshes(directory=str(tmp_path / "alone"))
    with pytest.raises(RuntimeError, match="choose the folder"):
        bpy.ops.robokin.find_meshes(directory=str(tmp_path / "nowhere"))
    (tmp_path / "some").mkdir()
    (one,) = (robot("panda").parent.parent / "meshes").rglob("link3.dae")
    shutil.copy(one, tmp_path / "some" / "link3.dae")
    assert bpy.ops.robokin.find_meshes(directory=str(tmp_path / "some")) == {"FINISHED"}
    assert [child.name for child in bare.children] == ["panda_link3"]
    assert "robokin.find_meshes" in draw()["ROBOKIN_PT_robot"]["operators"]
