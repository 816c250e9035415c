"""Distances that have a formula: of points and segments from each other, and of points from boxes and cylinders. The
readable specification of kernel/src/collision/closed_forms.c."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...spatial import so3
from ..core import Core
from .pair import LEAST, TOUCHING, Pair, across

PARALLEL = 1e-14  # sine of an angle that is none
SKEW = 1e-8  # sine of the angle from which on the vector across both segments is the better normal
INNER = 1.0 - 1e-12  # share of a half: beyond, rounding does not say whether it is the end


def closed_form(p: Pair) -> tuple[float, Array, Array] | None:
    """Distance, negative inside; unit normal; (3, 3) the point of M that is nearest or deepest. None: no formula."""
    if _is_segment(p.a) and _is_segment(p.b):
        return _between_segments(p)
    if p.a.is_block and _is_segment(p.b) and len(p.b.points) == 1:
        b = p.Rb @ p.b.points[0]
        value, own, normal = _from_block(p.a, p.Ra.T @ (b + p.shift))
        return value, p.Ra @ normal, _point(p, p.Ra @ own, b)
    if p.b.is_block and _is_segment(p.a) and len(p.a.points) == 1:
        a = p.Ra @ p.a.points[0]
        value, own, normal = _from_block(p.b, p.Rb.T @ (a - p.shift))
        return value, -p.Rb @ normal, _point(p, a, p.Rb @ own)
    return None


def _is_segment(core: Core) -> bool:
    return len(core.points) <= 2 and core.disc == 0.0


def _point(p: Pair, a: Array, b: Array) -> Array:
    return np.stack((a, b, a - b - p.shift))


def _between_segments(p: Pair) -> tuple[float, Array, Array]:
    """The normal is across each segment that the nearest point is not an end of, or that would else reach beyond its
    end by rounding."""
    middles = [R @ (0.5 * (core.points[-1] + core.points[0])) for core, R in ((p.a, p.Ra), (p.b, p.Rb))]
    d, e = (R @ (0.5 * (core.points[-1] - core.points[0])) for core, R in ((p.a, p.Ra), (p.b, p.Rb)))
    s, t = _nearest_shares(middles[1] - middles[0] + p.shift, d, e)
    points = _point(p, middles[0] + s * d, middles[1] + t * e)
    x = -points[2]
    is_short = bool(np.linalg.norm(x) <= TOUCHING * p.size)
    is_across_d, is_across_e = is_short or abs(s) < INNER, is_short or abs(t) < INNER
    while True:
        n = _normal(x, d, e, is_short, is_across_d, is_across_e)
        beyond_d, beyond_e = not is_across_d and s * float(n @ d) < 0.0, not is_across_e and t * float(n @ e) > 0.0
        if not beyond_d and not beyond_e:
            break
        is_across_d, is_across_e = is_across_d or beyond_d, is_across_e or beyond_e
    value = float(n @ x)
    return abs(value), n if value >= 0.0 else -n, points


def _normal(x: Array, d: Array, e: Array, is_short: bool, is_across_d: bool, is_across_e: bool) -> Array:
    """Unit vector along x and across the segments with the halves d and e as far as asked."""
    n, c, longer = x, so3.cross(d, e), e if d @ d < e @ e else d
    product, crossed, are_both = float(d @ d) * float(e @ e), float(c @ c), is_across_d and is_across_e
    if is_short and not crossed > PARALLEL**2 * product:
        n = across(longer)
    elif are_both and (is_short or crossed > SKEW**2 * product):
        n = c
    length = np.linalg.norm(n)
    n = n / length if length > LEAST else across(longer)
    line = longer if are_both else d if is_across_d else e
    if (is_across_d or is_across_e) and (square := float(line @ line)) > 0.0:
        n = n - (n @ line) / square * line
        n = n / np.linalg.norm(n)
    return n


def _nearest_shares(w: Array, d: Array, e: Array) -> tuple[float, float]:
    """Shares of the halves d and e, within 1, in the nearest points of two segments whose middles are w apart. Of
    parallel ones the middle of what is beside each other is nearest."""
    c = so3.cross(d, e)
    dd, ee, de, along, s, t = float(d @ d), float(e @ e), float(d @ e), float(w @ d), 0.0, 0.0
    if c @ c > PARALLEL**2 * dd * ee:
        s = min(max(float(so3.cross(w, e) @ c) / float(c @ c), -1.0), 1.0)
    elif dd > 0.0:
        place, half = along / dd, abs(de) / dd
        s = min(max(0.5 * (max(-1.0, place - half) + min(1.0, place + half)), -1.0), 1.0)
    if ee > 0.0:
        t = min(max((s * de - float(w @ e)) / ee, -1.0), 1.0)
    if dd > 0.0:
        s = min(max((t * de + along) / dd, -1.0), 1.0)
    return s, t


def _from_block(block: Core, y: Array) -> tuple[float, Array, Array]:
    """Distance of the point y from a block, in its own frame; its nearest point; the unit normal towards y. A cylinder
    is as near as the box about it that faces y."""
    at, half, facing = y, block.points[-1], np.eye(3)
    if block.disc > 0.0:
        away = np.hypot(y[0], y[1])
        cosine, sine = (y[0] / away, y[1] / away) if away > LEAST else (1.0, 0.0)
        facing = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
        at, half = np.array([away, 0.0, y[2]]), np.array([block.disc, block.disc, half[2]])
    own = np.clip(at, -half, half)
    n = at - own
    value = float(np.linalg.norm(n))
    if value > LEAST:
        return value, facing @ own, facing @ (n / value)
    face = int(np.argmin(half - abs(at)))
    n = np.zeros(3)
    n[face] = -1.0 if at[face] < 0.0 else 1.0
    own[face] = n[face] * half[face]
    return float(abs(at[face]) - half[face]), facing @ own, facing @ n
