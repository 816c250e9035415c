"""What tasks lack at a pose, told again from Pinocchio's frames alone: nothing of the tasks' rows is used."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robokin_addon.robokin import Link, RobotModel
from robokin_addon.robokin.arrays import Array
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AxisTask,
    CenterOfMassTask,
    DistanceTask,
    LaserTask,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    PinTask,
    Plane,
    PoseTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
)

from support.oracles.pinocchio_oracle import Oracle


class TaskOracle:
    """The residuals of tasks of a robot, of which those counted from a start are counted from `start` (nq,)."""

    def __init__(self, model: RobotModel, start: Array) -> None:
        # Some real robots have inertias that Pinocchio refuses.
        links = [Link(name) for name in model.link_names]
        massless = RobotModel(model.name, links, model.joints[1:], model.root, model.drive)
        self.model, self.oracle = model, Oracle.from_model(massless)
        self._start, self._last = self._frames(start), (start, self._frames(start))

    def errors(self, task: Task, q: Array) -> list[Array]:
        """Per part of the task, what is lacking [m or rad], weights left out."""
        if not task.influence:
            return [np.zeros(1) for _ in task.parts]
        if not np.array_equal(q, self._last[0]):
            self._last = q.copy(), self._frames(q)
        return self._of(task, self._last[1], q)

    def _frames(self, q: Array) -> dict[str, Array]:
        return {name: T.copy() for name, T in self.oracle.frames(q).items()}

    def weights(self, task: Task) -> list[Array | float]:
        """Per part, of the rows of `errors`."""
        if isinstance(task, AxisTask) and task.orientation_band.any():
            return [1.0, task.weights.max()]
        weights = getattr(task, "weights", None)
        if not isinstance(weights, np.ndarray):
            return [task.influence * getattr(task, "weight", 1.0) for _ in task.parts]
        parts = [weights[3 * i : 3 * i + 3] for i in range(len(task.parts))]
        used = [own[own > 0.0] for own in parts]
        return [1.0 if isinstance(task, AxisTask) and i == 0 else own for i, own in enumerate(used)]

    def residuals(self, task: Task, q: Array) -> list[float]:
        """The norm of each part."""
        return [float(np.linalg.norm(part)) for part in self.errors(task, q)]

    def is_met(self, task: Task, q: Array, slack: float = 0.0) -> bool:
        """Every part is within its tolerance, times 1 + `slack`."""
        found = self.residuals(task, q)
        return all(value <= part.tolerance * (1.0 + slack) for value, part in zip(found, task.parts, strict=True))

    def in_limits(self, q: Array) -> bool:
        return bool(self.model.limits.contain(q).all())

    # -- kinds ---------------------------------------------------------------------------------------------------------

    def _of(self, task: Task, frames: dict[str, Array], q: Array) -> list[Array]:
        match task:
            case AxisTask():
                T = frames[task.link] @ task.offset
                e = _turn(T[:3, :3] @ task.axis, task.target[:3, 2])
                if task.orientation_band.any():
                    return [np.zeros(1), _tube(e, task.orientation_band[0])]
                e = T[:3, :3].T @ e if task.frame == "tip" else e
                return [np.zeros(1), e[task.orientation_weights > 0.0]]
            case PoseTask():
                T = frames[task.link] @ task.offset
                return _pose(T, task.target, T[:3, :3] if task.frame == "tip" else np.eye(3), task.weights, task.band)
            case PinTask():
                T = frames[task.link] @ task.offset
                target = self._start[task.link] @ task.offset if task.target is None else task.target
                return _pose(T, target, np.eye(3), task.weights, np.zeros(6))
            case RelativePoseTask():
                T = np.linalg.inv(frames[task.other] @ task.other_offset) @ frames[task.link] @ task.offset
                return _pose(T, task.target, np.eye(3), task.weights, task.band)
            case AimTask():
                T = frames[task.link] @ task.offset
                away = task.target - T[:3, 3]
                if np.linalg.norm(away) < 1e-9:
                    return [np.zeros(1)]
                return [_tube(_turn(T[:3, :3] @ task.axis, away / np.linalg.norm(away)), task.band)]
            case AdvanceTask():
                T = frames[task.link] @ task.offset
                start = self._start[task.link] @ task.offset if task.target.start is None else task.target.start
                moved = T[:3, 3] - start[:3, 3]
                moved = start[:3, :3].T @ moved if task.frame == "tip" else moved
                return [(task.target.vector - moved)[task.weights > 0.0]]
            case OnPlaneTask():
                c, n = task.target
                height = n @ (_point(frames, task) - c)
                return [_one_side(-height, task.band, task.side, "above", "below")]
            case OnLineTask():
                c, along = task.target
                away = _point(frames, task) - c
                return [_tube(away - along * (along @ away), task.band)]
            case OnCurveTask():
                return [_tube(_to_curve(task, _point(frames, task)), task.band)]
            case DistanceTask():
                distance, p = task.target
                p = p if task.other is None else (frames[task.other] @ np.append(p, 1.0))[:3]
                away = np.linalg.norm(_point(frames, task) - p)
                return [_one_side(distance - away, task.band, task.relation, "outside", "inside")]
            case LaserTask():
                return _laser(task, frames[task.link] @ task.offset)
            case CenterOfMassTask():
                return [_beyond(task.target - self._center_of_mass(frames), task.band)[task.weights > 0.0]]
            case SupportTask():
                c = self._center_of_mass(frames)
                return [np.maximum(task.target.normals @ c - task.target.reach, 0.0)]
            case PostureTask():
                return self._posture(task, q)
        raise ValueError(f"no oracle for {task}")

    def _center_of_mass(self, frames: dict[str, Array]) -> Array:
        """Pinocchio's own leaves out what is fixed to the world."""
        moments = [link.mass * (frames[link.name] @ np.append(link.com, 1.0))[:3] for link in self.model.links]
        return sum(moments) / self.model.total_mass

    def _posture(self, task: PostureTask, q: Array) -> list[Array]:
        model = self.model
        if isinstance(task.target, np.ndarray):
            wanted, names = task.target, [joint.name for joint in model.moving_joints]
        else:
            wanted = model.configuration({joint: value.tolist() for joint, value in task.target.items()})
            names = list(task.target)
        angles, lengths = [np.zeros(1)], [np.zeros(1)]
        for name in names:
            if task.weights.get(name, 1.0) == 0.0:
                continue
            joint, at = model.joint(name), model.slot(name).q
            here, there = q[at], wanted[at]
            if joint.nq != joint.nv:
                R, R_d = (pin.Quaternion(*x[-4:]).matrix() for x in (here, there))
                angles.append(pin.log3(R.T @ R_d))
                here, there = here[:-4], there[:-4]
            slides = {"prismatic": [True], "cylindrical": [False, True], "floating": [True] * 3}.get(joint.type)
            slides = [True, True, False] if joint.type in ("planar", "wheeled") else slides
            is_length = np.array(slides or [False] * len(here), bool)
            angles.append((there - here)[~is_length])
            lengths.append((there - here)[is_length])
        return [_beyond(np.concatenate(own), band) for own, band in zip((angles, lengths), task.band, strict=True)]


