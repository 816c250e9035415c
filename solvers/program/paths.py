"""The paths of moves: configurations along each, close together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.kinematics import forward_kinematics
from ...robokin.model.robot import RobotModel
from ...robokin.spatial import quaternion, se3
from ...robokin.structure.locking import locked_model
from ..ik.solve import solve_ik
from ..retiming.path import SHARP, cubics, spline_slopes
from ..singularities.tool import moves_without_turning
from ..tasks import PoseTask, PositionTask
from ..tracking.track import track
from .moves import Move

PLACES = 120  # of a tool's path, each solved from the one before
MOST_PLACES = 2000  # of one along a curve
LEAP = 0.5  # [rad, m] between two places: no path of a tool asks for that
UNHURRIED = 1e4  # [s] between them: limits on speed are those of the timing
NEAR = 1e-6  # [m] a curve begins at the tip


def end_of(model: RobotModel, move: Move, q: Array) -> Array:
    """(nq,) where a joint move from q ends; wheeled bases stay where they are. Raises ConfigurationError."""
    if move.joints is not None:
        end = q.copy()
        for name, value in move.joints.items():
            joint = model.joint(name)
            if joint.mimic is not None:
                raise ConfigurationError(f"joint {name!r} mimics another: name that one")
            end[model.slot(name).q] = joint.coordinates(value)
        return model.check_configuration(end)
    assert move.position is not None
    free = move.quaternion is None
    T = np.eye(4) if move.quaternion is None else _pose(move.position, move.quaternion)
    standing = locked_model(model, [base.joint for base in model.rolling_bases], q) if model.rolling_bases else model
    solved = solve_ik(standing, [PositionTask(move.tip, move.position) if free else PoseTask(move.tip, T)], q)
    if not solved.converged:
        where = " with the base where it is" if model.rolling_bases else ""
        raise ConfigurationError(f"its end is not reached{where}: {solved.reason}")
    return solved.q


def path_of(model: RobotModel, move: Move, q: Array) -> Array:
    """(n, nq) configurations along a move from q, evenly spaced. A tip that is given no rotation keeps its own, but for
    an arm that cannot, as of five joints: its place counts alone. Raises ConfigurationError."""
    if move.kind == "joint":
        turned = get_backend().difference(model.tree, q, end_of(model, move, q))
        share = np.linspace(0.0, 1.0, PLACES // 4 + 1)[:, None]
        return get_backend().integrate(model.tree, np.tile(q, (len(share), 1)), share * turned)
    poses = _tip_poses(forward_kinematics(model, q)[move.tip], move)
    is_free = move.quaternion is None and not moves_without_turning(model, move.tip)
    kind = PositionTask if is_free else PoseTask
    followed = track(model, [kind(move.tip, poses[0], name=move.tip)], poses[:, None], q, UNHURRIED)
    missed, last = np.flatnonzero(~followed.converged), len(poses) - 1
    if len(missed):
        end = solve_ik(model, [kind(move.tip, poses[-1], name=move.tip)], followed.q[int(missed[0])])
        if not end.converged:
            reason, met = end.diagnose().reason, 100 * max(int(missed[0]) - 1, 0) // last
            raise ConfigurationError(f"its end is not reached, and its path only up to {met}%: {reason}")
        reason = followed.diagnosis(int(missed[0])).reason
        raise ConfigurationError(
            f"its path is not met at {missed[0] / last:.0%}, though its end can be reached: {reason}"
        )
    q_path = followed.q.copy()
    q_path[0] = q
    leap = abs(get_backend().difference(model.tree, q_path[:-1], q_path[1:])).max(axis=1, initial=0.0)
    if leap.max() > LEAP:
        raise ConfigurationError(
            f"at {leap.argmax() / last:.0%} of its path the joints would leap: it is singular there"
        )
    return q_path


def _tip_poses(start: Array, move: Move) -> Array:
    """(n, 4, 4) of the tip, in the root frame. Raises ConfigurationError."""
    assert move.position is not None
    end = start.copy()
    end[:3, 3] = move.position
    if move.quaternion is not None:
        end[:3, :3] = _pose(move.position, move.quaternion)[:3, :3]
    share = np.linspace(0.0, 1.0, PLACES + 1)
    if move.kind == "screw":
        return start @ se3.exp(share[:, None] * se3.log(np.linalg.inv(start) @ end))
    if move.kind == "line":
        places = start[:3, 3] + share[:, None] * (end[:3, 3] - start[:3, 3])
    elif move.kind == "circle":
        places = _arc(start[:3, 3], np.asarray(move.via), end[:3, 3], share)
    else:
        places = _through(start[:3, 3], np.asarray(move.points), move.kind == "spline")
        steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
        share = np.append(0.0, np.cumsum(steps)) / steps.sum()
    poses = np.tile(np.eye(4), (len(places), 1, 1))
    poses[:, :3, :3] = start[:3, :3] @ _rotations(start[:3, :3].T @ end[:3, :3], share)
    poses[:, :3, 3] = places
    return poses


def _through(start: Array, points: Array, is_spline: bool) -> Array:
    """(n, 3) places from the start on: along the cubic spline through the points, or the line that they are."""
    if is_spline or np.linalg.norm(points[0] - start) > NEAR:
        points = np.vstack((start, points))
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    kept = np.append(True, steps > NEAR)
    points, steps = points[kept], steps[kept[1:]]
    if not len(steps):
        raise ConfigurationError("its points are all where the tip is already")
    knots = np.append(0.0, np.cumsum(steps))
    # Each of its points is one of the places. Samples of a smooth line need few others: on straight ways from one to
    # the next the joints would bend at each.
    along = np.diff(points, axis=0) / steps[:, None]
    turns = np.concatenate(([False], (along[1:] * along[:-1]).sum(axis=1) < np.cos(SHARP), [False]))
    fine = min(max(PLACES, 4 * len(steps)), MOST_PLACES)
    count = np.where(turns[1:] | turns[:-1] | is_spline, fine, PLACES)
    per = np.maximum(1, np.round(count * steps / knots[-1])).astype(int)
    interval = np.repeat(np.arange(len(steps)), per)
    share = np.concatenate([np.arange(k) / k for k in per])
    t = (share * steps[interval])[:, None]
    if is_spline:
        slopes = spline_slopes(points, knots)
        c = cubics(points, knots, np.stack((slopes[:-1], slopes[1:])))[interval]
        places = c[:, 0] + t * (c[:, 1] + t * (c[:, 2] + t * c[:, 3]))
    else:
        places = points[interval] + t * along[interval]
    return np.vstack((places, points[-1:]))


def _rotations(R: Array, share: Array) -> Array:
    turn = quaternion.log(quaternion.from_matrix(R))
    return quaternion.to_matrix(quaternion.exp(share[:, None] * turn))


def _arc(start: Array, via: Array, end: Array, share: Array) -> Array:
    """Points of the circle through three points, from the first over the second to the third. Raises
    ConfigurationError where the first is the third, or all are on one line."""
    if np.linalg.norm(end - start) <= 1e-4 * np.linalg.norm(via - start):  # rounding would say in which plane
        raise ConfigurationError("a circle ends elsewhere than it starts: take two halves")
    a, b = via - start, end - start
    normal = np.cross(a, b)
    square = float(normal @ normal)
    if square < 1e-18 * float(a @ a) * float(b @ b) or not a.any():
        raise ConfigurationError("the three points of a circle are on one line")
    centre = start + np.cross(normal, float(a @ a) * b - float(b @ b) * a) / (-2.0 * square)
    u = start - centre
    w = np.cross(normal / np.sqrt(square), u)

    def angle(point: Array) -> float:
        return float(np.arctan2((point - centre) @ w, (point - centre) @ u) % (2.0 * np.pi))

    return centre + np.cos(share * angle(end))[:, None] * u + np.sin(share * angle(end))[:, None] * w


def _pose(position: Sequence[float], turned: Sequence[float]) -> Array:
    return se3.placement(quaternion.to_matrix(quaternion.normalize(np.asarray(turned, float))), position)
