"""A robot's glTF files are turned as its collision shapes or centres of mass say."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import import_robot, robot_model
from robokin_addon.properties.bridge.found_meshes import show_found_meshes
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.properties.bridge.visuals.mesh_hulls import mesh_hull, mesh_triangles
from robokin_addon.robokin import load_urdf
from support.hostile.mesh_files import gltf

# The triangle of `gltf` has corners along x and z of the file: with Y up that is x and -y of the link.
BOX = '<collision><origin xyz="{at}"/><geometry><box size="{size}"/></geometry></collision>'
BALL = '<collision><origin xyz="0.5 -0.5 0" rpy="0.785 0 0"/><geometry><sphere radius="0.5"/></geometry></collision>'
MASS = '<inertial><origin xyz="{at}"/><mass value="1"/></inertial>'
EVIDENCE = {
    "box, Z up": (BOX.format(at="0.5 0 0.5", size="1 0.1 1"), True),
    "box, Y up": (BOX.format(at="0.5 -0.5 0", size="1 1 0.1"), False),
    "a turned ball, Y up": (BALL, False),
    "mass, Z up": (MASS.format(at="0.4 0 0.5"), True),
    "mass, Y up": (MASS.format(at="0.4 -0.5 0"), False),
    "a ball about both": (BOX.format(at="0.5 0 0", size="2 2 2"), True),
    "nothing": ("", True),
}


def description(folder: Path, link: str) -> Path:
    (folder / "part.gltf").write_text(json.dumps(gltf()))
    shape = '<geometry><mesh filename="part.gltf"/></geometry>'
    (folder / "r.urdf").write_text(f'<robot name="r"><link name="a"><visual>{shape}</visual>{link}</link></robot>')
    return folder / "r.urdf"


def shown(obj: bpy.types.Object) -> np.ndarray:
    """(n, 3) corners of the robot's one visual, in its link."""
    (mesh,) = [child.data for child in obj.children if child.type == "MESH"]
    return np.array([tuple(vertex.co) for vertex in mesh.vertices])


@pytest.mark.parametrize("case", EVIDENCE)
def test_the_axes_that_fit_are_taken(scene: bpy.types.Scene, tmp_path: Path, case: str) -> None:
    link, z_up = EVIDENCE[case]
    obj, _ = import_robot(bpy.context, load_urdf(description(tmp_path, link)))
    far = [0.0, 0.0, 1.0] if z_up else [0.0, -1.0, 0.0]
    assert far in shown(obj).round(6).tolist()
    shape = robot_model(obj).link("a").visuals[0].shape
    assert far in mesh_hull(shape).points.round(6).tolist()
    assert far in mesh_triangles(shape).reshape(-1, 3).round(6).tolist()


def test_a_mesh_that_is_found_later_is_turned_too(scene: bpy.types.Scene, tmp_path: Path) -> None:
    path = description(tmp_path, EVIDENCE["box, Y up"][0])
    found = (tmp_path / "part.gltf").rename(tmp_path / "away.gltf")
    obj, _ = import_robot(bpy.context, load_urdf(path))
    show_found_meshes(bpy.context, obj, {"part.gltf": str(found)})
    assert [0.0, -1.0, 0.0] in shown(obj).round(6).tolist()


def test_what_was_shown_before_stays_as_it_is(scene: bpy.types.Scene, tmp_path: Path) -> None:
    path = description(tmp_path, "")
    other = '<geometry><mesh filename="later.gltf"/></geometry>'
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    link = f'<link name="b"><visual>{other}</visual>{EVIDENCE["box, Y up"][0]}</link>{joint}'
    path.write_text(path.read_text().replace("</robot>", f"{link}</robot>"))
    obj, _ = import_robot(bpy.context, load_urdf(path))
    show_found_meshes(bpy.context, obj, {"later.gltf": str(tmp_path / "part.gltf")})
    ups = [robot_model(obj).link(name).visuals[0].shape.y_up for name in "ab"]
    assert ups == [False, True]


def test_files_of_other_formats_beside_it_tell_nothing(scene: bpy.types.Scene, tmp_path: Path) -> None:
    (tmp_path / "part.wrl").write_text("#VRML")
    hit = '<collision><geometry><mesh filename="part.wrl"/></geometry></collision>'
    obj, _ = import_robot(bpy.context, load_urdf(description(tmp_path, hit)))
    assert [0.0, 0.0, 1.0] in shown(obj).round(6).tolist()


def test_a_record_of_before_has_y_up(scene: bpy.types.Scene, tmp_path: Path) -> None:
    obj, _ = import_robot(bpy.context, load_urdf(description(tmp_path, "")))
    (bone,) = obj.data.bones
    record = json.loads(bone[KEY])
    del record["link"]["visuals"][0]["shape"]["y_up"]
    bone[KEY] = json.dumps(record | {"version": 3})
    assert robot_model(obj).link("a").visuals[0].shape.y_up is True
