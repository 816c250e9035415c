"""Reads a mesh file that a test writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from robokin_addon.properties.bridge.visuals.meshes import MeshData, read_mesh


@pytest.fixture
def read(tmp_path: Path):
    """Writes a file and reads it."""

    def reader(name: str, content: str | bytes) -> MeshData:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_mesh(str(path))

    return reader
