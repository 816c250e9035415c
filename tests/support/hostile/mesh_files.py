"""Small mesh files to damage, and what is asked of a refusal."""

from __future__ import annotations

import base64
import struct
import time

import numpy as np
import pytest
from robokin_addon.robokin import FileFormatError


def refused(read, name: str, content: str | bytes, words: str, seconds: float = 10.0) -> None:
    before = time.process_time()
    with pytest.raises(FileFormatError) as fault:
        read(name, content)
    assert time.process_time() - before < seconds
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


VERTICES = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


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


def buffer(uri: object, length: object = 42) -> dict:
    return gltf(buffers=[{"uri": uri, "byteLength": length}])
