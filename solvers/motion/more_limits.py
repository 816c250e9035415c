"""Limits of a motion that are no joint's own: on jerks, on the power of drives, on tools, and on tipping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.backend import Reference, get_backend
from ...robokin.configuration import check_vector
from ...robokin.errors import ConfigurationError, UnknownNameError
from ...robokin.spatial.polygon import convex_hull
from ...robokin.units import freedom_units
from .dynamics import MotionDynamics, effort_rounding, least_efforts
from .motion import Motion, mean_steps, velocity_names
from .violation import Violation

KINDS = ("jerk", "power", "tools")
TOOL_KINDS = ("speed", "acceleration")
TIPPED = 1e-6  # [m] outside of the support that is rounding


def more_violations(
    motion: Motion, limits: object, gravity: Array | None, v_slack: Array, a_slack: Array
) -> list[Violation]:
    """limits: "jerk" and "power", one number or (nv,); "tools": {link: {"speed", "acceleration"}}, as of `retime`.
    Jerks are differences of accelerations, velocities and accelerations of tools those of their places: what keeps a
    limit between samples keeps it here. A power is no difference: it is that of `least_efforts`, up to what is
    `sampling_error` of it.
    v_slack, a_slack: (F, nv) what rounding makes of them. Raises ConfigurationError, UnknownNameError."""
    if not isinstance(limits, Mapping):
        raise ConfigurationError(f"limits must be a mapping of {', '.join(KINDS)}, not {shown(limits)}")
    for name in limits:
        if name not in KINDS:
            raise UnknownNameError("limit", name, KINDS)
    model = motion.model
    names = [name for joint in model.moving_joints for name in velocity_names(joint)]
    units = [unit for joint in model.moving_joints for unit in freedom_units(joint)]
    found: list[Violation] = []
    if limits.get("jerk") is not None and len(motion) > 1:
        bound = _bound(limits["jerk"], model.nv, "jerk")
        slack = np.zeros_like(a_slack)
        slack[1:] = (a_slack[1:] + a_slack[:-1]) / mean_steps(motion.times, 3)
        found += _passed("jerk", names, [f"{unit}/s\u00b3" for unit in units], motion.jerk, bound, slack)
    if limits.get("power") is not None:
        if gravity is None:
            raise ConfigurationError("limits on power need gravity, as those on efforts do")
        bound = _bound(limits["power"], model.nv, "power")
        efforts, powers = least_efforts(motion, check_vector(gravity, 3, "gravity"))
        slack = effort_rounding(motion, v_slack, a_slack) * abs(motion.v) + abs(efforts.value) * v_slack
        slack += powers.sampling_error(bound)
        found += _passed("power", names, ["W"] * model.nv, powers.value, bound, slack)
    tools = limits.get("tools") or {}
    if not isinstance(tools, Mapping):
        raise ConfigurationError(f"tools must be a mapping of links to their limits, not {shown(tools)}")
    for link, own in tools.items():
        found += _of_tool(motion, link, own, v_slack, a_slack)
    return found


def _of_tool(motion: Motion, link: str, own: object, v_slack: Array, a_slack: Array) -> list[Violation]:
    model = motion.model
    if not isinstance(own, Mapping) or not set(own) <= set(TOOL_KINDS):
        raise ConfigurationError(f"limits of the tool {link!r} must be a mapping of {', '.join(TOOL_KINDS)}")
    frame = model.link_index(link)
    J = get_backend().frame_jacobian(model.tree, motion.q, frame, Reference.LOCAL_WORLD_ALIGNED)[:, :3]
    velocity = np.einsum("fij,fj->fi", J[:1], motion.v[:1])
    at = get_backend().frame_placements(model.tree, motion.q)[:, frame, :3, 3]
    velocity = np.concatenate((velocity, np.diff(at, axis=0) / mean_steps(motion.times, 1)))
    acceleration = np.concatenate((np.zeros((1, 3)), np.diff(velocity, axis=0) / mean_steps(motion.times, 2)))
    J = abs(J)
    found: list[Violation] = []
    for kind, values, slack, unit in (
        ("speed", velocity, v_slack, "m/s"),
        ("acceleration", acceleration, a_slack, "m/s\u00b2"),
    ):
        if own.get(kind) is not None:
            size = np.linalg.norm(values, axis=1)[:, None]
            room = np.linalg.norm(np.einsum("fij,fj->fi", J, slack), axis=1)[:, None]
            bound = _bound(own[kind], 1, f"{kind} of the tool {link!r}")
            found += _passed(f"tool {kind}", [link], [unit], size, bound, room)
    return found


def tipping_violations(motion: Motion, gravity: Array, support: Sequence[Array]) -> list[Violation]:
    """Samples in which the zero-moment point is outside of the convex hull of what the robot stands on. support: points
    (n, 3) [m] in the root frame, of each sample. Where nothing presses on the ground, or nothing is stood on, nothing
    tips. Raises ConfigurationError, ModelError for a robot without masses."""
    g = check_vector(gravity, 3, "gravity")
    if not g.any():
        return []
    wrench, up = MotionDynamics.of(motion, g).base_wrench, -g / np.linalg.norm(g)
    basis = np.linalg.svd(up[None])[2][1:]
    found = []
    for frame, (points, (force, moment)) in enumerate(zip(support, wrench.reshape(-1, 2, 3), strict=True)):
        pressed = float(force @ up)
        if not len(points) or pressed <= 0.0:
            continue
        height = float((points @ up).mean())
        point = (np.cross(up, moment) + height * force) / pressed
        off = outside(convex_hull(points @ basis.T), basis @ point)
        if off > TIPPED:
            found.append(Violation(frame, "zero-moment point", "tipping", off, 0.0, "m"))
    return found


def outside(hull: Array, point: Array) -> float:
    """[m] how far a point (2,) is from a convex hull (m, 2), counter-clockwise, of one corner or more; 0 inside."""
    ends = np.roll(hull, -1, axis=0)
    edges, away = ends - hull, point - hull
    if len(hull) > 2 and (edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0] >= 0.0).all():
        return 0.0
    length = np.maximum((edges**2).sum(axis=1), 1e-300)
    share = np.clip((edges * away).sum(axis=1) / length, 0.0, 1.0)[:, None]
    return float(np.linalg.norm(hull + share * edges - point, axis=1).min())


def _bound(value: object, count: int, what: str) -> Array:
    try:
        array = float_array(value)
    except ValueError:
        array = np.empty(0)
    if array.shape not in ((), (count,)) or not (array > 0.0).all():
        raise ConfigurationError(f"limits on {what} must be positive numbers, not {shown(value)}")
    return np.broadcast_to(array, (count,))


def _passed(
    kind: str, names: Sequence[str], units: Sequence[str], values: Array, bound: Array, slack: Array
) -> list[Violation]:
    return [
        Violation(int(k), names[i], kind, float(values[k, i]), float(bound[i]), units[i])
        for k, i in np.argwhere(abs(values) > bound + slack)
    ]
