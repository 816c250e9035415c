"""The robot at other frames: the path of each tool, frames with problems on it, and ghosts."""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge.visuals.link_edges import link_edges, shown_meshes, thinned
from ...properties.results import readouts
from ...properties.results.change_marks import MARKS
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.structure.tool_links import tool_links
from ..shapes import colors
from ..shapes.lines import polyline
from .pieces import Pieces
from .robot_view import RobotView, Structure

DOT = 0.008  # of the size of what is seen: half the size of a mark on the path
FAR = 0.3  # opacity of the ghost that is farthest away in time


def problem_spans(obj: bpy.types.Object) -> list[tuple[int, int]]:
    """(first, last) frames in which the last bake or check found something; once something was edited since, frames in
    which the curves as they are break a task or a limit."""
    settings, spans, is_drawn = obj.robokin.solver, [], False
    for result, said, rows in (
        ("bake", settings.bake_status, settings.bake_failures),
        ("check", settings.check_summary, settings.check_failures),
    ):
        if said and readouts.is_present(obj, result):
            is_drawn = True
            spans += [(row.first, row.last) for row in rows if row.status]
    if is_drawn:
        return spans
    edited = readouts.broken(obj)
    return [(row.first, row.last) for row in edited.rows] if edited is not None else []


def limit_spans(obj: bpy.types.Object) -> list[tuple[int, int, str]]:
    """(first, last) frames of the last Retime and the kind of limit that binds there, while that is what is there."""
    rows = [(row.first, row.last, row.status) for row in obj.robokin.solver.retime_limits if row.status]
    return rows if rows and readouts.is_present(obj, "retime") else []


class MotionOverlay:
    """The motion of one structure."""

    def __init__(self, structure: Structure) -> None:
        self._robot, model = structure.robot, structure.robot.model
        self._tree = model.tree
        self._tools = [model.link_index(link) for link in tool_links(model)]
        parents = [-1 if joint.parent is None else model.link_index(joint.parent) for joint in model.joints]
        self._bones = np.array([(parent, i) for i, parent in enumerate(parents) if parent >= 0], int).reshape(-1, 2)
        self._ghosts: tuple[tuple, Array] | None = None
        self._edges: tuple[list, dict[int, Array]] = [], {}

    def path(self, obj: bpy.types.Object, view: RobotView, settings: bpy.types.PropertyGroup) -> Pieces:
        found = Pieces()
        motion = readouts.motion(obj, settings.path_color, MARKS.motions)
        if motion is None or len(motion.frames) < 2:
            return found
        spans = problem_spans(obj) if settings.problem_frames else []
        bad = np.zeros(len(motion.frames), bool)
        for first, last in spans:
            bad |= (motion.frames >= first) & (motion.frames <= last)
        tints = colors.ramp(np.fmax(motion.shares[:-1], motion.shares[1:]))
        if settings.path_color == "TIMING":
            for first, last, kind in limit_spans(obj):
                tints[(motion.frames[:-1] >= first) & (motion.frames[:-1] <= last)] = colors.of_limit(kind)
        links = get_backend("auto").frame_placements(self._tree, motion.q)
        for tool in self._tools:
            points = view.points(links[:, tool, :3, 3])
            found.lines.append((polyline(points), tints))
            size = DOT * view.scale()
            if bad.any():
                star = size * np.array(
                    [[[-1.0, 0, 0], [1.0, 0, 0]], [[0, -1.0, 0], [0, 1.0, 0]], [[0, 0, -1.0], [0, 0, 1.0]]]
                )
                found.lines.append(((points[bad][:, None, None] + star).reshape(-1, 2, 3), colors.BAD))
        return found

    def ghosts(self, obj: bpy.types.Object, view: RobotView, settings: bpy.types.PropertyGroup, frame: float) -> Pieces:
        """Edges of the links' meshes, or lines between the joints where no mesh has an edge; fading with the distance
        in time."""
        found = Pieces()
        steps = settings.ghost_step * np.arange(1, settings.ghost_count + 1)
        key = MARKS.motions, frame, tuple(steps)
        if self._ghosts is None or self._ghosts[0] != key:
            Q = readouts.poses(obj, [*(frame - steps), *(frame + steps)])
            placed = np.zeros((0, 1, 4, 4))
            if Q is not None and obj.animation_data is not None and obj.animation_data.action is not None:
                placed = get_backend("auto").frame_placements(self._tree, Q)
            self._ghosts = key, placed
        placed = self._ghosts[1]
        edges = thinned(self._link_edges(obj), len(placed)) if len(placed) else {}
        for i, links in enumerate(placed):
            share = i % len(steps) / len(steps)
            color = colors.faded(colors.PAST if i < len(steps) else colors.FUTURE, 1.0 - (1.0 - FAR) * share)
            for link, ends in edges.items():
                T = links[link]
                found.lines.append((view.points(ends @ T[:3, :3].T + T[:3, 3]), color))
            if not edges:
                found.lines.append((view.points(links[:, :3, 3])[self._bones], color))
        return found

    def _link_edges(self, obj: bpy.types.Object) -> dict[int, Array]:
        """(m, 2, 3) in the frame of each link with a mesh, by its index; made anew where other meshes are seen."""
        shown = [(child.name, child.data.session_uid) for _, child in shown_meshes(obj, self._robot)]
        if self._edges[0] != shown:
            model = self._robot.model
            own = {model.link_index(link): ends for link, ends in link_edges(obj, self._robot).items()}
            self._edges = shown, own
        return self._edges[1]
