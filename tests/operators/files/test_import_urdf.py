"""The import operator: real robots with their meshes, and files that cannot be imported."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import RobokinError, forward_kinematics, load_urdf, random_configuration
from robokin_addon.robokin.model.geometry import Mesh
from support.few import rest_slow
from support.robots import all_urdfs, robot


def import_urdf(path: Path, **options: object) -> bpy.types.Object:
    assert bpy.ops.robokin.import_urdf(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.object


def data_counts() -> list[int]:
    kinds = ("objects", "armatures", "meshes", "materials", "images", "collections", "actions")
    return [len(getattr(bpy.data, kind)) for kind in kinds]


def visuals_of(obj: bpy.types.Object, link: str) -> list[bpy.types.Object]:
    bone = binding(obj).bone_of_link[link]
    return [child for child in obj.children if child.parent_bone == bone]


def assert_visuals_stand_where_the_model_says(obj: bpy.types.Object) -> None:
    model = robot_model(obj)
    q = random_configuration(model, np.random.default_rng(3))
    q = np.where(abs(q) > 50.0, np.remainder(q, 50.0), q)
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    placements = forward_kinematics(model, q)
    unit = bpy.context.scene.unit_settings.scale_length
    for link in model.links:
        shown = visuals_of(obj, link.name)
        assert len(shown) == len(link.visuals)
        expected = []
        for geometry in link.visuals:
            scale = geometry.shape.scale if isinstance(geometry.shape, Mesh) else (1.0, 1.0, 1.0)
            T = placements[link.name] @ geometry.placement @ np.diag([*scale, 1.0])
            expected.append(np.array(obj.matrix_world) @ np.diag([1 / unit] * 3 + [1.0]) @ T)
        for visual in shown:
            matrix = np.array(visual.matrix_world)
            assert min(abs(matrix - T).max() for T in expected) < 2e-5 / unit, (model.name, link.name)


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "so101", "quadrotor_base", "hyq_no_sensors"])
@pytest.mark.parametrize("unit", rest_slow([0.01, 1.0]))
def test_meshes_move_with_their_links(scene: bpy.types.Scene, name: str, unit: float) -> None:
    scene.unit_settings.scale_length = unit
    obj = import_urdf(robot(name))
    assert sum(o.type == "ARMATURE" for o in bpy.data.objects) == 1
    assert_visuals_stand_where_the_model_says(obj)


@pytest.mark.slow
def test_all_real_robots_import_with_their_meshes(scene: bpy.types.Scene) -> None:
    for path in all_urdfs():
        if path.stem in ("ur3", "romeo_laas_small"):  # no links; meshes of a format nobody but Ogre reads
            continue
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        assert_visuals_stand_where_the_model_says(import_urdf(path))


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_the_base(scene: bpy.types.Scene, root: str) -> None:
    obj = import_urdf(robot("solo12"), root=root, meshes=False)
    assert robot_model(obj).root == root
    assert read_configuration(obj).shape == (load_urdf(robot("solo12"), root=root).nq,)


def test_without_meshes(scene: bpy.types.Scene) -> None:
    assert not import_urdf(robot("panda"), meshes=False).children


def test_links_that_look_alike_share_their_mesh(scene: bpy.types.Scene) -> None:
    obj = import_urdf(robot("solo12"))
    left, right = visuals_of(obj, "FL_FOOT")[0], visuals_of(obj, "HL_FOOT")[0]
    assert left != right and left.data == right.data


def test_two_robots_in_one_scene(scene: bpy.types.Scene) -> None:
    first = import_urdf(robot("panda"))
    second = import_urdf(robot("panda"))
    before = read_configuration(first)[1]
    second.pose.bones["panda_joint2"].rotation_euler[1] = 1.0
    bpy.context.view_layer.update()
    assert first != second
    assert read_configuration(first)[1] == before != 1.0 and read_configuration(second)[1] == 1.0


def test_import_works_from_edit_mode_and_leaves_object_mode(scene: bpy.types.Scene) -> None:
    import_urdf(robot("panda"), meshes=False)
    bpy.ops.object.mode_set(mode="EDIT")
    obj = import_urdf(robot("ur5_robot"), meshes=False)
    assert bpy.context.mode == "OBJECT" and bpy.context.object == obj
    assert bpy.context.selected_objects == [obj]


def warnings_said(capfd: pytest.CaptureFixture) -> str:
    """The lines that are reported, each short, and those of the texts that they name."""
    said = capfd.readouterr().out
    assert "Traceback" not in said and all(len(line) < 150 for line in said.splitlines() if "Warning:" in line)
    assert all(repr(text.name) in said for text in bpy.data.texts)
    return said + "".join(text.as_string() for text in bpy.data.texts)


def test_meshes_of_an_unknown_format_are_left_out(scene: bpy.types.Scene, capfd: pytest.CaptureFixture) -> None:
    obj = import_urdf(robot("romeo_laas_small"))
    assert not obj.children
    assert "20 mesh(es) left out, format not supported" in warnings_said(capfd)


LINK = '<link name="base"><visual><geometry><mesh filename="{}"/></geometry></visual></link>'


@pytest.mark.parametrize(
    ("mesh", "content", "words"),
    [
        ("gone.stl", None, r"robot\.urdf:1: mesh 'gone.stl' not found.*--package-path"),
        ("http://host/x.stl", None, r"robot\.urdf:1: mesh 'http://host/x.stl': http: is not accepted"),
        ("empty.stl", bytes(84), "empty.stl: has no polygons"),
        ("cut.stl", b"a" * 90, "cut.stl.*cut off"),
        ("broken.dae", b"<COLLADA><asset>", r"broken.dae:1"),
        ("bomb.dae", b'<!DOCTYPE a [<!ENTITY b "b">]><COLLADA/>', "bomb.dae.*document type"),
        ("empty.dae", b"<COLLADA/>", "empty.dae: has no polygons"),
        ("broken.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 3\n", "broken.obj.*not there"),
        ("broken.glb", b"glTF nonsense", "broken.glb"),
        ("broken.ply", b"nonsense", "broken.ply"),
    ],
    ids=lambda value: "",
)
def test_a_bad_mesh_is_named_and_the_robot_imported_without(
    scene: bpy.types.Scene,
    tmp_path: Path,
    capfd: pytest.CaptureFixture,
    mesh: str,
    content: bytes | None,
    words: str,
) -> None:
    if content is not None:
        (tmp_path / mesh).write_bytes(content)
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{LINK.format(mesh)}</robot>')
    robot = import_urdf(path)
    assert list(robot.data.bones.keys()) == ["base"] and not robot.children
    assert re.search(f"mesh left out: .*{words}", warnings_said(capfd))
    assert data_counts()[3:5] == [0, 0]  # materials, images


def test_many_bad_meshes_are_reported_short(
    scene: bpy.types.Scene, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    visuals = "".join(f'<visual><geometry><mesh filename="{i}.stl"/></geometry></visual>' for i in range(50))
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="base">{visuals}</link></robot>')
    import_urdf(path)
    assert len(capfd.readouterr().out.splitlines()) == 2
    said = bpy.data.texts[0].as_string()
    assert said.count("mesh left out:") == 10 and "40 more meshes left out" in said


def test_a_missing_file_is_named(scene: bpy.types.Scene) -> None:
    with pytest.raises(RuntimeError, match=r"nowhere\.urdf: no such file"):
        bpy.ops.robokin.import_urdf(filepath="/nowhere.urdf")


def test_an_import_that_fails_late_leaves_nothing(scene: bpy.types.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RobokinError("no more room")

    monkeypatch.setattr("robokin_addon.properties.bridge.files.importing.add_visuals", fail)
    before = data_counts()
    with pytest.raises(RuntimeError, match="no more room"):
        bpy.ops.robokin.import_urdf(filepath=str(robot("panda")))
    assert data_counts() == before
