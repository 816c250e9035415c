"""Motions that meet a task, and things of the scene that lead a robot through them."""

from __future__ import annotations

import math

import bpy
import numpy as np
from mathutils import Matrix, Vector
from robokin_addon.properties.bridge import binding, read_configuration, robot_model, write_configuration
from robokin_addon.robokin import forward_kinematics
from robokin_addon.scene.animation.frames import fcurves

from support.blender.rigs import add_rig
from support.blender.scene_robots import add_empty, add_robot
from support.blender.scene_tasks import mesh_object

FRAMES = range(1, 13)
NEAR, TURNED = 2e-4, 2e-3  # [m], [rad]
ROBOTS = {
    "panda": ("panda_hand_tcp", "panda_link4", [0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8, 0.02]),
    "ur5_robot": ("tool0", "forearm_link", [0.3, -1.2, 1.5, -1.0, -1.5, 0.2]),
}


class Led:
    """A robot and the motion it was led through: world matrices without scale, by frame. unit: metres per Blender unit
    of the world at the robot's own size."""

    def __init__(self, scene, name, unit, scale, moves):
        scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
        scene.unit_settings.scale_length = unit
        self.obj = add_robot(name)
        tip, elbow, q = ROBOTS[name]
        self.tip, self.elbow = (binding(self.obj).bone_of_link[link] for link in (tip, elbow))
        self.unit = unit / scale
        self.obj.location, self.obj.rotation_euler = Vector((1, -2, 0.5)) / unit, (0.2, -0.1, 0.7)
        self.obj.scale = (scale,) * 3
        if moves:
            for frame, away in ((FRAMES[0], 0.0), (FRAMES[-1], 0.1)):
                self.obj.location.x = (1 + away) / unit
                self.obj.rotation_euler.z = 0.7 + away
                self.obj.keyframe_insert("location", frame=frame)
                self.obj.keyframe_insert("rotation_euler", frame=frame)
        rng = np.random.default_rng(5)
        q = np.array(q)
        ways = rng.uniform(-0.2, 0.2, len(q)) * (np.arange(len(q)) < 6)
        self.q = [q + ways * math.sin(1.5 * (frame - 1) / len(FRAMES)) for frame in FRAMES]
        self.tips, self.elbows, self.centres = [], [], []
        for frame, own in zip(FRAMES, self.q, strict=True):
            scene.frame_set(frame)
            write_configuration(self.obj, own)
            bpy.context.view_layer.update()
            self.tips.append(self.world(self.tip))
            self.elbows.append(self.world(self.elbow))
            self.centres.append(self.centre())
        scene.frame_set(FRAMES[0])
        write_configuration(self.obj, self.q[0])
        assert bpy.ops.robokin.store_posture() == {"FINISHED"}
        write_configuration(self.obj, self.q[-1])

    def world(self, bone):
        """(4, 4) of a bone's link."""
        own = binding(self.obj)
        T = np.array(self.obj.matrix_world @ self.obj.pose.bones[bone].matrix, float)
        T[:3, :3] = T[:3, :3] / np.cbrt(np.linalg.det(T[:3, :3])) @ own.frames[own.bones.index(bone)].T
        return T

    def centre(self):
        """(3,) of mass, in the world."""
        model = robot_model(self.obj)
        frames = forward_kinematics(model, read_configuration(self.obj))
        own = sum(link.mass * (frames[link.name] @ [*link.com, 1.0])[:3] for link in model.links) / model.total_mass
        return np.array(self.obj.matrix_world @ Vector(own / bpy.context.scene.unit_settings.scale_length))

    def add(self, kind, target=None, tip=None, **settings):
        other = settings.pop("other", "")
        assert bpy.ops.robokin.task_add(kind=kind, tip=tip or self.tip, other=other) == {"FINISHED"}
        task = self.obj.robokin.tasks[-1]
        task.use_target, task.target = target is not None, target
        for name, value in settings.items():
            setattr(task, name, value)
        return task

    def key(self, task, name, values):
        for frame, value in zip(FRAMES, values, strict=True):
            setattr(task, name, value)
            task.keyframe_insert(name, frame=frame)
        self.linear(self.obj)

    @staticmethod
    def linear(owner):
        for curve in fcurves(owner).values():
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"

    def bake(self, scene, **settings):
        """Yield the index of each frame, with the scene there."""
        bpy.context.view_layer.objects.active = self.obj
        assert bpy.ops.robokin.bake(**settings) == {"FINISHED"}
        solver = self.obj.robokin.solver
        assert solver.bake_status == "CONVERGED", solver.bake_reason
        assert not solver.bake_failures
        for index, frame in enumerate(FRAMES):
            scene.frame_set(frame)
            bpy.context.view_layer.update()
            yield index
        moved = [abs(np.ptp([key.co.y for key in c.keyframe_points])) for c in fcurves(self.obj).values()]
        assert max(moved) > 1e-3


