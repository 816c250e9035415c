"""What Live costs, as a ratio to Blender's own cost of updating the same posed armature.

`python benchmarks/live.py [--rounds 20] [--moves 100] [--profile]`. A target goes to and fro; one move is the change of
the target, Blender's update, the solve, the pose written, and Blender's update of the armature. Blender's own: one bone
is turned as a person or a script turns it, and its update, without any handler; Blender copies the armature with its
records then. The pose alone: channels written at once, as Live writes them, of which it copies the object only. By the
time of the main thread; the fastest round counts. The whole move is to be at most twice Blender's own for an arm of 7
axes, and four times for a humanoid with tasks in 4 levels, in reach and out of it. Exit code 1 when it is more.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import checkout
from robot_files import robot_file

checkout.load()

import bpy  # noqa: E402
import numpy as np  # noqa: E402
import robokin_addon  # noqa: E402
from robokin_addon.properties.bridge import binding, build_armature, read_configuration, write_configuration  # noqa: E402
from robokin_addon.robokin import load_urdf  # noqa: E402

READY = (0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8)
BENT = {"leg_left_4_joint": 0.6, "leg_right_4_joint": 0.6, "arm_left_4_joint": -1.2, "arm_right_4_joint": -1.2}
# robot -> (tip, kind of task, level); the last column says which target moves
TASKS = {
    "panda": (("panda_hand_tcp", "POSE", 1, True),),
    "talos": (
        ("left_sole_link", "POSE", 1, False),
        ("right_sole_link", "POSE", 1, False),
        ("gripper_left_base_link", "POSE", 2, True),
        ("gripper_right_base_link", "POSITION", 3, False),
        ("head_2_link", "ORIENTATION", 4, False),
    ),
}
MOST = {"panda": 2.0, "talos": 4.0}
FAR = 9.0  # [m] a target that far off is out of reach


def scene_with(name: str) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A robot that stands ready with its tasks, and the target that moves."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    model = load_urdf(str(robot_file(name)), root="floating" if name == "talos" else "fixed")
    obj = build_armature(bpy.context, bpy.context.scene.collection, model)
    q = read_configuration(obj)
    if name == "panda":
        q[: len(READY)] = READY
    for joint in model.moving_joints:
        if joint.name in BENT:
            q[model.slot(joint.name).q] = BENT[joint.name]
    write_configuration(obj, q)
    bpy.context.view_layer.update()
    moving = None
    for tip, kind, level, moves in TASKS[name]:
        with bpy.context.temp_override(object=obj):
            bpy.ops.robokin.target_add(tip=binding(obj).bone_of_link[tip], kind=kind)
        obj.robokin.tasks[-1].priority = level
        if moves:
            moving = obj.robokin.tasks[-1].target
    bpy.context.view_layer.update()
    assert moving is not None
    return obj, moving


@contextmanager
def without_handlers() -> Iterator[None]:
    lists = (bpy.app.handlers.depsgraph_update_post, bpy.app.handlers.frame_change_post)
    kept = [list(handlers) for handlers in lists]
    for handlers, own in zip(lists, kept, strict=True):
        for handler in own:
            handlers.remove(handler)
    try:
        yield
    finally:
        for handlers, own in zip(lists, kept, strict=True):
            handlers.extend(own)


def fastest(move: Callable[[int], None], rounds: int, moves: int) -> float:
    """[s] of one move."""
    best = np.inf
    for _ in range(rounds):
        begin = time.thread_time()
        for i in range(moves):
            move(i)
        best = min(best, (time.thread_time() - begin) / moves)
    return best


def measure(name: str, rounds: int, moves: int, profile: bool) -> bool:
    obj, target = scene_with(name)
    view_layer, bones = bpy.context.view_layer, obj.pose.bones
    start, channels = target.location.copy(), np.empty(3 * len(bones), np.float32)
    bones.foreach_get("rotation_euler", channels)
    turning = next(channel for channel in binding(obj).own_channels if channel.path == "rotation_euler")

    def pose(i: int) -> None:
        bones[turning.bone].rotation_euler[turning.index] = 1e-3 * (i % 7)
        view_layer.update()

    def pose_alone(i: int) -> None:
        channels[0] = 1e-3 * (i % 7)
        bones.foreach_set("rotation_euler", channels)
        view_layer.update()

    def drag(i: int, away: float = 0.0) -> None:
        angle = 2.0 * np.pi * i / moves
        target.location = start
        target.location.x += away
        target.location.z += 0.05 * np.sin(angle)
        target.location.y += 0.05 * (np.cos(angle) - 1.0)
        view_layer.update()

    own = alone = live = far = np.inf
    for _ in range(rounds):  # in turn, since others use the machine too
        with without_handlers():
            own, alone = min(own, fastest(pose, 1, moves)), min(alone, fastest(pose_alone, 1, moves))
        live = min(live, fastest(drag, 1, moves))
        drag(0, FAR)  # a leap
        far = min(far, fastest(lambda i: drag(i, FAR), 1, moves))
        drag(0)
    obj.robokin.live = False
    view_layer.update()
    off = fastest(drag, rounds, moves)
    with without_handlers():
        bare = fastest(drag, rounds, moves)
    solving = live - bare - alone
    print(
        f"{name:8s} Blender's own {1e6 * own:5.0f} us (the pose alone {1e6 * alone:4.0f})   "
        f"live {1e6 * live:5.0f} us, {live / own:4.2f} times, of it solve and write {1e6 * solving:5.0f} us   "
        f"out of reach {1e6 * far:5.0f} us, {far / own:4.2f} times   "
        f"switched off {1e6 * (off - bare):5.1f} us more than without handlers"
    )
    if profile:
        obj.robokin.live = True
        view_layer.update()
        profiler = cProfile.Profile()
        profiler.enable()
        for i in range(moves):
            drag(i)
        profiler.disable()
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
    return max(live, far) <= MOST[name] * own


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    options = parser.parse_args()
    robokin_addon.register()
    kept = [measure(name, options.rounds, options.moves, options.profile) for name in TASKS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
