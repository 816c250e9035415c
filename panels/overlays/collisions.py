"""The collision shapes of links, as outlines."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge.visuals.mesh_hulls import mesh_hull
from ...properties.results.change_marks import MARKS
from ...properties.results.redraw import redraw
from ...robokin.arrays import Array
from ...robokin.model.geometry import Geometry, Mesh
from ..shapes import colors
from ..shapes.lines import moved
from ..shapes.solids import outline
from .pieces import Pieces
from .robot_view import RobotView, Structure


class CollisionOverlay:
    """Shapes of one structure. Meshes count as their convex hulls, of which one is found in a redraw: the view does not
    wait for them."""

    def __init__(self, structure: Structure) -> None:
        model = structure.robot.model
        shapes = [(i, each) for i, link in enumerate(model.links) for each in link.collisions]
        self._waiting = [(i, each) for i, each in shapes if isinstance(each.shape, Mesh)]
        self._found = [(i, _segments(each)) for i, each in shapes if not isinstance(each.shape, Mesh)]

    def pieces(self, view: RobotView) -> Pieces:
        if self._waiting:
            link, geometry = self._waiting.pop()
            self._found.append((link, _segments(geometry)))
        if self._waiting and not bpy.app.background and not bpy.app.timers.is_registered(_look_again):
            bpy.app.timers.register(_look_again, first_interval=0.01)
        return Pieces(
            [(moved(view.links[link], own), colors.faded(colors.GOOD, 0.5)) for link, own in self._found if len(own)]
        )

    @property
    def is_complete(self) -> bool:
        """Nothing is still to be found."""
        return not self._waiting


def _segments(geometry: Geometry) -> Array:
    """(n, 2, 3) [m] in the link's frame."""
    shape = mesh_hull(geometry.shape) if isinstance(geometry.shape, Mesh) else geometry.shape
    return np.zeros((0, 2, 3)) if shape is None else moved(geometry.placement, outline(shape))


def _look_again() -> None:
    MARKS.scene += 1
    redraw(bpy.context.window_manager, "VIEW_3D")
