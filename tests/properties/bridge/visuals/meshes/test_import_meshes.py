"""Our mesh readers against files written by hand and by Blender's own exporters."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge.visuals.meshes import FileMaterial, MeshData, read_mesh

TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def sample() -> bpy.types.Object:
    mesh = bpy.data.meshes.new("sample")
    mesh.from_pydata(TETRAHEDRON.tolist(), [], FACES)
    red = bpy.data.materials.new("red")
    if red.node_tree is None:
        red.use_nodes = True
    red.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (0.8, 0.1, 0.2, 1.0)
    mesh.materials.append(red)
    obj = bpy.data.objects.new("sample", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def corners(mesh: MeshData) -> set:
    """The polygons as sets of points, whatever the order of vertices."""
    faces = np.split(mesh.vertices[mesh.corners], mesh.starts[1:])
    return {frozenset(map(tuple, np.round(face, 5) + 0.0)) for face in faces}


WANTED = {frozenset(map(tuple, TETRAHEDRON[list(face)])) for face in FACES}


def volume(mesh: MeshData) -> float:
    """Signed by the direction in which polygons go round."""
    total = 0.0
    for face in np.split(mesh.vertices[mesh.corners], mesh.starts[1:]):
        for i in range(1, len(face) - 1):
            total += np.linalg.det(face[[0, i, i + 1]]) / 6.0
    return total


@pytest.mark.parametrize("ascii_format", [False, True])
def test_stl(scene: bpy.types.Scene, tmp_path: Path, ascii_format: bool) -> None:
    sample()
    path = str(tmp_path / "part.STL")
    bpy.ops.wm.stl_export(filepath=path, ascii_format=ascii_format, forward_axis="Y", up_axis="Z")
    mesh = read_mesh(path)
    assert corners(mesh) == WANTED and len(mesh.vertices) == 4
    assert volume(mesh) == pytest.approx(1.0)


def test_a_binary_stl_that_begins_with_solid(tmp_path: Path) -> None:
    path = tmp_path / "part.stl"
    facet = np.array([0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0], "<f4").tobytes() + b"\0\0"
    path.write_bytes(b"solid facet".ljust(80) + (1).to_bytes(4, "little") + facet)
    assert len(read_mesh(str(path)).sizes) == 1


def test_obj_with_materials(scene: bpy.types.Scene, tmp_path: Path) -> None:
    sample()
    path = str(tmp_path / "part.obj")
    bpy.ops.wm.obj_export(filepath=path, forward_axis="Y", up_axis="Z")
    mesh = read_mesh(path)
    assert corners(mesh) == WANTED
    red = next(m for m in mesh.materials if m.name == "red")
    assert red.rgba == pytest.approx((0.8, 0.1, 0.2, 1.0), abs=1e-5)


def test_obj_counted_from_the_end_with_textures(tmp_path: Path) -> None:
    (tmp_path / "part.mtl").write_text("newmtl skin\nKd 1 0 0\nmap_Kd skin.png\n")
    (tmp_path / "skin.png").write_bytes(b"")
    path = tmp_path / "part.obj"
    path.write_text(
        "mtllib part.mtl\nusemtl skin\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "f -3/-3 -2/-2 -1/-1\nv 5 5 5\nf 1/1 2/2 -1/3\n"
    )
    mesh = read_mesh(str(path))
    assert mesh.corners.tolist() == [0, 1, 2, 0, 1, 3]
    assert mesh.uv.tolist()[:3] == [[0, 0], [1, 0], [0, 1]]
    assert mesh.materials[1] == FileMaterial("skin", (1.0, 0.0, 0.0, 1.0), str(tmp_path / "skin.png"))


@pytest.mark.parametrize("ascii_format", [False, True])
def test_ply(scene: bpy.types.Scene, tmp_path: Path, ascii_format: bool) -> None:
    sample()
    path = str(tmp_path / "part.ply")
    bpy.ops.wm.ply_export(filepath=path, ascii_format=ascii_format, forward_axis="Y", up_axis="Z")
    objects = set(bpy.data.objects)
    assert corners(read_mesh(path)) == WANTED
    assert set(bpy.data.objects) == objects


@pytest.mark.parametrize("ending", ["glb", "gltf"])
def test_gltf(scene: bpy.types.Scene, tmp_path: Path, ending: str) -> None:
    sample().location = (0.5, 0, 0)
    path = str(tmp_path / f"part.{ending}")
    bpy.ops.export_scene.gltf(filepath=path, export_format="GLB" if ending == "glb" else "GLTF_SEPARATE")
    mesh = read_mesh(path, y_up=True)
    moved = {frozenset((x + 0.5, y, z) for x, y, z in face) for face in WANTED}
    assert corners(mesh) == moved
    assert [m.name.split(".")[0] for m in mesh.materials] == ["red"]


def test_gltf_is_metres_whatever_the_scenes_unit(scene: bpy.types.Scene, tmp_path: Path) -> None:
    sample()
    path = str(tmp_path / "part.glb")
    bpy.ops.export_scene.gltf(filepath=path)
    scene.unit_settings.scale_length = 0.01
    assert corners(read_mesh(path, y_up=True)) == WANTED


def test_gltf_nodes_that_share_a_mesh(scene: bpy.types.Scene, tmp_path: Path) -> None:
    first = sample()
    first.location = (2, 0, 0)
    second = first.copy()
    second.location, second.scale = (0, 5, 0), (1, -1, 1)
    scene.collection.objects.link(second)
    bpy.context.view_layer.update()
    path = str(tmp_path / "part.glb")
    bpy.ops.export_scene.gltf(filepath=path)
    mesh = read_mesh(path, y_up=True)
    assert corners(mesh) == {frozenset((x + 2, y, z) for x, y, z in f) for f in WANTED} | {
        frozenset((x, 5 - y, z) for x, y, z in f) for f in WANTED
    }
    for face in np.split(mesh.vertices[mesh.corners], mesh.starts[1:]):  # the outside stays outside
        middle = np.array((2.25, 0.5, 0.75) if face[:, 0].max() > 1.9 else (0.25, 4.5, 0.75))
        assert np.linalg.det(face - middle) > 0.0


def test_gltf_leaves_bones_and_animation_behind(scene: bpy.types.Scene, tmp_path: Path) -> None:
    part = sample()
    part.keyframe_insert("location", frame=1)
    part.location.x = 1.0
    part.keyframe_insert("location", frame=9)
    rig = bpy.data.objects.new("rig", bpy.data.armatures.new("rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("bone").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.frame_set(1)
    path = str(tmp_path / "part.glb")
    bpy.ops.export_scene.gltf(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert corners(read_mesh(path, y_up=True)) == WANTED


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{tool}<unit meter="{unit}" name="u"/><up_axis>{up}</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="t"><phong>
<diffuse><color>0.1 0.2 0.3 1</color></diffuse></phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m" name="blue"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 2 0 0 0 3</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{faces}
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n">{transform}
<instance_geometry url="#g"><bind_material><technique_common><instance_material symbol="sym" target="#m"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""

INPUT = '<input semantic="VERTEX" source="#v" offset="0"/>'
TRIANGLES = f'<triangles count="4" material="sym">{INPUT}<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>'
POLYLIST = (
    f'<polylist count="4" material="sym">{INPUT}<vcount>3 3 3 3</vcount><p>0 2 1 0 1 3 0 3 2 1 2 3</p></polylist>'
)
POLYGONS = f'<polygons count="4" material="sym">{INPUT}<p>0 2 1</p><p>0 1 3</p><p>0 3 2</p><p>1 2 3</p></polygons>'
FANS = f'<trifans count="1" material="sym">{INPUT}<p>0 2 1 3 2</p></trifans>'


def collada(
    folder: Path, faces: str = TRIANGLES, unit: str = "1", up: str = "Z_UP", transform: str = "", tool: str = ""
):
    path = folder / "part.dae"
    path.write_text(COLLADA.format(faces=faces, unit=unit, up=up, transform=transform, tool=tool))
    return read_mesh(str(path))


@pytest.mark.parametrize("faces", [TRIANGLES, POLYLIST, POLYGONS])
def test_collada_polygons(tmp_path: Path, faces: str) -> None:
    mesh = collada(tmp_path, faces)
    assert corners(mesh) == WANTED
    assert volume(mesh) == pytest.approx(1.0)
    assert mesh.materials == (FileMaterial("blue", (0.1, 0.2, 0.3, 1.0)),)


def test_collada_fans(tmp_path: Path) -> None:
    assert collada(tmp_path, FANS).corners.tolist() == [0, 2, 1, 0, 1, 3, 0, 3, 2]


def test_collada_unit_and_axes(tmp_path: Path) -> None:
    top = {tuple(v) for v in np.round(collada(tmp_path, unit="0.001").vertices, 9)}
    assert (0.0, 0.0, 0.003) in top
    assert (0.0, -3.0, 0.0) in {tuple(v) for v in collada(tmp_path, up="Y_UP").vertices}
    meshlab = "<contributor><authoring_tool>VCGLib | MeshLab</authoring_tool></contributor>"
    assert (0.0, 0.0, 3.0) in {tuple(v) for v in collada(tmp_path, up="Y_UP", tool=meshlab).vertices}


def test_collada_nodes(tmp_path: Path) -> None:
    transform = "<translate>10 0 0</translate><rotate>0 0 1 90</rotate><scale>2 1 1</scale>"
    mesh = collada(tmp_path, transform=transform)
    expected = {(10.0, 0.0, 0.0), (10.0, 2.0, 0.0), (8.0, 0.0, 0.0), (10.0, 0.0, 3.0)}
    assert {tuple(np.round(v, 9) + 0.0) for v in mesh.vertices} == expected


def test_a_mirrored_node_keeps_the_outside_outside(tmp_path: Path) -> None:
    assert volume(collada(tmp_path, transform="<scale>1 -1 1</scale>")) == pytest.approx(1.0)
