"""The path of the tools in the list of moves, a color for each move, with its name where it ends."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.results import readouts
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.structure.tool_links import tool_links
from ..shapes import colors
from ..shapes.lines import cross, polyline
from .pieces import Pieces
from .robot_view import RobotView, Structure

MARK = 0.012  # of the size of what is seen: half the size of the mark where a move ends


class MovesOverlay:
    """The list of moves of one structure."""

    def __init__(self, structure: Structure) -> None:
        model = structure.robot.model
        self._tree = model.tree
        self._tools = [model.link_index(link) for link in tool_links(model)]
        self._moves: object = None
        self._links: Array = np.zeros((0, 1, 4, 4))

    def pieces(self, obj: bpy.types.Object, view: RobotView) -> Pieces:
        found = Pieces()
        moves = readouts.moves(obj)
        if moves is None or len(moves.q) < 2:
            return found
        if moves is not self._moves:
            self._moves, self._links = moves, get_backend("auto").frame_placements(self._tree, moves.q)
        tints = np.array(colors.MOVES)[moves.owner % len(colors.MOVES)]
        ends = np.append(np.flatnonzero(np.diff(moves.owner)), len(moves.owner) - 1)
        mark = MARK * view.scale() * np.concatenate([cross()[..., [i, (i + 1) % 3, (i + 2) % 3]] for i in range(3)])
        for tool in self._tools:
            points = view.points(self._links[:, tool, :3, 3])
            found.lines.append((polyline(points), tints[1:]))
            for end in ends:
                found.lines.append((points[end] + mark, colors.MOVES[moves.owner[end] % len(colors.MOVES)]))
        for end in ends if self._tools else ():
            move = int(moves.owner[end])
            place = view.points(self._links[end, self._tools[0], :3, 3])
            found.label(moves.names[move], place, colors.MOVES[move % len(colors.MOVES)])
        return found
