"""COLLADA files that are damaged or lie about their size: one line, in time and memory."""

from __future__ import annotations

import tracemalloc

import pytest
from robokin_addon.properties.bridge.visuals.meshes.bounds import MAX_CORNERS
from support.hostile.mesh_files import GEOMETRY, INPUT, collada, refused


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
