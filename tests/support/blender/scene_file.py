"""A Blender file of an imported robot whose tip is to follow a target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def put_scene(path: Path, urdf: str | Path, tip: str, place: Sequence[float], *options: str) -> None:
    """Write it, compressed, with a stored posture "home" and three frames. tip: name of a bone; place: of the target;
    options: of the import."""
    import bpy
    from robokin_addon.cli import main
    from robokin_addon.properties.bridge import robot_model
    from robokin_addon.properties.postures import store_posture

    assert main(["import", str(urdf), "-o", str(path), *options]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 3
    (armature,) = (obj for obj in scene.objects if obj.type == "ARMATURE")
    task = armature.robokin.tasks.add()
    task.name, task.tip, task.kind = "follow", tip, "POSITION"
    task.target = bpy.data.objects.new("target", None)
    task.target.location = place
    scene.collection.objects.link(task.target)
    store_posture(armature, robot_model(armature), "home", {})
    filepaths = bpy.context.preferences.filepaths
    versions, filepaths.save_version = filepaths.save_version, 0
    bpy.ops.wm.save_mainfile(compress=True)
    filepaths.save_version = versions
