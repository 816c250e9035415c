"""A path made shorter, and its corners round."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

import numpy as np

from ...robokin.arrays import Array
from ...robokin.collision.free_path import line
from ..retiming.path import Path
from .free_space import FreeSpace
from .samples import Samples

SHORTCUTS = 200  # tried ...
PRUNED = 20  # ... and after so many, places left out
HALVINGS = 6  # of a round corner, before it stays sharp


def shortened(space: FreeSpace, samples: Samples, path: list[Array]) -> Generator[int, None, list[Array]]:
    """Yield the number of attempts; return the path with straight paths between two of its places, where they are free
    (Geraerts and Overmars 2007)."""
    for tried in range(SHORTCUTS):
        if tried % PRUNED == 0:
            path = _pruned(space, path)
        if len(path) == 2:
            break
        ends = np.append(0.0, np.cumsum([samples.apart(a, b) for a, b in pairwise(path)]))
        first, last = ends[-1] * samples.shares()
        i, j = (min(int(np.searchsorted(ends, at, side="right")) - 1, len(path) - 2) for at in (first, last))
        if i == j:
            continue
        a = samples.between(path[i], path[i + 1], (first - ends[i]) / (ends[i + 1] - ends[i]))
        b = samples.between(path[j], path[j + 1], (last - ends[j]) / (ends[j + 1] - ends[j]))
        new = [path[i], a, b, path[j + 1]]
        # Between quaternions a part of a straight path is not quite the path of that part: all three are looked at.
        looked = list(pairwise(new)) if space.model.tree.quaternions else [(a, b)]
        is_shorter = samples.apart(a, b) < (last - first) * (1.0 - 1e-6)
        if is_shorter and all(space.is_straight_free(*each) for each in looked):
            path = path[: i + 1] + _apart(samples, [a, b], path[i], path[j + 1]) + path[j + 1 :]
        yield tried
    return _pruned(space, path)


def _pruned(space: FreeSpace, path: list[Array]) -> list[Array]:
    """The path without the places that it can go past straight."""
    i = 1
    while i < len(path) - 1:
        if space.is_straight_free(path[i - 1], path[i + 1]):
            path = path[:i] + path[i + 1 :]
        else:
            i += 1
    return path


def _apart(samples: Samples, inner: list[Array], before: Array, after: Array) -> list[Array]:
    """The places that are not those beside them."""
    return [q for q in inner if min(samples.apart(q, before), samples.apart(q, after)) > 1e-9]


def rounded(space: FreeSpace, samples: Samples, path: list[Array]) -> Path:
    """The path with parabolas in place of its corners, as large as is free; a corner that stays has the robot rest."""
    lengths = [float(samples.apart(a, b)) for a, b in pairwise(path)]
    along = [(b - a) / length for (a, b), length in zip(pairwise(path), lengths, strict=True)]
    cut, sharp = np.zeros(len(path)), np.zeros(len(path), bool)
    bends: dict[int, Array] = {}
    for i in range(1, len(path) - 1):
        size = 0.5 * min(lengths[i - 1], lengths[i])
        for _ in range(HALVINGS):
            bend = _parabola(path[i], along[i - 1], along[i], size)
            if space.is_free(bend, 2.0 * size):
                cut[i], bends[i] = size, bend
                break
            size *= 0.5
        sharp[i] = i not in bends
    pieces, spans, corners = [], [], [False]
    for i, length in enumerate(lengths):
        straight = length - cut[i] - cut[i + 1]
        if straight > 1e-12 * length:
            start = path[i] + cut[i] * along[i]
            pieces.append(line(start, start + along[i]))
            spans.append(straight)
            corners.append(bool(sharp[i + 1]))
        if i + 1 in bends:
            pieces.append(bends[i + 1])
            spans.append(2.0 * cut[i + 1])
            corners.append(False)
    return Path(space.model, np.append(0.0, np.cumsum(spans)), np.stack(pieces), np.array(corners))


def _parabola(corner: Array, before: Array, after: Array, size: float) -> Array:
    """From `size` before the corner to as much behind it, over 0 .. 2 size."""
    return np.stack((corner - size * before, before, (after - before) / (4.0 * size), np.zeros_like(corner)))