def _pose(T: Array, target: Array, axes: Array, weights: Array, band: Array) -> list[Array]:
    e = axes.T @ (target[:3, 3] - T[:3, 3])
    turn = axes.T @ pin.log3(target[:3, :3] @ T[:3, :3].T) if weights[3:].any() else np.zeros(3)
    return [_beyond(e, band[:3])[weights[:3] > 0.0], _beyond(turn, band[3:])[weights[3:] > 0.0]]


def _beyond(e: Array, band: Array | float) -> Array:
    return np.sign(e) * np.maximum(abs(e) - band, 0.0)


def _tube(e: Array, radius: float) -> Array:
    return np.array([max(np.linalg.norm(e) - radius, 0.0)]) if radius else e


def _one_side(e: float, band: float, side: str, more: str, less: str) -> Array:
    """e: by how much it should be more."""
    if (side == more and e < 0.0) or (side == less and e > 0.0):
        return np.zeros(1)
    return _beyond(np.array([e]), band)


def _turn(a: Array, d: Array) -> Array:
    """The rotation vector that turns a into d; across a, any way, when they are opposite."""
    n = np.cross(a, d)
    sine = np.linalg.norm(n)
    angle = np.arctan2(sine, a @ d)
    return angle * (n / sine if sine > 0.0 else np.eye(3)[np.argmin(abs(a))])


def _point(frames: dict[str, Array], task: object) -> Array:
    return (frames[task.link] @ task.offset)[:3, 3]


def _to_curve(task: OnCurveTask, p: Array) -> Array:
    own = task.target.segments
    best = np.full(3, np.inf)
    for origin, along, length in zip(own["origin"], own["along"], own["size"], strict=True):
        away = origin + min(max((p - origin) @ along, 0.0), length) * along - p
        best = min(best, away, key=np.linalg.norm)
    return best


def _laser(task: LaserTask, T: Array) -> list[Array]:
    spot, surface = task.target
    o, a = T[:3, 3], T[:3, :3] @ task.axis
    t = _first_hit(surface, o, a)
    if t is None:
        away = spot - o
        return [away, _turn(a, away / np.linalg.norm(away))]
    return [spot - (o + t * a), np.zeros(1)]


def _first_hit(surface: object, o: Array, a: Array) -> float | None:
    if isinstance(surface, Plane):
        slope = surface.normal @ a
        t = surface.normal @ (surface.point - o) / slope if abs(slope) >= 1e-6 else -1.0
        return t if t > 0.0 else None
    # Each triangle: o + t a = corner + u first + v second.
    corner, sides = surface.triangles["corner"], surface.triangles["sides"]
    A = np.stack((np.broadcast_to(-a, corner.shape), sides[:, 0], sides[:, 1]), axis=-1)
    real = abs(np.linalg.det(A)) > 1e-12
    t, u, v = np.linalg.solve(A[real], (o - corner[real])[..., None])[..., 0].T
    hits = t[(u >= -1e-9) & (v >= -1e-9) & (u + v <= 1.0 + 1e-9) & (t > 0.0)]
    return float(hits.min()) if len(hits) else None
