"""The whole way of a robot through Robokin: import, pose, targets, solve, bake, check, export, pictures.

Run by `make demo`. It calls the operators that the buttons of the Robot sidebar call, so every line can be tried in
Blender's Python console. What it makes is in out/demo/.
"""

from __future__ import annotations

import json
import math
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import bpy
import plots
import robokin_addon
import studio
import workpiece
from robokin_addon.cli.quiet import output_dropped

OUT = Path("out/demo")
FIRST, LAST = 1, 120
HAND = "panda_hand_tcp_joint"  # the bone that ends in the tool centre point
READY = {"panda_joint2": -0.3, "panda_joint4": -2.2, "panda_joint6": 2.0, "panda_joint7": math.pi / 4}

AT_WORK = ((2.05, -1.75, 1.2), (0.33, 0.0, 0.37), 70.0)  # place of the camera, what it looks at, lens [mm]

CREDIT = """\
Franka Emika Panda, from franka_description of
https://github.com/frankaemika/franka_ros (Apache-2.0), as packed by example-robot-data"""


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    robokin_addon.register()
    try:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.context.preferences.filepaths.save_version = 0  # no demo.blend1
        passed = run()
    finally:
        # Blender 4.5's module never ends with classes left registered.
        robokin_addon.unregister()
    say("Done", f"in {time.perf_counter() - started:.0f} s; see {OUT}/:")
    for name, what in WHAT.items():
        print(f"  {name:18}{what}")
    return 0 if passed else 1


