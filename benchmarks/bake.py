"""A 1000-frame bake of a Panda beside Blender's own `nla.bake` of the same rig with an IK constraint.

`python benchmarks/bake.py [--frames 1000] [--rounds 5]`, in a Python that has bpy. Both bake the same keyframed target;
scene evaluation and the writing of the curves are included in both. Prints the seconds and the ratio; exit code 1 when
Robokin takes more than half of Blender's time.
"""

from __future__ import annotations

import argparse
import sys
import time

import bpy
import checkout
import numpy as np
from robot_files import robot_file

TIP, ACCEPTED = "panda_link8", 0.5


def keyframed_target(frames: int) -> bpy.types.Object:
    """An empty that goes around a circle in front of the robot, keyed every 20 frames."""
    target = bpy.data.objects.new("target", None)
    bpy.context.collection.objects.link(target)
    target.rotation_euler = (np.pi, 0.0, 0.0)
    for frame in range(1, frames + 20, 20):
        angle = 2 * np.pi * frame / frames
        target.location = (0.5, 0.15 * np.cos(angle), 0.4 + 0.15 * np.sin(angle))
        target.keyframe_insert("location", frame=frame)
    return target


def robokin_seconds(rig: bpy.types.Object, target: bpy.types.Object, frames: int) -> float:
    task = rig.robokin.tasks[0]
    task.target = target
    begin = time.perf_counter()
    with bpy.context.temp_override(object=rig, active_object=rig):
        bpy.ops.robokin.bake(frame_start=1, frame_end=frames, new_action=True)
    taken = time.perf_counter() - begin
    if rig.robokin.solver.bake_status != "CONVERGED":
        sys.exit(f"the bake did not meet its target: {rig.robokin.solver.bake_reason}")
    return taken


def blender_seconds(rig: bpy.types.Object, target: bpy.types.Object, frames: int, tip: str) -> float:
    bone = rig.pose.bones[tip]
    constraint = bone.constraints.new("IK")
    constraint.target, constraint.use_rotation = target, True
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    begin = time.perf_counter()
    bpy.ops.nla.bake(
        frame_start=1,
        frame_end=frames,
        only_selected=False,
        visual_keying=True,
        bake_types={"POSE"},
        use_current_action=False,
    )
    taken = time.perf_counter() - begin
    bpy.ops.object.mode_set(mode="OBJECT")
    bone.constraints.remove(constraint)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    checkout.load()
    addon = sys.modules["robokin_addon"]
    addon.register()
    ours, blenders = [], []
    for _ in range(arguments.rounds):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.robokin.import_urdf(filepath=str(robot_file("panda")), meshes=False)
        rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
        tip = next(bone.name for bone in rig.data.bones if bone.robokin.link == TIP)
        with bpy.context.temp_override(object=rig, active_object=rig):
            bpy.ops.robokin.task_add(kind="POSE", tip=tip)
        target = keyframed_target(arguments.frames)
        ours.append(robokin_seconds(rig, target, arguments.frames))
        blenders.append(blender_seconds(rig, target, arguments.frames, tip))
    addon.unregister()
    ratio = min(ours) / min(blenders)
    print(f"{arguments.frames} frames: Robokin {min(ours):.3f} s, nla.bake {min(blenders):.3f} s, ratio {ratio:.2f}")
    print(f"asked: at most {ACCEPTED}")
    sys.stdout.flush()
    sys.exit(0 if ratio <= ACCEPTED else 1)


if __name__ == "__main__":
    main()
