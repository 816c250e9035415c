"""Damaged mesh files of every format, another set in each run: a mesh or one line of what is wrong, nothing else.

ROBOKIN_FUZZ_SEED=5 takes the seed 5; the head of a run has its own. Blender is given every mesh that is read.
"""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import bpy
import pytest
from robokin_addon.properties.bridge.visuals.link_visuals import _from_arrays
from robokin_addon.properties.bridge.visuals.materials import MaterialShelf
from robokin_addon.properties.bridge.visuals.meshes import MeshData, read_mesh
from robokin_addon.properties.bridge.visuals.meshes.bounds import LARGEST, MAX_SIDES
from robokin_addon.robokin import FileFormatError
from support.hostile.fuzzing import SEED
from support.hostile.mutations import mutated
from support.robots import robot_data

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("error::RuntimeWarning")]

FILES = 1500  # of each format
SECONDS = 10.0  # for one file of some kilobytes: the machine may be busy
BYTES = 600e6


def exported(folder: Path, ending: str, write: Callable[[str], object]) -> Path:
    """What Blender writes of a part with two materials, one with a picture."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=6, ring_count=4)
    obj = bpy.context.object
    for name in ("red", "skin"):
        material = bpy.data.materials.new(name)
        if material.node_tree is None:
            material.use_nodes = True
        obj.data.materials.append(material)
    picture = bpy.data.images.new("skin", 2, 2)
    picture.filepath_raw, picture.file_format = str(folder / "skin.png"), "PNG"
    picture.save()
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = picture
    material.node_tree.links.new(
        node.outputs["Color"], material.node_tree.nodes["Principled BSDF"].inputs["Base Color"]
    )
    for i, polygon in enumerate(obj.data.polygons):
        polygon.material_index = i % 2
    path = folder / f"part.{ending}"
    write(str(path))
    return path


EXPORTS: dict[str, tuple[str, Callable[[str], object]]] = {
    "stl": ("stl", lambda path: bpy.ops.wm.stl_export(filepath=path)),
    "stl text": ("stl", lambda path: bpy.ops.wm.stl_export(filepath=path, ascii_format=True)),
    "obj": ("obj", lambda path: bpy.ops.wm.obj_export(filepath=path)),
    "ply": ("ply", lambda path: bpy.ops.wm.ply_export(filepath=path)),
    "ply text": ("ply", lambda path: bpy.ops.wm.ply_export(filepath=path, ascii_format=True)),
    "gltf": ("gltf", lambda path: bpy.ops.export_scene.gltf(filepath=path, export_format="GLTF_SEPARATE")),
    "glb": ("glb", lambda path: bpy.ops.export_scene.gltf(filepath=path, export_format="GLB")),
}


def outcomes(path: Path, sources: list[bytes], seed: str, files: int = FILES) -> dict[str, int]:
    """How many of the damaged files were read, and how many refused; each is given to Blender."""
    random_ = random.Random(seed)
    found = {"read": 0, "refused": 0}
    for i in range(files):
        data = mutated(random_.choice(sources), random_)
        path.write_bytes(data)
        before = time.process_time()
        try:
            mesh = read_mesh(str(path))
        except FileFormatError as fault:
            assert "\n" not in str(fault) and len(fault.problem) < 600, (seed, i)
            found["refused"] += 1
        else:
            found["read"] += 1
            give_to_blender(mesh)
        assert time.process_time() - before < SECONDS, (seed, i)
    return found


def give_to_blender(mesh: MeshData) -> None:
    assert mesh.sizes.min() >= 3 and mesh.sizes.max() <= MAX_SIDES and mesh.sizes.sum() == len(mesh.corners)
    assert mesh.corners.min() >= 0 and mesh.corners.max() < len(mesh.vertices)
    assert abs(mesh.vertices).max() <= LARGEST
    made = _from_arrays("part", mesh, MaterialShelf())
    assert not made.validate()
    made.calc_loop_triangles()
    assert len(made.corner_normals) == len(made.loops)
    bpy.data.meshes.remove(made)
    bpy.data.batch_remove([*bpy.data.materials, *bpy.data.images])


@pytest.mark.parametrize("kind", EXPORTS)
def test_damaged_files(scene: bpy.types.Scene, tmp_path: Path, kind: str) -> None:
    ending, write = EXPORTS[kind]
    path = exported(tmp_path, ending, write)
    tracemalloc.start()
    try:
        found = outcomes(path, [path.read_bytes()], f"{kind} {SEED}")
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    assert found["read"] > FILES // 50 and found["refused"] > FILES // 20, found


def test_damaged_collada(scene: bpy.types.Scene, tmp_path: Path) -> None:
    """COLLADA of several writers, which Blender no longer is one of."""
    small = sorted(p for p in robot_data().rglob("*.dae") if p.stat().st_size < 60_000)
    assert len(small) > 10
    found = outcomes(tmp_path / "part.dae", [p.read_bytes() for p in small], f"collada {SEED}")
    assert found["read"] > FILES // 50 and found["refused"] > FILES // 20, found


def test_damaged_materials(scene: bpy.types.Scene, tmp_path: Path) -> None:
    path = exported(tmp_path, "obj", EXPORTS["obj"][1])
    library = tmp_path / "part.mtl"
    data, random_ = library.read_bytes(), random.Random(f"mtl {SEED}")
    for _ in range(FILES // 3):
        library.write_bytes(mutated(data, random_))
        try:
            give_to_blender(read_mesh(str(path)))
        except FileFormatError as fault:
            assert "\n" not in str(fault)
