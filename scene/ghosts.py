"""Lines that show a robot at other joint values: sharp edges of its links' meshes, and a line from joint to joint."""

from __future__ import annotations

import bpy
import numpy as np

from ..properties.bridge import Binding, world_from_root
from ..properties.bridge.visuals.link_edges import link_edges, thinned
from ..robokin import Joint, forward_kinematics
from ..robokin.arrays import Array

WHOLE = 2  # robots with all their edges that a view draws fluently: the chosen one, and as many lines of the others


def between_links(robot: Binding) -> list[Joint]:
    """Joints that a ghost has a line for: all but the root's."""
    return [joint for joint in robot.model.joints if joint.parent is not None]


def ghost_lines(obj: bpy.types.Object, robot: Binding, Q: Array) -> Array:
    """(n, m, 2, 3) ends of lines in Blender's world, of the robot at each row of Q (n, nq), those from joint to joint
    first. Raises RobokinError."""
    unit = np.diag([1.0 / robot.metres_per_unit] * 3 + [1.0])
    T_world_root, edges = unit @ world_from_root(obj, None, robot), thinned(link_edges(obj, robot), min(len(Q), WHOLE))
    parts: list[list[Array]] = [[] for _ in Q]
    for lines, q in zip(parts, Q, strict=True):
        placed = {link: T_world_root @ T for link, T in forward_kinematics(robot.model, q).items()}
        for joint in between_links(robot):
            lines.append(np.array([[placed[joint.parent][:3, 3], placed[joint.child][:3, 3]]]))
        for link, ends in edges.items():
            T = placed[link]
            lines.append(ends @ T[:3, :3].T + T[:3, 3])
    return np.array([np.concatenate([np.empty((0, 2, 3)), *lines]) for lines in parts]).reshape(len(Q), -1, 2, 3)
