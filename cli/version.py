"""The version, from its one place: the extension's manifest."""

from __future__ import annotations

from pathlib import Path


def version() -> str:
    import tomllib

    manifest = Path(__file__).resolve().parent.parent / "blender_manifest.toml"
    return tomllib.loads(manifest.read_text("utf-8"))["version"]