def run() -> bool:
    """Whether every target was reached inside all limits."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    robot = import_robot()
    pose_by_hand(robot)
    add_target(scene, robot)
    bake(robot)
    check(robot)
    export()
    draw_plots()
    take_pictures(scene)
    scene.frame_set(FIRST)
    open_window_well(scene, robot)
    call(bpy.ops.wm.save_as_mainfile, filepath=absolute("demo.blend"), compress=True)
    return robot.robokin.solver.check_passed


def import_robot() -> bpy.types.Object:
    file = panda()
    took = call(bpy.ops.robokin.import_urdf, filepath=str(file))
    robot = bpy.context.object
    meshes = [o for o in robot.children if o.type == "MESH"]
    faces = sum(len(o.data.polygons) for o in meshes)
    say("Import", f"{file.name}: {len(robot.data.bones)} bones, {len(meshes)} meshes, {faces} faces, {took:.2f} s")
    print(CREDIT)
    return robot


def panda() -> Path:
    data = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return data / "panda_description/urdf/panda.urdf"


def pose_by_hand(robot: bpy.types.Object) -> None:
    bone = robot.pose.bones["panda_joint2"]
    bone.rotation_euler.y = math.radians(150)  # what R Y Y 150 does in the window
    bpy.context.view_layer.update()
    stopped = math.degrees(bone.rotation_euler.y)
    say("Pose", f"{bone.name} turned by hand to 150 degrees stops at its limit, {stopped:.2f} degrees")
    for name, angle in READY.items():
        robot.pose.bones[name].rotation_euler.y = angle
    robot.pose.bones["panda_finger_joint1"].location.y = workpiece.PEN_RADIUS  # the other finger follows
    bpy.context.view_layer.update()


def add_target(scene: bpy.types.Scene, robot: bpy.types.Object) -> None:
    """A target at the tool, a pen in the gripper, and the target sent round the figure of eight."""
    bpy.ops.robokin.target_add(kind="POSE", tip=HAND)
    target = bpy.context.object
    workpiece.add_plate(scene)
    workpiece.add_line(scene, FIRST, LAST)
    workpiece.add_pen(scene, robot, HAND, target.matrix_world)
    for frame, pose in enumerate(workpiece.tool_poses(LAST - FIRST + 1), FIRST):
        target.matrix_world = pose
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(FIRST)
    task = robot.robokin.tasks[0]
    task.position_tolerance, task.orientation_tolerance = 1e-6, 1e-6  # [m], [rad]
    took = call(bpy.ops.robokin.solve_pose)
    say(
        "Solve",
        f"{robot.robokin.solver.status}: {1e6 * task.position_residual:.2g} um, "
        f"{1e6 * task.orientation_residual:.2g} urad from the target, {1e3 * took:.1f} ms",
    )
    bpy.ops.robokin.store_posture()  # the bake starts from here


def bake(robot: bpy.types.Object) -> None:
    took = call(bpy.ops.robokin.bake, report_path=absolute("bake.json"))
    frames = json.loads((OUT / "bake.json").read_text("utf-8"))["frames"]
    settings = robot.robokin.solver
    say("Bake", f"{len(frames)} frames in {1e3 * took:.0f} ms, {settings.bake_status}: {settings.bake_reason}")
    print(f"farthest from the path: {worst(frames, 'position') * 1e6:.2g} um, {worst(frames, 'orientation'):.2g} rad")
    drift = {name: frames[-1]["q"][name] - value for name, value in frames[0]["q"].items()}
    name = max(drift, key=lambda joint: abs(drift[joint]))
    print(f"the tool path closes; the joints of a redundant arm need not: {name} is {drift[name]:+.3f} rad away")


def check(robot: bpy.types.Object) -> None:
    call(bpy.ops.robokin.check, report_path=absolute("check.json"))
    found = json.loads((OUT / "check.json").read_text("utf-8"))
    say("Check", robot.robokin.solver.check_summary)
    print(f"{len(found['violations'])} limits broken, tool within {1e6 * worst(found['frames'], 'position'):.2g} um")


def export() -> None:
    for name, rate in (("motion.csv", 100.0), ("motion.json", 0.0), ("motion.yaml", 100.0)):
        call(bpy.ops.robokin.export_motion, filepath=absolute(name), rate=rate)
    say("Export", "motion.csv and motion.yaml at 100 Hz, motion.json at the frame rate")


def draw_plots() -> None:
    motion = json.loads((OUT / "motion.json").read_text("utf-8"))
    frames = json.loads((OUT / "check.json").read_text("utf-8"))["frames"]
    model = robokin_addon.robokin.load_urdf(panda())
    plots.positions(OUT / "positions.png", model, motion, [row["residuals"][0]["position"] for row in frames])
    plots.velocities(OUT / "velocities.png", model, motion)
    say("Plot", "positions.png, velocities.png")


def take_pictures(scene: bpy.types.Scene) -> None:
    studio.set_up(scene, centre=(0.3, 0.0, 0.4), size=1.0)
    studio.look_from(scene, *AT_WORK)
    scene.frame_set(88)
    took = call(studio.take_picture, scene, OUT / "robot.png", (960, 720), 8)
    say("Picture", f"robot.png, {took:.0f} s")
    studio.look_from(scene, (2.4, -0.75, 1.35), (0.33, 0.0, 0.4), lens=64)
    frames = (22, 36, 50, 85)
    took = call(studio.take_multiple_exposure, scene, OUT / "exposures.png", frames, (960, 720), 4)
    say("Picture", f"exposures.png, {took:.0f} s")


def open_window_well(scene: bpy.types.Scene, robot: bpy.types.Object) -> None:
    """Who opens the file sees the robot through the camera."""
    studio.look_from(scene, *AT_WORK)
    layer = bpy.context.view_layer
    for obj in layer.objects.selected:
        obj.select_set(False)
    layer.objects.active = robot
    robot.select_set(True)
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                view = area.spaces.active
                view.region_3d.view_perspective = "CAMERA"
                view.shading.color_type = "MATERIAL"


WHAT = {
    "robot.png": "the robot at work",
    "exposures.png": "several frames on one picture",
    "positions.png": "joint angles and their limits",
    "velocities.png": "joint speeds as a share of their limits",
    "motion.csv": "the motion as a table",
    "motion.json": "the motion with velocities and accelerations",
    "motion.yaml": "the motion for ROS (trajectory_msgs/JointTrajectory)",
    "bake.json": "what the bake said, frame by frame",
    "check.json": "what the check found",
    "demo.blend": "the scene: open it in Blender and press Space",
}


def worst(frames: list[dict], part: str) -> float:
    return max(residual[part] for row in frames for residual in row["residuals"])


def call(work: Callable[..., object], *arguments: object, **settings: object) -> float:
    """Seconds that it takes. What Blender prints meanwhile is dropped: the demo says the same, and more."""
    start = time.perf_counter()
    with output_dropped():
        work(*arguments, **settings)
    return time.perf_counter() - start


def absolute(name: str) -> str:
    return str((OUT / name).resolve())


def say(step: str, text: str) -> None:
    print(f"\n{step}: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
