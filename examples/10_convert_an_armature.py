"""An ordinary armature with Blender's own inverse kinematics becomes a robot with a task. Needs `pip install bpy`."""

import bpy
import robokin_addon

robokin_addon.register()
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)

rig = bpy.data.objects.new("crane", bpy.data.armatures.new("crane"))
bpy.context.scene.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
rig.select_set(True)
bpy.ops.object.mode_set(mode="EDIT")
for name, parent, head, tail in (
    ("mast", None, (0, 0, 0), (0, 0, 1)),
    ("boom", "mast", (0, 0, 1), (0, -1, 1.5)),
    ("jib", "boom", (0, -1, 1.5), (0, -2, 1.2)),
):
    bone = rig.data.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, rig.data.edit_bones.get(parent or "")
bpy.ops.object.mode_set(mode="OBJECT")

rig.pose.bones["mast"].lock_rotation = (True, False, True)  # turns about its own Y
for name in ("boom", "jib"):
    rig.pose.bones[name].lock_rotation = (False, True, True)  # bend about their X
goal = bpy.data.objects.new("goal", None)
goal.location = (0.8, -1.5, 1.3)
bpy.context.scene.collection.objects.link(goal)
rig.pose.bones["jib"].constraints.new("IK").target = goal
bpy.context.view_layer.update()

bpy.ops.robokin.convert_rig()
for bone in rig.data.bones:
    print(f"{bone.name:8} {bone.robokin.joint_type}")
task = rig.robokin.tasks[0]
print(f"task: {task.kind} of {task.tip}, target {task.target.name}")

bpy.ops.robokin.reset_pose()
bpy.ops.robokin.solve_pose()
bpy.context.view_layer.update()
off = (rig.matrix_world @ rig.pose.bones["jib"].tail - goal.location).length
print(f"{rig.robokin.solver.status}, {1000 * off:.1f} mm from the goal")

robokin_addon.unregister()
