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
        base = model.slots[0].v
        self._moving = np.setdiff1d(np.arange(model.nv), np.arange(base.start, base.stop))

    def pieces(self, view: RobotView, scale: float) -> Pieces:
        """scale: [s] length of a semi-axis for each length per second."""
        found, backend = Pieces(), get_backend("auto")
        for tool in self._tools:
            J = backend.frame_jacobian(self._tree, view.q, tool, Reference.LOCAL_WORLD_ALIGNED)
            axes = scale * semi_axes(view.world[:3, :3] @ J[:3, self._moving])
            found.lines.append((view.links[tool, :3, 3] + rings(axes), colors.ELLIPSOID))
            longest = np.stack((-axes[:, 2], axes[:, 2]))[None]
            found.lines.append((view.links[tool, :3, 3] + longest, colors.faded(colors.ELLIPSOID, 0.6)))
        return found
