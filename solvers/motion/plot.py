"""A motion as a picture: positions, velocities, accelerations and efforts over time, as SVG."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from ...robokin.arrays import Array
from ...robokin.files.text_file import checked_path, write_text
from ...robokin.units import FORCES, coordinate_units, freedom_units
from .motion import Motion, checked_motion, coordinate_names, velocity_names

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 960, 190, 78, 190, 26, 24  # [pixels] of a graph, and around its curves
LINE = 13  # [pixels] of a name: a graph of many curves is higher
MOST = 2000  # points of a curve: of longer motions the extremes of so many stretches
TICKS = 6  # about so many on an axis
NEAR = 1.3  # times the largest value: a limit that is no farther is drawn
COLORS = ("#3b75af", "#e1812c", "#3a923a", "#c03d3e", "#8d6ab8", "#84584e", "#d684bd", "#7f7f7f", "#a9aa35", "#2eabb8")
DASHES = ("", "9 3", "2 3", "9 3 2 3", "5 2", "2 1")  # of curves whose colors come again
SAMPLE = 18  # [pixels] of a curve beside its name


@dataclass(frozen=True, eq=False)
class Graph:
    """One diagram. curves: (F, n) by names.   bounds: (n, 2) lower and upper limit of each."""

    title: str
    names: list[str]
    curves: Array
    bounds: Array

    @property
    def height(self) -> int:
        """[pixels]"""
        return max(HEIGHT, TOP + LINE * len(self.names) + 8)


def write_plot(motion: Motion, path: str | os.PathLike, efforts: Array | None = None) -> Path:
    """Write an SVG file: a diagram for each quantity and unit, a curve for each joint, limits that are near as dashed
    lines. efforts: (F, nv) of the drives, drawn too. Returns the path. Raises
    ConfigurationError for what is no motion, FileFormatError for a path that cannot be written."""
    path = Path(checked_path(path, "a plot"))
    write_text(path, plot_text(motion, efforts))
    return path


def plot_text(motion: Motion, efforts: Array | None = None) -> str:
    """The picture of `write_plot` as text."""
    graphs = motion_graphs(checked_motion(motion), efforts)
    tops = np.cumsum([0, *(graph.height for graph in graphs)]).tolist()
    height = tops[-1] + BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for top, graph in zip(tops, graphs, strict=False):
        lines += _drawn(graph, motion.times, top)
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{height - 6}" text-anchor="middle">time [s]</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def motion_graphs(motion: Motion, efforts: Array | None = None) -> list[Graph]:
    """What is drawn, in order. Raises ConfigurationError."""
    model = motion.model
    joints = model.moving_joints
    q_names = [name for joint in joints for name in coordinate_names(joint)]
    q_units = [unit for joint in joints for unit in coordinate_units(joint)]
    names = [name for joint in joints for name in velocity_names(joint)]
    units = [unit for joint in joints for unit in freedom_units(joint)]
    rows = [("position", q_names, q_units, motion.q, np.column_stack((model.lower, model.upper)))]
    for kind, power, values, limit in (
        ("velocity", "s", motion.v, model.velocity),
        ("acceleration", "s\u00b2", motion.a, model.acceleration),
    ):
        rows.append((kind, names, [f"{unit}/{power}" for unit in units], values, np.column_stack((-limit, limit))))
    if efforts is not None:
        limits = np.column_stack((-model.effort, model.effort))
        rows.append(("effort", names, [FORCES[unit] for unit in units], efforts, limits))
    graphs = []
    for kind, labels, own, values, bounds in rows:
        for unit in dict.fromkeys(own):
            at = [i for i, each in enumerate(own) if each == unit]
            title = f"{kind} [{unit}]" if unit else kind
            graphs.append(Graph(title, [labels[i] for i in at], values[:, at], bounds[at]))
    return graphs


def _drawn(graph: Graph, times: Array, top: float) -> list[str]:
    low, high = _range(graph)
    span = max(float(times[-1] - times[0]), 1e-9)
    right, upper, lower = WIDTH - RIGHT, top + TOP, top + graph.height - 8

    def x(t: Any) -> Any:
        return LEFT + (t - times[0]) / span * (right - LEFT)

    def y(value: Any) -> Any:
        return lower - (value - low) / (high - low) * (lower - upper)

    lines = [f'<text x="{LEFT}" y="{upper - 9}" font-weight="bold">{escape(graph.title)}</text>']
    for value in ticks(low, high):
        at = float(y(value))
        lines.append(f'<path d="M{LEFT} {at:.2f}H{right}" stroke="#dddddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{at + 4:.2f}" text-anchor="end">{value:.6g}</text>')
    for value in ticks(float(times[0]), float(times[0]) + span):
        at = float(x(value))
        lines.append(f'<path d="M{at:.2f} {upper}V{lower}" stroke="#eeeeee"/>')
        lines.append(f'<text x="{at:.2f}" y="{lower + 12}" text-anchor="middle" fill="#666666">{value:.6g}</text>')
    for i, name in enumerate(graph.names):
        color = COLORS[i % len(COLORS)]
        dashes = DASHES[i // len(COLORS) % len(DASHES)]
        style = f'fill="none" stroke="{color}" stroke-width="1.4"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
        for bound in graph.bounds[i]:
            if low <= bound <= high:
                at = float(y(bound))
                lines.append(f'<path d="M{LEFT} {at:.2f}H{right}" stroke="{color}" stroke-dasharray="5 4"/>')
        own = kept(graph.curves[:, i])
        points = " ".join(f"{a:.2f},{b:.2f}" for a, b in zip(x(times[own]), y(graph.curves[own, i]), strict=True))
        lines.append(f'<polyline points="{points}" {style}/>')
        at = upper + 8 + LINE * i
        lines.append(f'<path d="M{right + 8} {at - 4}h{SAMPLE}" {style}/>')
        lines.append(f'<text x="{right + SAMPLE + 13}" y="{at}" fill="{color}">{escape(name)}</text>')
    return lines


def kept(values: Array) -> Array:
    """Indices, in order, of at most about `MOST` of the values (F,): the first, the last, and the extremes between."""
    if len(values) <= MOST:
        return np.arange(len(values))
    edges = np.linspace(0, len(values), MOST // 2 + 1).astype(int)
    parts = [values[a:b] for a, b in itertools.pairwise(edges)]
    found = [a + each(part) for a, part in zip(edges, parts, strict=False) for each in (np.argmin, np.argmax)]
    return np.unique([0, *found, len(values) - 1])


def _range(graph: Graph) -> tuple[float, float]:
    """What the axis shows: the curves, and limits that are near."""
    values = graph.curves[np.isfinite(graph.curves)]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    near = graph.bounds[np.isfinite(graph.bounds) & (abs(graph.bounds) <= NEAR * size)]
    low, high = min([low, *near.tolist()]), max([high, *near.tolist()])
    room = 0.05 * (high - low) or max(0.05 * size, 1e-6)
    return low - room, high + room


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from low to high: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / TICKS
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(each for each in (1.0, 2.0, 5.0, 10.0) if each * power >= rough * (1.0 - 1e-9))
    return [float(k * step) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
