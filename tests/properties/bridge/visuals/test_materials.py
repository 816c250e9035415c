"""Pictures on links: from files and from inside of mesh files; one that cannot be opened leaves the colour."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import bpy
import pytest
from robokin_addon.properties.bridge.visuals.materials import MaterialShelf, has_texture
from robokin_addon.properties.bridge.visuals.meshes import FileMaterial

WIDTH, HEIGHT = 6, 3
HEAD = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture() -> bytes:
    """A PNG, orange all over."""
    rows = (b"\0" + b"\xff\x80\x00" * WIDTH) * HEIGHT
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return HEAD + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_picture_is_shown(scene, tmp_path: Path, is_inside: bool) -> None:
    path = tmp_path / "paint.png"
    path.write_bytes(picture())
    made = MaterialShelf().material(FileMaterial("paint", None, picture() if is_inside else str(path)))
    (image,) = (node.image for node in made.node_tree.nodes if node.type == "TEX_IMAGE")
    assert tuple(image.size) == (WIDTH, HEIGHT) and (image.packed_file is not None) == is_inside
    assert list(image.pixels[:3]) == pytest.approx([1.0, 0.502, 0.0], abs=1e-3)
    (link,) = (link for link in made.node_tree.links if link.to_socket.name == "Base Color")
    assert link.from_node.image == image


@pytest.mark.parametrize("content", [None, HEAD + b"broken", b""])
@pytest.mark.parametrize("is_inside", [True, False])
def test_one_that_cannot_be_opened_leaves_the_colour(scene, tmp_path: Path, is_inside: bool, content) -> None:
    path = tmp_path / "paint.png"
    if content is not None:
        path.write_bytes(content)
    texture = (content or b"") if is_inside else str(path)
    made = MaterialShelf().material(FileMaterial("paint", (1.0, 0.0, 0.0, 1.0), texture))
    assert not has_texture(made)
    shader = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    assert tuple(shader.inputs["Base Color"].default_value) == (1.0, 0.0, 0.0, 1.0)


def test_a_picture_that_was_painted_on_stays_so(scene, tmp_path: Path) -> None:
    path = tmp_path / "paint.png"
    path.write_bytes(picture())
    image = bpy.data.images.load(str(path))
    image.pixels[:4] = (0.0, 0.0, 1.0, 1.0)
    made = MaterialShelf().material(FileMaterial("paint", None, str(path)))
    assert has_texture(made) and image.is_dirty
    assert list(image.pixels[:3]) == pytest.approx([0.0, 0.0, 1.0], abs=1e-3)
