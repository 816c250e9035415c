"""What a robot stands on, over the frames of a motion."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ..properties.bridge import Binding, read_configuration, to_blender
from ..robokin import RobokinError, forward_kinematics
from ..robokin.arrays import Array
from ..robokin.backend import get_backend
from ..robokin.structure.bodies import rigid_bodies
from ..robokin.structure.natural_root import feet
from ..solvers.motion.motion import Motion
from .tasks.root_frames import metres_per_world_unit
from .tasks.targets import Targets

LEVEL = 0.1  # of a foot's size: corners that are no higher touch the ground


def contacts_over(
    obj: bpy.types.Object,
    robot: Binding,
    motion: Motion,
    tasks: Sequence[bpy.types.PropertyGroup],
    targets: Targets,
    gravity: Array,
) -> list[Array]:
    """(n, 3) [m] in the root frame of each sample: the points of the first support task, else the lowest corners of the
    boxes around the meshes of the feet. gravity: (3,), not 0. Raises RobokinError for a robot with neither."""
    for task, reading in zip(tasks, targets.readings, strict=False):
        if task.kind == "SUPPORT":
            points = np.asarray(reading.shape, float)
            return [points @ T[:3, :3].T + T[:3, 3] for T in reading.T]
    corners = foot_corners(obj, robot)
    if not corners:
        raise RobokinError(f"{obj.name!r} has no support task and no feet: it is not known what it stands on")
    up, model = -gravity / np.linalg.norm(gravity), robot.model
    found = []
    for links in get_backend().frame_placements(model.tree, motion.q):
        own = [points @ links[link][:3, :3].T + links[link][:3, 3] for link, points in corners]
        heights = [each @ up for each in own]
        room = max(LEVEL * max(np.ptp(each) for each in heights), 1e-6)
        whole, height = np.concatenate(own), np.concatenate(heights)
        found.append(whole[height <= height.min() + room])
    return found


def foot_corners(obj: bpy.types.Object, robot: Binding) -> list[tuple[int, Array]]:
    """(link, (8, 3) corners in its frame [m]) of each mesh of the bodies that a legged robot stands on, as Blender
    placed it last."""
    model, metres = robot.model, metres_per_world_unit(obj, robot)
    bodies, standing = rigid_bodies(model), set(feet(model))
    bones = {bone: link for bone, link in robot.link_of_bone.items() if bodies.of[link] in standing}
    placed, found = forward_kinematics(model, read_configuration(obj, robot)), []
    for child in obj.children:
        if child.parent_type == "BONE" and child.parent_bone in bones and child.type == "MESH":
            link = bones[child.parent_bone]
            T = np.linalg.inv(np.array(to_blender(obj, placed[link], None, robot))) @ np.array(child.matrix_world)
            corners = np.array(child.bound_box, float) @ T[:3, :3].T + T[:3, 3]
            found.append((model.link_index(link), metres * corners))
    return found
