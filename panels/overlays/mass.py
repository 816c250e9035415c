"""The centre of mass, its projection to the ground, and the polygon that the robot stands on."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.results import readouts
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.spatial.polygon import convex_hull
from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.natural_root import feet
from ..shapes import colors
from ..shapes.lines import SPHERE, cross, dashes, joined, polyline
from ..shapes.polygon import fan, inside
from .pieces import Pieces
from .robot_view import RobotView

LEVEL = 0.1  # of a foot's size: corners that are no higher touch the ground
MARK = 0.02  # of the robot's size: radius of the mark
_BELOW = joined(cross(1.6), SPHERE[: len(SPHERE) // 3])  # on the ground; 1 is the radius


class MassOverlay:
    """The centre of mass of one structure. Corners of feet are those of the boxes around what is seen of them."""

    def __init__(self, obj: bpy.types.Object, view: RobotView, robot: Binding) -> None:
        self._robot = robot
        self._feet = _foot_corners(obj, robot, view)
        self._has_mass = robot.model.total_mass > 0.0
        self._last: tuple[tuple[int, bytes | None], Pieces] | None = None

    def pieces(self, obj: bpy.types.Object, view: RobotView) -> Pieces:
        """Made anew only for another pose, or another polygon."""
        if not self._has_mass:
            return Pieces()
        polygon = readouts.support(obj)
        key = view.count, None if polygon is None else polygon.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._made(polygon, view)
        return self._last[1]

    def _made(self, polygon: Array | None, view: RobotView) -> Pieces:
        found, model = Pieces(), self._robot.model
        center = view.points(get_backend("auto").center_of_mass(model.tree, view.q))
        contacts = self._contacts(polygon, view)
        ground = float(contacts[:, 2].min()) if len(contacts) else 0.0
        below = np.array([center[0], center[1], ground])
        assert view.structure is not None
        least = view.scale() * float(view.structure.sizes.max(initial=0.0) or 0.1)
        size = MARK * float(np.ptp(view.links[:, :3, 3], axis=0).max(initial=least))
        tint = colors.MASS
        if len(contacts) > 2:
            hull = convex_hull(contacts[:, :2])
            is_stable = inside(hull, center[:2])
            tint = colors.MASS if is_stable else colors.BAD
            outline = np.column_stack((hull, np.full(len(hull), ground)))
            color = colors.GOOD if is_stable else colors.BAD
            found.triangles.append((fan(outline), colors.faded(color, 0.25)))
            found.lines.append((polyline(np.concatenate((outline, outline[:1]))), color))
        found.lines.append((np.concatenate((center + size * SPHERE, below + size * _BELOW)), tint))
        found.lines.append((dashes(center, below), colors.faded(tint, 0.7)))
        return found

    def _contacts(self, polygon: Array | None, view: RobotView) -> Array:
        """(n, 3) where the robot touches the ground, in the world: as a support task says, or its feet."""
        if polygon is not None:
            return polygon
        corners = []
        for link, own in self._feet:
            T = view.links[link]
            corners.append(own @ T[:3, :3].T + T[:3, 3])
        if not corners:
            return np.zeros((0, 3))
        whole = np.concatenate(corners)
        floor = whole[:, 2].min()
        heights = [np.ptp(own[:, 2]) for own in corners]
        return whole[whole[:, 2] <= floor + max(LEVEL * max(heights), 1e-6)]


def _foot_corners(obj: bpy.types.Object, robot: Binding, view: RobotView) -> list[tuple[int, Array]]:
    """(link, (8, 3) corners in its frame) of each mesh of the bodies that a legged robot stands on."""
    model = robot.model
    bodies, standing = rigid_bodies(model), set(feet(model))
    bones = {bone: model.link_index(link) for bone, link in robot.link_of_bone.items() if bodies.of[link] in standing}
    found = []
    for child in obj.children:
        if child.parent_type == "BONE" and child.parent_bone in bones and child.type == "MESH":
            link = bones[child.parent_bone]
            T = np.linalg.inv(view.links[link]) @ np.array(child.matrix_world, float)
            found.append((link, np.array(child.bound_box, float) @ T[:3, :3].T + T[:3, 3]))
    return found
