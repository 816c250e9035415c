"""glTF files that are damaged or lie about their size: one line, in time and memory."""

from __future__ import annotations

import base64
import json
import struct
import tracemalloc

import pytest
from support.hostile.mesh_files import buffer, gltf, refused


def accessor(**given: object) -> dict:
    first, second = gltf()["accessors"]
    return gltf(accessors=[{**first, **given}, second])


def index(**given: object) -> dict:
    first, second = gltf()["accessors"]
    return gltf(accessors=[first, {**second, **given}])


def view(**given: object) -> dict:
    first, second = gltf()["bufferViews"]
    return gltf(bufferViews=[{**first, **given}, second])


def test_gltf_reads(read) -> None:
    mesh = read("part.gltf", json.dumps(gltf()))
    assert mesh.vertices[mesh.corners].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
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