def carried(led, matrices, carrier, name="goal"):
    """An object or bone that is at these matrices at the frames: (object, bone)."""
    owner = add_empty(name)
    bone = ""
    before = Matrix.Identity(4)
    if carrier == "parent":
        owner.parent = add_empty("parent")
        owner.parent.rotation_euler, owner.parent.location = (0.4, 0.2, -0.3), Vector((0.3, 0.1, 0.2)) / led.unit
        owner.matrix_parent_inverse = Matrix.Translation((0.1 / led.unit, 0, 0))
        owner.parent.keyframe_insert("location", frame=1)
        owner.parent.location.z += 0.1 / led.unit
        owner.parent.keyframe_insert("location", frame=12)
    if carrier == "bone":
        bpy.data.objects.remove(owner)
        owner = add_rig([("grip", None, (0, 0, 0), (0, 1, 0))])
        owner.pose.bones["grip"].location = (0.2, 0.1, -0.1)
        owner.pose.bones["grip"].rotation_mode = "XYZ"
        owner.pose.bones["grip"].rotation_euler = (0.3, -0.2, 0.5)
        bone = "grip"
        bpy.context.view_layer.update()
        before = owner.pose.bones["grip"].matrix.copy()
    owner.rotation_mode = "QUATERNION"
    last = None
    for frame, T in zip(FRAMES, matrices, strict=True):
        bpy.context.scene.frame_set(frame)
        owner.matrix_world = Matrix(np.asarray(T).tolist()) @ before.inverted()
        if last is not None and last.dot(owner.rotation_quaternion) < 0.0:
            owner.rotation_quaternion.negate()
        last = owner.rotation_quaternion.copy()
        for path in ("location", "rotation_quaternion"):
            owner.keyframe_insert(path, frame=frame)
    if carrier == "constraint":
        follower = add_empty(f"{name} follower")
        constraint = follower.constraints.new("COPY_TRANSFORMS")
        constraint.target = owner
        owner = follower
    bpy.context.scene.frame_set(FRAMES[0])
    bpy.context.view_layer.objects.active = led.obj
    return owner, bone


def follow(led, matrices, kind, **settings):
    target, bone = carried(led, matrices, led.carrier)
    task = led.add(kind, target, **settings)
    task.subtarget = bone
    return task


def turned(T, axis_z):
    """The pose with its Z axis along a direction."""
    z = axis_z / np.linalg.norm(axis_z)
    x = np.cross([0.3, 0.5, 0.8], z)
    x /= np.linalg.norm(x)
    found = np.array(T)
    found[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    return found


def shifted(T, away):
    found = np.array(T)
    found[:3, 3] += away
    return found


def angle(R, S):
    return np.linalg.norm(R - S) / math.sqrt(2.0)


def between(a, b):
    return math.acos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1.0, 1.0))


def circle_at(led, matrices):
    """A curve object, a circle of radius 0.2 m about the local Z axis, whose point at local X is at the matrices."""
    data = bpy.data.curves.new("circle", "CURVE")
    data.dimensions, data.resolution_u = "3D", 64
    spline = data.splines.new("BEZIER")
    spline.bezier_points.add(3)
    radius, tangent = 0.2 / led.unit, 0.2 / led.unit * 4 / 3 * math.tan(math.pi / 8)
    for i, point in enumerate(spline.bezier_points):
        out = Vector((math.cos(i * math.pi / 2), math.sin(i * math.pi / 2), 0))
        along = Vector((-out.y, out.x, 0))
        point.co = radius * out
        point.handle_left, point.handle_right = radius * out - tangent * along, radius * out + tangent * along
    spline.use_cyclic_u = True
    curve = mesh_object("circle", data)
    curve.rotation_mode = "QUATERNION"
    for frame, T in zip(FRAMES, matrices, strict=True):
        curve.matrix_world = Matrix(shifted(T, -radius * T[:3, 0]).tolist())
        curve.keyframe_insert("location", frame=frame)
        curve.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(FRAMES[0])
    bpy.context.view_layer.objects.active = led.obj
    return curve, radius


def off_circle(curve, radius, point):
    x, y, z = curve.matrix_world.inverted() @ Vector(point)
    return math.hypot(math.hypot(x, y) - radius, z)
