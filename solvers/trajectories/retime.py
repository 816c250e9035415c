"""New timing for a path: its shape stays, limits hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, float_array, shown
from ...robokin.backend import get_backend
from ...robokin.errors import ConfigurationError
from ...robokin.kinematics import require_mass
from ...robokin.model.robot import RobotModel, solvable_model
from ..motion.dynamics import Drives
from ..motion.motion import Motion, velocity_names
from . import path_speed
from .motion_limits import MotionLimits
from .path import Path
from .sampled import Sampled, checked_duration

INTERVALS = 2000  # of the grid at least, where samples are fewer
LOOKS = np.linspace(0.0, 1.0, 7)  # of an interval, where limits are looked at ...
ASKED = slice(None, None, 3)  # ... and those of them where they are asked for
PLACES = LOOKS[ASKED]
SPARE = 2e-6  # relative: what of a limit is kept back, for what is between
OVER = 2e-7  # relative: by how much one may be passed before it is asked for more tightly
PASSES = 8
FASTEST = 1e12  # of the square of the speed along the path, where nothing limits it
STILL = 1e-9  # [rad, m] samples nearer than this are one


@dataclass(frozen=True)
class ActiveLimit:
    """From `start` to `end` [s] this limit is what keeps the path from being faster. joint: its name, "joint/x" of
    several degrees of freedom; kind: velocity, acceleration, effort, or animation, which has no joint."""

    start: float
    end: float
    joint: str
    kind: str


@dataclass(frozen=True, eq=False)
class Retimed(Sampled):
    """A path with its timing. duration [s].   grid: (n + 1,) of the path's parameter, passed at `times` (n + 1,) at the
    `speeds` (n + 1,); the acceleration along the path is constant between. bindings: which limit binds where."""

    model: RobotModel
    duration: float
    limits: MotionLimits
    path: Path
    grid: Array
    times: Array
    speeds: Array
    bindings: tuple[ActiveLimit, ...]

    def places(self, t: Array) -> Array:
        """(...) the path's parameter at times (...) within 0 .. duration."""
        return self._passed(t)[0]

    def _passed(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """Place, speed and acceleration along the path, and the interval of the grid; each (...)."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        span = np.diff(self.times)[k]
        u = np.diff(self.speeds)[k] / np.where(span > 0.0, span, 1.0)
        own = t - self.times[k]
        speed = self.speeds[k] + u * own
        place = np.minimum(self.grid[k] + own * (self.speeds[k] + 0.5 * u * own), self.grid[k + 1])
        return place, speed, u, k

    def states(self, t: Array) -> tuple[Array, Array, Array]:
        place, speed, u, k = self._passed(t)
        interval = np.searchsorted(self.path.knots, 0.5 * (self.grid[k] + self.grid[k + 1]), side="right") - 1
        q, first, second = self.path.at(interval, place)
        return q, first * speed[..., None], first * u[..., None] + second * (speed * speed)[..., None]


def retime(
    model: RobotModel,
    path: object,
    limits: object = None,
    duration: float | None = None,
    *,
    as_animated: bool = False,
    gravity: object = None,
    backend: str = "auto",
) -> Retimed:
    """The fastest motion along a path, from rest to rest.

    path: configurations (F, nq), which a cubic spline passes at equal steps of its parameter, or a Motion.
    limits: as `MotionLimits.of`; the jerk is not limited.   gravity: (3,) [m/s²]; where given, efforts are limited too,
    of what the drives give, friction and damping at full speed taken off.
    duration: [s] in place of the fastest: the whole is slowed down evenly.
    as_animated: a Motion passes each sample no faster than before, by the mean speed of the intervals beside it. So
    where it breaks no limit it takes about as long as before; of few samples it may be some percent less.
    Pauses are not kept.

    The robot rests at corners. Limits hold between the places of the grid too: where one is passed, it is asked for
    more tightly there. By reachability analysis (Pham and Pham 2018) on a grid of at least 2000 intervals.
    Raises ConfigurationError for what is no path, one that leaves the position limits, a duration that is too short,
    and a path along which a joint cannot give what gravity asks for.
    """
    solvable_model(model)
    bound = _limits(model, limits)
    wanted = None if duration is None else checked_duration(duration)
    q, knots, own_speeds = _samples(model, path, as_animated)
    if len(q) == 1:
        q, knots = np.repeat(q, 2, axis=0), np.array([0.0, 1.0])
        curve = Path.through(model, q, knots)
        time = wanted or 0.0
        return Retimed(model, time, bound, curve, np.zeros(2), np.array([0.0, time]), np.zeros(2), ())
    curve = Path.through(model, q, knots)
    per = max(2, -(-INTERVALS // (len(knots) - 1)))  # so that no two neighbours are places of rest
    grid = np.append((knots[:-1, None] + np.diff(knots)[:, None] * np.arange(per) / per).ravel(), knots[-1])
    problem = _Problem(curve, grid, np.repeat(np.arange(len(knots) - 1), per), bound, _effort(model, gravity))
    if own_speeds is not None:
        problem.slow_down(np.interp(grid, knots, own_speeds**2))
    for corner in np.flatnonzero(curve.corners):
        problem.most[corner * per] = 0.0
    solve = path_speed.native if get_backend(backend).name == "native" else path_speed.reference
    x = problem.solve(solve)
    speeds = np.sqrt(x)
    together = speeds[:-1] + speeds[1:]
    times = np.append(0.0, np.cumsum(2.0 * np.diff(grid) / together))
    total = float(times[-1])
    if wanted is not None:
        if wanted < total * (1.0 - 1e-9):
            raise ConfigurationError(f"the path takes at least {total:.6g} s inside the limits, not {wanted:g} s")
        times, speeds = times * (wanted / total), speeds * (total / wanted)
        total = wanted
        times[-1] = total
    return Retimed(model, total, bound, curve, grid, times, speeds, problem.bindings(x, times))


def _limits(model: RobotModel, limits: object) -> MotionLimits:
    if isinstance(limits, dict) and limits.get("jerk") is not None:
        raise ConfigurationError("retime limits velocities and accelerations, not the jerk")
    return MotionLimits.of(model, limits)


def _effort(model: RobotModel, gravity: object) -> tuple[Array, Array] | None:
    """gravity and (nv,) what of the efforts' limits is left for the links and rotors."""
    if gravity is None:
        return None
    try:
        g = float_array(gravity)
    except ValueError:
        g = np.empty(0)
    if g.shape != (3,) or not np.isfinite(g).all():
        raise ConfigurationError(f"gravity must be three numbers [m/s²], not {shown(gravity)}")
    require_mass(model)
    return g, model.effort


def _samples(model: RobotModel, path: object, as_animated: bool) -> tuple[Array, Array, Array | None]:
    """q (k + 1, nq), knots, and the speeds of a motion along them."""
    times = None
    if not isinstance(path, Motion) and isinstance(getattr(path, "motion", None), Motion):
        path = path.motion  # type: ignore[attr-defined]  # what `track` returns
    if isinstance(path, Motion):
        q, times = np.array(path.unwrapped().q), path.times
        if q.shape[1] != model.nq:
            raise ConfigurationError(f"the motion is of a robot with {q.shape[1]} coordinates, not {model.nq}")
    else:
        try:
            q = float_array(path)
        except ValueError:
            raise ConfigurationError(f"a path must be configurations or a Motion, not {shown(path)}") from None
        if q.ndim != 2 or q.shape[1] != model.nq or len(q) == 0:
            raise ConfigurationError(f"a path of {model.name!r} must have shape (any, {model.nq}), not {q.shape}")
        q = np.array([model.check_configuration(each) for each in q])
        for at in model.tree.quaternions:
            signs = np.sign(np.einsum("ij,ij->i", q[1:, at : at + 4], q[:-1, at : at + 4]))
            q[1:, at : at + 4] *= np.cumprod(np.where(signs < 0.0, -1.0, 1.0))[:, None]
    if as_animated and times is None:
        raise ConfigurationError("only a Motion is animated; configurations have no times")
    outside = ~model.limits.contain(q, 1e-9)
    if outside.any():
        raise ConfigurationError(f"sample {int(np.argmax(outside))} of the path is outside the position limits")
    q = np.clip(q, model.lower, model.upper)
    kept = _moved(q)
    q = q[kept]
    if times is None or len(q) == 1:
        return q, np.arange(len(q), dtype=float), None
    way = np.linalg.norm(np.diff(q, axis=0), axis=1)
    knots = np.append(0.0, np.cumsum(way))
    if not as_animated:
        return q, knots, None
    own = way / np.diff(times[kept])
    return q, knots, np.concatenate((own[:1], 0.5 * (own[1:] + own[:-1]), own[-1:]))


def _moved(q: Array) -> Array:
    """(F,) bool: the samples that are not where the one kept before is."""
    if (np.linalg.norm(np.diff(q, axis=0), axis=1) > STILL).all():
        return np.ones(len(q), bool)
    kept, last = np.zeros(len(q), bool), 0
    kept[0] = True
    for i in range(1, len(q)):
        if np.linalg.norm(q[i] - q[last]) > STILL:
            kept[i], last = True, i
    return kept


class _Problem:
    """Rows a u + b x <= c, for each interval of the grid those of its places."""

    def __init__(
        self, path: Path, grid: Array, interval: Array, limits: MotionLimits, effort: tuple[Array, Array] | None
    ) -> None:
        self.path, self.grid, self.interval, self.limits, self.effort = path, grid, interval, limits, effort
        self.model = path.model
        self.steps = np.diff(grid)
        self.looked = self._at()
        first, second = (each[:, ASKED] for each in self.looked[:2])
        force = self.looked[2] and tuple(each[:, ASKED] for each in self.looked[2])
        ahead = 2.0 * self.steps[:, None, None] * PLACES[:, None]
        V, A = (1.0 - SPARE) * limits.velocity, (1.0 - SPARE) * limits.acceleration
        # of the acceleration, the square of the velocity, and the effort: a, b, c of sizes, (n, places, nv)
        parts = [(first + second * ahead, second, np.broadcast_to(A, first.shape), "acceleration")]
        parts.append((first**2 * ahead, first**2, np.broadcast_to(V**2, first.shape), "velocity"))
        rows, self.kinds, self.dofs = [], [], []
        nv = self.model.nv
        for a, b, c, kind in parts:
            for sign in (1.0, -1.0) if kind == "acceleration" else (1.0,):
                rows.append(np.stack((sign * a, sign * b, c), axis=-1).reshape(len(self.steps), -1, 3))
                self.kinds += [kind] * (len(PLACES) * nv)
                self.dofs += list(range(nv)) * len(PLACES)
        if force is not None:
            a, b, c = force
            limit, held = self._room(), np.isfinite(self.model.effort)
            for sign in (1.0, -1.0):
                room = np.where(held, limit - sign * c, 1e30)
                row = np.stack((sign * (a + b * ahead) * held, sign * b * held, room), axis=-1)
                rows.append(row.reshape(len(self.steps), -1, 3))
                self.kinds += ["effort"] * (len(PLACES) * nv)
                self.dofs += list(range(nv)) * len(PLACES)
        self.rows = np.concatenate(rows, axis=1)
        self.most = np.full(len(grid), FASTEST)
        self.slowed = np.full(len(grid), np.inf)
        self.most[0] = self.most[-1] = 0.0

    def _room(self) -> Array:
        """(nv,) of the efforts' limits, for links and rotors."""
        drives = Drives.of(self.model)
        still = drives.effort(self.limits.velocity, np.zeros(self.model.nv))
        return np.where(np.isfinite(self.model.effort), self.model.effort - abs(still), np.inf)

    def slow_down(self, most: Array) -> None:
        self.slowed = most
        self.most = np.minimum(self.most, most)

    def _at(self) -> tuple[Array, Array, tuple[Array, Array, Array] | None]:
        u = self.grid[:-1, None] + self.steps[:, None] * LOOKS
        q, first, second = self.path.at(np.broadcast_to(self.interval[:, None], u.shape), u)
        if self.effort is None:
            return first, second, None
        gravity, backend, tree = self.effort[0], get_backend(), self.model.tree
        still = np.zeros_like(first)
        weight = backend.inverse_dynamics(tree, q, still, still, gravity)
        rotor = Drives.of(self.model).rotor_inertia
        a = backend.inverse_dynamics(tree, q, still, first, gravity) - weight + rotor * first
        b = backend.inverse_dynamics(tree, q, first, second, gravity) - weight + rotor * second
        return first, second, (a, b, weight)

    def solve(self, solve: path_speed.Solve) -> Array:
        """x (n + 1,). Raises ConfigurationError."""
        scale = np.ones((len(self.steps), self.rows.shape[1]))
        for _ in range(PASSES):
            rows = self.rows.copy()
            rows[..., 2] *= scale
            stuck, x = solve(rows, self.most, self.steps)
            if stuck >= 0:
                self._refuse(stuck)
            over = self._over(x)
            if over.max() <= 1.0 + OVER:
                break
            scale /= np.maximum(over, 1.0)
        else:
            x = x / over.max()
        return x

    def _over(self, x: Array) -> Array:
        """(n, rows) by how much limits are passed inside the intervals, as shares; that of a limit for all its rows."""
        first, second, force = self.looked
        V, A = (1.0 - SPARE) * self.limits.velocity, (1.0 - SPARE) * self.limits.acceleration
        u = (np.diff(x) / (2.0 * self.steps))[:, None, None]
        here = np.maximum(x[:-1, None] + 2.0 * u[..., 0] * self.steps[:, None] * LOOKS, 0.0)[..., None]
        shares = [abs(first * u + second * here).max(axis=1) / A] * 2
        shares.append((first**2 * here).max(axis=1) / V**2)
        if force is not None:
            a, b, c = force
            given = a * u + b * here
            for sign in (1.0, -1.0):
                room = self._room() - sign * c
                share = np.where(sign * given > room, 1.0 + (sign * given - room) / np.maximum(room, 1e-12), 0.0)
                shares.append(np.where(np.isfinite(self.model.effort), share, 0.0).max(axis=1))
        return np.concatenate([np.tile(share, (1, len(PLACES))) for share in shares], axis=1)

    def _refuse(self, interval: int) -> None:
        """Raises ConfigurationError that names the joint."""
        short = np.argmin(self.rows[interval, :, 2])
        names = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        raise ConfigurationError(
            f"joint {names[self.dofs[short]]!r} cannot keep its limit on {self.kinds[short]} "
            f"at {interval / len(self.steps):.0%} of the path, however slow"
        )

    def bindings(self, x: Array, times: Array) -> tuple[ActiveLimit, ...]:
        names = [name for joint in self.model.moving_joints for name in velocity_names(joint)]
        u = np.diff(x) / (2.0 * self.steps)
        a, b, c = np.moveaxis(self.rows, -1, 0)
        used = (a * u[:, None] + b * x[:-1, None]) / np.where(c > 0.0, c, np.inf)
        tightest = used.argmax(axis=1)
        animated = (x[:-1] >= self.slowed[:-1] * (1.0 - 1e-9)) & (x[:-1] > 0.0)
        tightest[animated] = -1
        starts = np.append(0, np.flatnonzero(np.diff(tightest)) + 1)
        found: list[ActiveLimit] = []
        for first, last in zip(starts, np.append(starts[1:], len(u)), strict=True):
            row = tightest[first]
            name, kind = ("", "animation") if row < 0 else (names[self.dofs[row]], self.kinds[row])
            start, end = float(times[first]), float(times[last])
            if found and (found[-1].joint, found[-1].kind) == (name, kind):
                start = found.pop().start
            found.append(ActiveLimit(start, end, name, kind))
        return tuple(found)
