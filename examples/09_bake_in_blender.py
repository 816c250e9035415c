"""Blender without a window: import a robot, move a target, bake, check. Needs `pip install bpy`."""

from pathlib import Path

import bpy
import robokin_addon

robokin_addon.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
bpy.context.scene.frame_end = 25

bpy.ops.robokin.import_urdf(filepath=str(Path(__file__).with_name("arm.urdf").resolve()))
robot = bpy.context.object
print(
    f"{robot.name}: {len(robot.data.bones)} bones, a base and one for each joint:",
    [bone.name for bone in robot.data.bones],
)

bpy.ops.robokin.reset_pose(start="REST")  # an imported robot stands in a natural pose
robot.pose.bones["bend"].rotation_euler.y = -1.0  # the bone turns about its own Y, which is the joint's axis
bpy.context.view_layer.update()
bpy.ops.robokin.store_posture()  # the bake starts here
bpy.ops.robokin.target_add(kind="POSITION", tip="reach")
target = bpy.context.object
target.keyframe_insert("location", frame=1)
target.location.y += 0.2
target.location.z += 0.1
target.keyframe_insert("location", frame=25)

bpy.ops.robokin.bake()
print("bake:", robot.robokin.solver.bake_status)
bpy.ops.robokin.check()
print("check:", robot.robokin.solver.check_summary)

for frame in (1, 13, 25):
    bpy.context.scene.frame_set(frame)
    bones = robot.pose.bones
    angles = [round(bones[name].rotation_euler.y, 3) + 0.0 for name in ("turn", "lift", "bend")]
    off = (robot.matrix_world @ bones["reach"].head - target.matrix_world.translation).length
    print(f"frame {frame:2}: {angles} rad, pen within 0.1 mm of its target: {off < 1e-4}")

robokin_addon.unregister()
