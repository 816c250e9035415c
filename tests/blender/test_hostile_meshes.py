"""Mesh files that are damaged, lie about their size, or name what is not theirs: one line, in time and memory."""

from __future__ import annotations

import base64
import builtins
import json
import os
import struct
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.properties.bridge.meshes import MeshData, read_mesh
from robokin_addon.properties.bridge.meshes.bounds import MAX_CORNERS
from robokin_addon.robokin import FileFormatError


@pytest.fixture
def read(tmp_path: Path):
    """Writes a file and reads it."""

    def reader(name: str, content: str | bytes) -> MeshData:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_mesh(str(path))

    return reader


def refused(read, name: str, content: str | bytes, words: str, seconds: float = 10.0) -> None:
    before = time.perf_counter()
    with pytest.raises(FileFormatError) as fault:
        read(name, content)
    assert time.perf_counter() - before < seconds
    assert name in str(fault.value) and words in str(fault.value), str(fault.value)
    assert "\n" not in str(fault.value) and len(fault.value.problem) < 600


DOCUMENT = """<?xml version="1.0"{encoding}?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>{asset}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa">{numbers}</float_array>
<technique_common><accessor source="#pa" {accessor}/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{faces}
</mesh></geometry></library_geometries>
<library_nodes>{nodes}</library_nodes>
<library_visual_scenes><visual_scene id="s">{scene}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
INPUT = '<input semantic="VERTEX" source="#v" offset="0"/>'
GEOMETRY = '<instance_geometry url="#g"/>'


def collada(**given: str) -> str:
    parts = {
        "encoding": "",
        "asset": "<up_axis>Z_UP</up_axis>",
        "numbers": "0 0 0 1 0 0 0 1 0",
        "accessor": 'count="3" stride="3"',
        "faces": f"<triangles>{INPUT}<p>0 1 2</p></triangles>",
        "nodes": "",
        "scene": f"<node>{GEOMETRY}</node>",
    }
    assert given.keys() <= parts.keys()
    return DOCUMENT.format(**{**parts, **given})


def doubled(levels: int, leaf: str) -> str:
    nodes = f'<node id="n0">{leaf}</node>'
    for i in range(1, levels + 1):
        nodes += f'<node id="n{i}">' + f'<instance_node url="#n{i - 1}"/>' * 2 + "</node>"
    return nodes


COLLADA = {
    "40 levels of nodes shown twice": (
        {"nodes": doubled(40, GEOMETRY), "scene": '<node><instance_node url="#n40"/></node>'},
        "more than",
    ),
    "40 levels of nothing": (
        {"nodes": doubled(40, ""), "scene": '<node><instance_node url="#n40"/></node>'},
        "nodes inside each other",
    ),
    "a circle": (
        {"nodes": '<node id="n"><instance_node url="#n"/></node>', "scene": '<node><instance_node url="#n"/></node>'},
        "in a circle",
    ),
    "nodes 1000 deep": ({"scene": "<node>" * 1000 + "</node>" * 1000}, "nested more than"),
    "stride 0": ({"accessor": 'stride="0"'}, "'0' is not a whole number from 1"),
    "stride -3": ({"accessor": 'stride="-3"'}, "'-3' is not a whole number from 1"),
    "stride 2": ({"accessor": 'stride="2"'}, "positions of less than three numbers"),
    "accessor's offset": ({"accessor": 'stride="3" offset="99999999999999999999"'}, "is not a whole number from 0"),
    "input's offset": (
        {"faces": '<triangles><input semantic="VERTEX" source="#v" offset="1000000000"/><p>0</p></triangles>'},
        "is not a whole number from 0",
    ),
    "corners of 20 digits": (
        {"faces": f"<triangles>{INPUT}<p>0 1 99999999999999999999</p></triangles>"},
        "a number that is no index",
    ),
    "corners that are not there": ({"faces": f"<triangles>{INPUT}<p>0 1 3</p></triangles>"}, "not there"),
    "negative corners": ({"faces": f"<triangles>{INPUT}<p>0 1 -1</p></triangles>"}, "not there"),
    "corners of letters": ({"faces": f"<triangles>{INPUT}<p>0 1 two</p></triangles>"}, "where numbers should be"),
    "corners of half an index": ({"faces": f"<triangles>{INPUT}<p>0 1 1.5</p></triangles>"}, "no index"),
    "encoding": ({"encoding": ' encoding="klingon"'}, "encoding"),
    "vcount too large": (
        {"faces": f"<polylist>{INPUT}<vcount>4 3</vcount><p>0 1 2</p></polylist>"},
        "<vcount> that does not fit",
    ),
    "vcount of 1e18": (
        {"faces": f"<polylist>{INPUT}<vcount>{'9000000000000000 ' * 2000}</vcount><p>0 1 2</p></polylist>"},
        "<vcount> that does not fit",
    ),
    "vcount negative": (
        {"faces": f"<polylist>{INPUT}<vcount>-3 6</vcount><p>0 1 2</p></polylist>"},
        "<vcount> that does not fit",
    ),
    "no vcount": ({"faces": f"<polylist>{INPUT}<p>0 1 2</p></polylist>"}, "no polygons"),
    "no input": ({"faces": "<triangles><p>0 1 2</p></triangles>"}, "no <input> of vertices"),
    "corners do not fit inputs": (
        {"faces": f'<triangles>{INPUT}<input semantic="NORMAL" source="#p" offset="1"/><p>0 1 2</p></triangles>'},
        "do not fit its <input>s",
    ),
    "a source that is not there": (
        {"faces": '<triangles><input semantic="VERTEX" source="#none" offset="0"/><p>0 1 2</p></triangles>'},
        "names 'none', which is not there",
    ),
    "a geometry that is not there": ({"scene": '<node><instance_geometry url="#none"/></node>'}, "names 'none'"),
    "a matrix of three": ({"scene": f"<node><matrix>1 2 3</matrix>{GEOMETRY}</node>"}, "16 numbers, not '1 2 3'"),
    "an endless matrix": ({"scene": f"<node><matrix>{'1 ' * 100_000}</matrix>{GEOMETRY}</node>"}, "must be 16 numbers"),
    "a scale of nan": ({"scene": f"<node><scale>nan 1 1</scale>{GEOMETRY}</node>"}, "must be 3 numbers"),
    "unit": ({"asset": '<unit meter="klingon"/>'}, "finite number"),
    "coordinates above 3e38": ({"numbers": "0 0 0 1 0 0 0 1 3.5e38"}, "not finite numbers up to 1e+09"),
    "coordinates scaled above": ({"scene": f"<node><scale>1e30 1 1</scale>{GEOMETRY}</node>"}, "not finite numbers"),
    "coordinates of nan": ({"numbers": "0 0 0 1 0 0 0 1 nan"}, "not finite numbers"),
    "no polygons": ({"faces": ""}, "no polygons: there is nothing to show"),
    "points only": ({"faces": f"<polylist>{INPUT}<vcount>1 2</vcount><p>0 1 2</p></polylist>"}, "no polygons"),
    "a polygon of many corners": (
        {"faces": f"<polygons>{INPUT}<p>{'0 1 2 ' * 1000}</p></polygons>"},
        "a polygon with more than 2048 corners",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COLLADA)
def test_collada(read, case: str) -> None:
    given, words = COLLADA[case]
    refused(read, "part.dae", collada(**given), words)


def test_collada_in_another_encoding_hides_no_document_type(read) -> None:
    bomb = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE a [<!ENTITY b "b">]><COLLADA/>'
    refused(read, "part.dae", bomb.encode("utf-16"), "document type")


def test_instances_take_little_memory(read) -> None:
    """Measured before: 960 kB of instances took 10 GB."""
    strip = f"<tristrips>{INPUT}<p>{'0 1 2 ' * 40_000}</p></tristrips>"
    text = collada(faces=strip, scene=f"<node>{GEOMETRY * 25_000}</node>")
    tracemalloc.start()
    try:
        refused(read, "part.dae", text, f"more than {MAX_CORNERS} corners", 60.0)
        assert tracemalloc.get_traced_memory()[1] < 600e6
    finally:
        tracemalloc.stop()


def test_primitives_that_share_their_points_take_only_their_own(read) -> None:
    """So that many materials on one large mesh do not multiply it."""
    points = " ".join(f"{i} 0 {i % 7}" for i in range(30_000))
    faces = "".join(f'<triangles material="m{i}">{INPUT}<p>{i} {i + 1} {i + 2}</p></triangles>' for i in range(1000))
    mesh = read("part.dae", collada(numbers=points, faces=faces))
    assert len(mesh.vertices) == 3000 and len(mesh.materials) == 1000
    assert mesh.vertices[mesh.corners[:3], 0].tolist() == [0, 1, 2]


VERTICES = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
OBJ = {
    "superscript": (VERTICES + "f 1 2 -²\n", "part.obj:4: has a face whose corners are not numbers"),
    "20 digits": (VERTICES + "f 1 2 99999999999999999999\n", "part.obj:4: has a face whose corners"),
    "not there": (VERTICES + "f 1 2 4\n", "part.obj:4: has a face with a corner that is not there"),
    "not there from the end": (VERTICES + "f 1 2 -4\n", "part.obj:4"),
    "zero": (VERTICES + "f 0 1 2\n", "part.obj:4"),
    "two corners": (VERTICES + "f 1 2\n", "part.obj:4: a face needs three corners"),
    "above 3e38": ("v 0 0 4e38\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite numbers up to 1e+09"),
    "nan": ("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
    "a vertex of two": ("v 0 0\nv 1 0 0\nf 1 2 3\n", "part.obj:1: a vertex is not 3 numbers"),
    "words": ("v 0 0 x\n", "part.obj:1: a vertex is not 3 numbers"),
    "no faces": (VERTICES, "no polygons"),
    "a long line": ("f " + "1 " * 1_000_000, "part.obj:1: a line of more than 1024 kB"),
    "a long line in pieces": (VERTICES + "f " + "1 \\\n" * 600_000, "a line of more than 1024 kB"),
    "many corners": (VERTICES + "f " + "1 2 3 " * 1000, "a polygon with more than 2048 corners"),
    "many materials": ("".join(f"usemtl m{i}\n" for i in range(100_000)), "has more than 1024 materials"),
    "binary": (bytes(range(256)) * 100, "no polygons"),
}


@pytest.mark.parametrize("case", OBJ)
def test_obj(read, case: str) -> None:
    refused(read, "part.obj", *OBJ[case])


def test_materials_of_an_obj_cost_no_time(read, tmp_path: Path) -> None:
    """Measured before: quadratic in the changes of material; every library was read as often as it was named."""
    (tmp_path / "part.mtl").write_text("".join(f"newmtl m{i}\nKd 1 0 {i % 2}\n" for i in range(1000)))
    text = "mtllib part.mtl\n" * 20_000 + VERTICES + "".join(f"usemtl m{i % 1000}\nf 1 2 3\n" for i in range(100_000))
    before = time.perf_counter()
    mesh = read("part.obj", text)
    assert time.perf_counter() - before < 20.0
    assert len(mesh.materials) == 1001 and mesh.materials[2].rgba == (1.0, 0.0, 1.0, 1.0)
    for i in range(20):
        (tmp_path / f"m{i}.mtl").write_text("newmtl a\n")
    refused(read, "part.obj", "".join(f"mtllib m{i}.mtl\n" for i in range(20)), "more than 16 files of materials")
    (tmp_path / "part.mtl").write_bytes(b"# " + b" " * (5 << 20))
    refused(read, "part.obj", "mtllib part.mtl\n", "larger than 4 MB")


PLY_HEADER = """ply
format {format} 1.0
comment made by hand
element vertex 3
property float x
property float y
property float z
element face {faces}
property list {list} vertex_indices
end_header
"""
PLY_POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()


def ply(body: str | bytes, **given: str) -> bytes:
    form = "ascii" if isinstance(body, str) else "binary_little_endian"
    header = PLY_HEADER.format(**{"format": form, "faces": "1", "list": "uchar int", **given})
    return header.encode() + (f"0 0 0\n1 0 0\n0 1 0\n{body}".encode() if isinstance(body, str) else PLY_POINTS + body)


def test_ply_reads(read) -> None:
    triangle = b"\x03" + struct.pack("<3i", 0, 1, 2)
    for data in (ply("3 0 1 2\n"), ply(triangle), ply("3 0 1 2").replace(b"\n", b"\r\n")):
        mesh = read("part.ply", data)
        assert mesh.corners.tolist() == [0, 1, 2] and mesh.sizes.tolist() == [3]
    mixed = ply(b"\x04" + struct.pack("<4i", 0, 1, 2, 0) + triangle, faces="2")
    assert read("part.ply", mixed).sizes.tolist() == [4, 3]
    assert read("part.ply", ply("4 0 1 2 0\n3 0 1 2\n", faces="2")).sizes.tolist() == [4, 3]
    big = (
        ply(b"")
        .replace(b"little", b"big")
        .replace(PLY_POINTS, np.frombuffer(PLY_POINTS, "<f4").astype(">f4").tobytes())
    )
    assert read("part.ply", big + b"\x03" + struct.pack(">3i", 0, 1, 2)).vertices.tolist()[1] == [1, 0, 0]
    more = ply("7 8 3 0 1 2 9\n").replace(
        b"element face 1\n",
        b"element other 1\nproperty list uchar int a\nelement face 1\nproperty short b\n",
    )
    more = (
        more.replace(b"0 1 0\n", b"0 1 0\n2 5 6\n")
        .replace(b"7 8 3", b"7 3")
        .replace(b"end_h", b"property int c\nend_h")
    )
    assert read("part.ply", more).corners.tolist() == [0, 1, 2]


PLY = {
    "nonsense": (b"nonsense", "not a PLY file"),
    "no end": (b"ply\nformat ascii 1.0\n" + b"comment x\n" * 10_000, "its header has no end"),
    "no format": (b"ply\nelement vertex 3\nend_header\n", "states no format"),
    "unknown format": (b"ply\nformat klingon 1.0\nend_header\n", "part.ply:2"),
    "unknown type": (b"ply\nformat ascii 1.0\nelement vertex 1\nproperty colour x\nend_header\n", "part.ply:4"),
    "property of nothing": (b"ply\nformat ascii 1.0\nproperty float x\nend_header\n", "part.ply:3"),
    "count 1e9": (b"ply\nformat ascii 1.0\nelement vertex 1000000000\nend_header\n", "part.ply:3: the count"),
    "count negative": (b"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", "part.ply:3: the count of 'vertex'"),
    "count of 30 digits": (b"ply\nformat ascii 1.0\nelement face %s\nend_header\n" % (b"9" * 30), "part.ply:3"),
    "list counted in floats": (ply("3 0 1 2", list="float int"), "cannot be a float"),
    "many properties": (
        b"ply\nformat ascii 1.0\nelement vertex 1\n" + b"property float x\n" * 1000 + b"end_header\n", "more than 256"),
    "no z": (ply("3 0 1 2").replace(b"property float z", b"property float w"), "no x, y and z"),
    "cut off": (ply("3 0 1"), "ends before its header says so"),
    "cut off, binary": (ply(b"\x03" + b"\0" * 8), "ends before its header says so"),
    "cut off in the vertices": (ply(b"")[:-8], "ends before"),
    "more faces than there are": (ply(b"\x03" + struct.pack("<3i", 0, 1, 2), faces="5000000"), "ends before"),
    "a list of 4e9": (ply(struct.pack("<I3i", 2**32 - 1, 0, 1, 2), list="uint int"), "ends before"),
    "a list of -1": (ply(b"\xff" + struct.pack("<3i", 0, 1, 2), list="char int"), "negative number of entries"),
    "a list of 1e30": (ply("1e30 0 1 2"), "ends before"),
    "a list of nan": (ply("nan 0 1 2"), "ends before"),
    "a corner that is not there": (ply("3 0 1 3"), "not there"),
    "a negative corner": (ply("3 0 1 -1"), "not there"),
    "a corner of floats": (ply("3 0 1 1.5"), "no index"),
    "letters": (ply("3 0 one 2"), "where numbers should be"),
    "points only": (ply("", faces="0"), "no polygons"),
    "not finite": (ply("3 0 1 2").replace(b"0 1 0\n", b"0 1 inf\n"), "not finite"),
}  # fmt: skip


@pytest.mark.parametrize("case", PLY)
def test_ply(read, case: str) -> None:
    refused(read, "part.ply", *PLY[case])


POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], "<f4").tobytes()


def gltf(**given: object) -> dict:
    data = base64.b64encode(POINTS + struct.pack("<3H", 0, 1, 2)).decode()
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
        "buffers": [{"uri": f"data:application/octet-stream;base64,{data}", "byteLength": 42}],
        **given,
    }


def accessor(**given: object) -> dict:
    first, second = gltf()["accessors"]
    return gltf(accessors=[{**first, **given}, second])


def index(**given: object) -> dict:
    first, second = gltf()["accessors"]
    return gltf(accessors=[first, {**second, **given}])


def view(**given: object) -> dict:
    first, second = gltf()["bufferViews"]
    return gltf(bufferViews=[{**first, **given}, second])


def buffer(uri: object, length: object = 42) -> dict:
    return gltf(buffers=[{"uri": uri, "byteLength": length}])


def test_gltf_reads(read) -> None:
    mesh = read("part.gltf", json.dumps(gltf()))
    # Y up becomes Z up.
    assert mesh.vertices[mesh.corners].tolist() == [[0, 0, 0], [1, 0, 0], [0, -1, 0]]
    sparse = {
        "count": 1,
        "indices": {"bufferView": 1, "componentType": 5121, "byteOffset": 2},
        "values": {"bufferView": 0, "byteOffset": 12},
    }
    mesh = read("part.gltf", json.dumps(accessor(sparse=sparse)))  # the second point, moved to where it is
    assert mesh.vertices[mesh.corners].tolist()[1] == [1, 0, 0]
    strip = gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]}], scenes=[])
    assert len(read("part.gltf", json.dumps(strip)).sizes) == 1


GLTF = {
    "nonsense": (b"glTF nonsense", "is not glTF 2.0"),
    "not JSON": (b"{", "is not JSON"),
    "a list": (b"[]", "is not glTF 2.0"),
    "version 1": (gltf(asset={"version": "1.0"}), "is not glTF 2.0"),
    "nested JSON": (b"[" * 200_000, "nested too deep"),
    "long numbers": (b'{"asset":{"version":"2.0"},"scene":' + b"9" * 10_000 + b"}", "is not JSON"),
    "a cut .glb": (b"glTF" + struct.pack("<IIII", 2, 1000, 900, 0x4E4F534A) + b"{}", "is cut off"),
    "nodes no list": (gltf(nodes={}), "nodes are not a list"),
    "nodes of numbers": (gltf(nodes=[1]), "nodes are not a list"),
    "a node that is not there": (gltf(scenes=[{"nodes": [7]}]), "node 7 is not there"),
    "a mesh that is not there": (gltf(nodes=[{"mesh": -1}]), "mesh -1 is not there"),
    "children no list": (gltf(nodes=[{"children": 5}]), "children is no list"),
    "children are texts": (gltf(nodes=[{"children": ["0"]}]), "node 0 is not there"),
    "a circle": (gltf(nodes=[{"children": [0]}]), "in a circle"),
    "doubled nodes": (
        gltf(nodes=[*({"children": [i + 1] * 2} for i in range(40)), {"mesh": 0}]), "more than 200000 parts"),
    "a rotation of text": (gltf(nodes=[{"mesh": 0, "rotation": ["a"] * 4}]), "are not 4 numbers"),
    "a matrix of three": (gltf(nodes=[{"mesh": 0, "matrix": [1, 2, 3]}]), "are not 16 numbers"),
    "a scale of infinity": (gltf(nodes=[{"mesh": 0, "scale": [1, 1, float("inf")]}]), "are not 3 numbers"),
    "primitives are texts": (gltf(meshes=[{"primitives": ["a"]}]), "not glTF as it should be"),
    "attributes are a list": (gltf(meshes=[{"primitives": [{"attributes": []}]}]), "no polygons"),
    "points only": (gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "mode": 0}]}]), "no polygons"),
    "count 1e9": (accessor(count=10**9), "accessor 0: '1000000000' is not a whole number"),
    "count 1e9 without data": (
        gltf(accessors=[{"componentType": 5126, "count": 10**9, "type": "VEC3"}]), "accessor 0: '1000000000' is not"),
    "count of a float": (accessor(count=3.0), "accessor 0: '3.0' is not a whole number"),
    "count true": (accessor(count=True), "accessor 0: 'True' is not a whole number"),
    "count beyond": (accessor(count=4), "accessor 0: it goes beyond its buffer view"),
    "offset beyond": (accessor(byteOffset=1), "accessor 0: it goes beyond"),
    "offset negative": (accessor(byteOffset=-4), "accessor 0: '-4' is not a whole number"),
    "stride beyond": (view(byteStride=1000), "accessor 0: it goes beyond"),
    "stride 0": (view(byteStride=0), "accessor 0: '0' is not a whole number from 12"),
    "type": (accessor(type="MAT4"), "accessor 0: its type is 'MAT4'"),
    "component type": (accessor(componentType=5130), "unknown componentType '5130'"),
    "component type a list": (accessor(componentType=[5126]), "componentType"),
    "view beyond": (view(byteLength=1000), "is not a whole number from 0 to 42"),
    "view's offset": (view(byteOffset=2**62), "is not a whole number from 0 to 42"),
    "buffer that is not there": (view(buffer=3), "buffer 3 is not there"),
    "indices beyond": (index(byteOffset=2, count=2, componentType=5125), "it goes beyond"),
    "an index beyond": (accessor(count=2), "a polygon with a corner that is not there"),
    "sparse beyond": (
        accessor(sparse={"count": 1, "indices": {"bufferView": 1, "componentType": 5121, "byteOffset": 2, },
                         "values": {"bufferView": 0, "byteOffset": 30}}), "it goes beyond"),
    "sparse count": (
        accessor(sparse={"count": 10**9, "indices": {"bufferView": 1, "componentType": 5121},
                         "values": {"bufferView": 0}}), "is not a whole number from 0 to 3"),
    "sparse indices of floats": (
        accessor(sparse={"count": 1, "indices": {"bufferView": 0, "componentType": 5126},
                         "values": {"bufferView": 0}}), "no whole numbers"),
    "not finite": (
        buffer("data:;base64," + base64.b64encode(b"\0\0\xc0\x7f" * 11).decode()), "not finite"),
    "base64": (buffer("data:;base64,####"), "not glTF as it should be"),
    "no base64": (buffer("data:text/plain,abc"), "that is not base64"),
    "a device": (buffer("../../../../../../dev/zero"), "is not there, or outside"),
    "a file of the system": (buffer("file:///etc/passwd"), "is not there, or outside"),
    "an absolute path": (buffer("/etc/passwd"), "is not there, or outside"),
    "the network": (buffer("//host/share/x.bin"), "is not there, or outside"),
    "http": (buffer("http://host/x.bin"), "is not there, or outside"),
    "another file": (buffer("part.gltf"), "is not there, or outside the robot's folders, or no .bin"),
    "no uri": (buffer(None), "a buffer without data"),
    "compressed": (
        gltf(extensionsRequired=["KHR_draco_mesh_compression"]), "it is compressed (KHR_draco_mesh_compression)"),
    "extensions": (gltf(extensionsRequired=5), "not glTF as it should be"),
    "a material that is not there": (
        gltf(meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "material": 4}]}]), "material 4 is not there"),
    "a colour of text": (
        gltf(materials=[{"pbrMetallicRoughness": {"baseColorFactor": "red"}}],
             meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}]), "are not 4 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", GLTF)
def test_gltf(read, capfd: pytest.CaptureFixture, case: str) -> None:
    content, words = GLTF[case]
    refused(read, "part.gltf", json.dumps(content) if isinstance(content, dict) else content, words)
    assert "Traceback" not in capfd.readouterr().err


def test_accessors_without_data_take_little_memory(read) -> None:
    many = [{"componentType": 5126, "count": 5_000_000, "type": "VEC3"}] * 50
    primitives = [{"attributes": {"POSITION": i}} for i in range(50)]
    tracemalloc.start()
    try:
        refused(read, "part.gltf", json.dumps(gltf(accessors=many, meshes=[{"primitives": primitives}])), "larger than")
        assert tracemalloc.get_traced_memory()[1] < 600e6
    finally:
        tracemalloc.stop()


STL = {
    "empty": (b"", "not an STL file"),
    "cut": (b"a" * 90, "not an STL file, or cut off"),
    "count 4e9": (b"\0" * 80 + b"\xff\xff\xff\xff" + b"\0" * 100, "not an STL file, or cut off"),
    "no triangles": (b"\0" * 84, "no polygons"),
    "not finite": (b"\0" * 80 + struct.pack("<I12fH", 1, *[float("nan")] * 12, 0), "not finite"),
    "large": (b"\0" * 80 + struct.pack("<I12fH", 1, *[3e38] * 12, 0), "not finite numbers up to 1e+09"),
    "text cut": (b"solid a\nfacet\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", "not a complete ASCII STL file"),
    "text of words": (b"solid a\nfacet\nvertex a b c\n" * 3, "where numbers should be"),
    "long words": (b"solid a\n" + b"vertex " * 500_000, "where numbers should be"),
    "spaces": (b"solid a\nvertex" + b" " * 5_000_000 + b"1", "no polygons"),
}


@pytest.mark.parametrize("case", STL)
def test_stl(read, case: str) -> None:
    refused(read, "part.stl", *STL[case])


@pytest.mark.parametrize("ending", ["stl", "obj", "dae", "ply", "gltf", "glb"])
def test_what_is_no_file_of_reasonable_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    for path in (folder, tmp_path / f"none.{ending}", tmp_path / f"nul\0.{ending}"):
        with pytest.raises(FileFormatError, match=r"cannot be read|not a regular file"):
            read_mesh(str(path))
    zero = tmp_path / f"zero.{ending}"
    if Path("/dev/zero").exists():
        zero.symlink_to("/dev/zero")
        with pytest.raises(FileFormatError, match="not a regular file"):
            read_mesh(str(zero))
    large = tmp_path / f"large.{ending}"
    with open(large, "wb") as file:
        file.truncate(129 << 20)
    with pytest.raises(FileFormatError, match="larger than 128 MB"):
        read_mesh(str(large))


NAMES = ["//host/share/x", r"\\host\share\x", "file:////host/share/x", "file://host/share/x", "http://host/x",
         "/host/x", "../../../../host/x", r"..\..\..\..\host\x", "C:/host/x", "C:host/x", "%2F%2Fhost/x"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_nothing_outside_the_robots_folders_is_touched(
    read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    touched = []
    original, is_file = builtins.open, os.path.isfile
    monkeypatch.setattr(
        builtins, "open", lambda path, *rest, **k: touched.append(str(path)) or original(path, *rest, **k)
    )
    monkeypatch.setattr(os.path, "isfile", lambda path: touched.append(str(path)) or is_file(path))
    folder = "a/b/c"
    obj = read(f"{folder}/part.obj", f"mtllib {name}.mtl\nusemtl a\n{VERTICES}f 1 2 3\n")
    assert obj.materials[1].texture is None
    (tmp_path / folder / "own.mtl").write_text(f"newmtl a\nmap_Kd {name}.png\n")
    assert read(f"{folder}/part.obj", f"mtllib own.mtl\nusemtl a\n{VERTICES}f 1 2 3\n").materials[1].texture is None
    image = collada(faces=f'<triangles material="m">{INPUT}<p>0 1 2</p></triangles>').replace(
        "<library_geometries>",
        f'<library_images><image id="i"><init_from>{name}.png</init_from></image></library_images><library_effects>'
        '<effect id="e"><profile_COMMON><technique sid="t"><phong><diffuse><texture texture="i"/></diffuse></phong>'
        '</technique></profile_COMMON></effect></library_effects><library_materials><material id="m">'
        '<instance_effect url="#e"/></material></library_materials><library_geometries>',
        1,
    )
    assert read(f"{folder}/part.dae", image).materials[0].texture is None
    textured = gltf(
        images=[{"uri": f"{name}.png"}],
        textures=[{"source": 0}],
        materials=[{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
    )
    assert read(f"{folder}/part.gltf", json.dumps(textured)).materials[0].texture is None
    refused(read, f"{folder}/part.gltf", json.dumps(buffer(f"{name}.bin")), "outside the robot's folders")
    inside = str(tmp_path / folder)
    assert not [path for path in touched if "x." in os.path.basename(path) and not path.startswith(inside)], touched


def test_pictures_are_found_in_the_package_and_where_the_author_had_them(read, tmp_path: Path) -> None:
    package = tmp_path / "a" / "b" / "package"
    (package / "textures").mkdir(parents=True)
    (package / "meshes" / "deep" / "er").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>p</name></package>")
    (package / "textures" / "skin.png").write_bytes(b"")
    (package / "meshes" / "deep" / "er" / "own.png").write_bytes(b"")
    (tmp_path / "a" / "outside.png").write_bytes(b"")
    for name, found in {
        "../../../textures/skin.png": package / "textures" / "skin.png",
        r"..\..\..\textures\skin.png": package / "textures" / "skin.png",
        "C:/Users/me/own.png": package / "meshes" / "deep" / "er" / "own.png",
        "file:///home/me/own.png": package / "meshes" / "deep" / "er" / "own.png",
        "../../../../../outside.png": None,
        "own.txt": None,
    }.items():
        text = f"newmtl a\nKd 1 1 1\nmap_Kd {name}\n"
        (package / "meshes" / "deep" / "er" / "part.mtl").write_text(text)
        mesh = read("a/b/package/meshes/deep/er/part.obj", f"mtllib part.mtl\nusemtl a\n{VERTICES}f 1 2 3\n")
        assert mesh.materials[1].texture == (None if found is None else str(found)), name


def test_gltf_pictures_inside_the_file(read) -> None:
    png = b"\x89PNG\r\n\x1a\n rest"
    for content, found in ((png, png), (b"GIF89a", None)):
        uri = "data:image/png;base64," + base64.b64encode(content).decode()
        document = gltf(
            images=[{"uri": uri}],
            textures=[{"source": 0}],
            materials=[
                {"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.25}}
            ],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
            accessors=[gltf()["accessors"][0], {"componentType": 5126, "count": 3, "type": "VEC2"}],
        )
        mesh = read("part.gltf", json.dumps(document))
        (material,) = mesh.materials
        assert (material.name, material.texture, material.metallic, material.rgba) == (
            "skin",
            found,
            0.25,
            (1, 1, 1, 1),
        )
        assert mesh.uv is None if found is None else mesh.uv.tolist() == [[0, 1]] * 3
