"""Bakes of 250 frames with levels and criteria: evaluation of the scene and writing of the curves included.

`python benchmarks/bake_levels.py [--frames 250] [--rounds 3]`, in a Python that has bpy. The targets of the first one
or two tasks go round, the others stand. The fastest round counts; exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import bpy
import checkout
import numpy as np
from robot_files import ROBOTS, robot_file

CRITERIA = ("JOINT_SPRINGS", "KINETIC_ENERGY")
BENT = (0.0, -0.5, 0.3, -2.0, 0.1, 1.6, 0.5)


def rig_of(name: str) -> bpy.types.Object:
    """In an empty scene, active; the Panda bent."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    floating = ROBOTS[name][2]
    bpy.ops.robokin.import_urdf(filepath=str(robot_file(name)), meshes=False, root="floating" if floating else "fixed")
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.context.view_layer.objects.active = rig
    if name == "panda":
        for number, angle in enumerate(BENT, 1):
            rig.pose.bones[f"panda_joint{number}"].rotation_euler.y = angle
    bpy.context.view_layer.update()
    return rig


def bone_of(rig: bpy.types.Object, link: str) -> str:
    return next(bone.name for bone in rig.data.bones if bone.robokin.link == link)


def add_target(rig: bpy.types.Object, kind: str, link: str, priority: int) -> bpy.types.Object:
    bpy.ops.robokin.target_add(kind=kind, tip=bone_of(rig, link))
    task = rig.robokin.tasks[-1]
    task.priority = priority
    return task.target


def go_round(target: bpy.types.Object, frames: int, radius: float) -> None:
    """Keyed every 10 frames, once round, beginning and ending where it is."""
    place = target.location.copy()
    for frame in range(1, frames + 10, 10):
        angle = 2.0 * np.pi * (frame - 1) / (frames - 1)
        target.location = place[0], place[1] + radius * np.sin(angle), place[2] + radius * (np.cos(angle) - 1.0)
        target.keyframe_insert("location", frame=frame)


def pose_and_posture(frames: int) -> bpy.types.Object:
    rig = rig_of("panda")
    go_round(add_target(rig, "POSE", ROBOTS["panda"][1][0], 1), frames, 0.1)
    bpy.ops.robokin.store_posture(name="bent")
    bpy.ops.robokin.task_add(kind="POSTURE")
    task = rig.robokin.tasks[-1]
    task.posture, task.priority = "bent", 2
    return with_criteria(rig)


def four_levels(frames: int) -> bpy.types.Object:
    rig = rig_of("talos")
    for number, link in enumerate(ROBOTS["talos"][1], 1):
        target = add_target(rig, "POSE", link, number)
        if number <= 2:
            go_round(target, frames, 0.03)
    return with_criteria(rig)


def look(frames: int) -> bpy.types.Object:
    rig = rig_of("panda")
    go_round(add_target(rig, "AIM", "panda_link4", 1), frames, 0.05)
    add_target(rig, "DISTANCE", "panda_hand", 2)
    add_target(rig, "LASER", "panda_hand", 3)
    return rig


def with_criteria(rig: bpy.types.Object) -> bpy.types.Object:
    for kind in CRITERIA:
        bpy.ops.robokin.criterion_add(kind=kind)
    return rig


def baked(make: Callable[[int], bpy.types.Object], frames: int) -> tuple[float, str]:
    """Seconds of a bake, and what it says."""
    rig = make(frames)
    begin = time.perf_counter()
    bpy.ops.robokin.bake(frame_start=1, frame_end=frames, new_action=True)
    return time.perf_counter() - begin, rig.robokin.solver.bake_status


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    checkout.load()
    addon = sys.modules["robokin_addon"]
    addon.register()
    kept = True
    for name, make, required in (
        ("panda, pose, posture at 2, springs, energy", pose_and_posture, 0.3),
        ("talos, 4 levels, springs, energy", four_levels, 1.0),
        ("panda, aim, distance at 2, laser at 3", look, 0.3),
    ):
        found = [baked(make, arguments.frames) for _ in range(arguments.rounds)]
        taken, status = min(found)
        kept &= taken <= required
        print(
            f"  {name:46} {taken:6.3f} s   required {required}   {'kept' if taken <= required else 'MISSED'}   {status}"
        )
        sys.stdout.flush()
    addon.unregister()
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
