"""How fast each tool can move in each direction: the ellipsoid of velocity manipulability."""

from __future__ import annotations

import numpy as np

from ...robokin.backend import Reference, get_backend
from ...robokin.structure.tool_links import tool_links
from ..shapes import colors
from ..shapes.ellipsoid import semi_axes
from ..shapes.lines import rings
from .pieces import Pieces
from .robot_view import RobotView, Structure


class ManipulabilityOverlay:
    """Ellipsoids of one structure. The base is held: a floating one moves in all directions alike."""

    def __init__(self, structure: Structure) -> None:
        model = structure.robot.model
        self._tree = model.tree
        self._tools = [model.link_index(link) for link in tool_links(model)]
        self._first = model.slots[0].v.stop  # of the coordinates that are not the base's

    def pieces(self, view: RobotView, scale: float) -> Pieces:
        """scale: [s] length of a semi-axis for each length per second."""
        if not self._tools:
            return Pieces()
        jacobian, tree = get_backend("auto").frame_jacobian, self._tree
        J = np.array([jacobian(tree, view.q, tool, Reference.LOCAL_WORLD_ALIGNED)[:3] for tool in self._tools])
        axes = scale * semi_axes(view.world[:3, :3] @ J[..., self._first :])
        centers = view.links[self._tools, None, None, :3, 3]
        longest = axes[:, None, :, 2] * [[-1.0], [1.0]]
        ellipsoids = ((centers + rings(axes)).reshape(-1, 2, 3), colors.ELLIPSOID)
        return Pieces([ellipsoids, (centers[:, 0] + longest, colors.faded(colors.ELLIPSOID, 0.6))])
