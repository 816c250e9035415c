"""Files that are none, or too large, and names in mesh files of what is not theirs."""

from __future__ import annotations

import builtins
import json
import os
from pathlib import Path

import pytest
from robokin_addon.properties.bridge.visuals.meshes import read_mesh
from robokin_addon.robokin import FileFormatError
from support.hostile.mesh_files import INPUT, VERTICES, buffer, collada, gltf, refused


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
