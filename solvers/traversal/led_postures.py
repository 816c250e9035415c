"""Whole motions that are led along a path: of arms that have a continuum of postures at each pose, or no closed form,
and of all that may deviate.

Each is optimal over the whole path (`optimal_control/`): the arm uses what freedom it has to prepare for what comes,
so a redundant arm goes round most singularities by moving in itself. Between frames Newton's method goes on from there.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy

import numpy as np

from ...robokin.arrays import Array
from ...robokin.errors import TaskError
from ..criteria import RestPosture
from ..ik.problem import IKProblem
from ..optimal_control.optimize import optimize_steps
from ..optimal_control.start import TrackedFrames, start_near
from ..progress import mapped
from ..tracking.track import track
from ..velocity.task_levels import tolerances
from .postures_along import PosturesAlong, no_way_on

SLOWER = (4, 16)  # times as slow: where the joints are too slow for the path in its own time
WEIGHTS = (1e2, 1e4, 1e6, 1e8, 1e10)  # of the distance from the path, one after another
STARTS, ROUTES = 8, 3  # postures of the first pose that are tried, and routes compared where the posture is free
BUDGET = 2_000_000  # frames of all steps of a search: 20 seconds or so of seven joints
EXACT = 1e-11  # [m], [rad] that Newton's method goes for; where the arm is singular it gets less far


class TooLong(TaskError):
    """The search has used up its budget."""


class LedPostures(PosturesAlong):
    """routes: (F, nq) each, a posture for each frame of the path of `along`.   untried: (k, nq) other postures of the
    first frame."""

    def __init__(self, along: PosturesAlong, routes: list[Array], untried: Array) -> None:
        super().__init__(along.model, along.task, along.path, along.q0)
        self.untried = untried
        exact = copy(along.task)
        exact.position_tolerance = exact.orientation_tolerance = EXACT
        self._newton = IKProblem(along.model, [exact], attempts=1)
        s = np.arange(float(along.path.frames))
        found = [self._on_path(s, route) for route in routes]
        self._known = [(s[met], q[met]) for q, met in found]

    def starts(self) -> Array:
        return self.at(np.zeros(1))[0][0]

    def named_at(self, s: Array) -> tuple[list[Array], list[Array], Array]:
        """The postures (k, nq) of each parameter (n,), one of each route that is on the path there; the names (k,) of
        these routes; none is one of a continuum."""
        layers: list[list[Array]] = [[] for _ in s]
        names: list[list[str]] = [[] for _ in s]
        for number, (knots, q) in enumerate(self._known):
            between, met = self._on_path(s, np.array([np.interp(s, knots, column) for column in q.T]).T)
            for i in np.flatnonzero(met):
                layers[i].append(between[i])
                names[i].append(f"route {number + 1}")
            every, first = np.unique(np.concatenate((knots, s[met])), return_index=True)
            self._known[number] = (every, np.concatenate((q, between[met]))[first])
        empty = np.zeros((0, self.model.nq))
        found = [np.array(layer) if layer else empty for layer in layers]
        return found, [np.array(each, object) for each in names], np.zeros(len(s), bool)

    def branch(self, s: float, q: Array) -> str:
        """Name of the route that is nearest to q (nq,) at a parameter."""
        (layer,), (names,), _ = self.named_at(np.array([s]))
        return str(names[int(abs(layer - q).max(axis=1).argmin())])

    def _on_path(self, s: Array, q: Array) -> tuple[Array, Array]:
        """The postures (n, nq) on the path at s (n,) that are nearest to q, and (n,) bool where there is one."""
        found = self._newton.solve_batch(self.path.at(s)[:, None], q)
        return found.q, (found.residuals <= tolerances([self.task])).all(axis=(1, 2))


def led_from(
    along: PosturesAlong, first: Array, dt: float, slower: Sequence[int], most: int
) -> Generator[float, None, LedPostures]:
    """Yield the share done now and then; return the first routes, `most` at most, that were found from the postures
    `first` (k, nq) of the first pose, in frames of dt [s] or so many times `slower`. Raises TaskError where there is
    none."""
    refuse_unreached(along, first[0], tolerances([along.task])[0], "no posture meets its target")
    farthest = number = 0
    routes: list[Array] = []
    for number, start in enumerate(first):
        for k, times in enumerate((1, *slower)):
            share = (number + k / (1 + len(slower))) / len(first)
            found: list[Array] = []
            try:
                missed = yield from lead_near(along, start, times * dt, share, found)
            except TooLong:
                if not routes:
                    raise
                return LedPostures(along, routes, first[:0])
            farthest = max(farthest, int(missed.argmax()))
            if not missed.any():
                routes.append(found[-1])
                break
        if len(routes) == most:
            break
    if not routes:
        raise no_way_on(along, farthest - 1, farthest, "no posture that meets its target was found on the way")
    return LedPostures(along, routes, first[number + 1 :])


def refuse_unreached(along: PosturesAlong, start: Array, bound: Array, why: str) -> None:
    """Raises TaskError where no posture was found for a frame whose tip is at most `bound` (2,) [m], [rad] off."""
    loose = copy(along.task)
    loose.position_tolerance, loose.orientation_tolerance = bound
    unmet = (IKProblem(along.model, [loose]).solve_batch(_poses(along), start).residuals > bound).any(axis=(1, 2))
    if unmet.any():
        frame = int(unmet.argmax())
        raise no_way_on(along, frame - 1, frame, why)


def lead_near(
    along: PosturesAlong, start: Array, dt: float, share: float, found: list[Array]
) -> Generator[float, None, Array]:
    """Yield the share now and then; append motions (F, nq) from the posture `start` (nq,) in frames of dt [s], inside
    the limits: one on the path, or where none was found others near it, the more their distance from there costs, the
    nearer, and one on the path again. Return (F,) bool, which frames the last one misses. Raises TooLong."""
    near: Array | None = track(along.model, [along.task], _poses(along), start, dt, criteria=[RestPosture(start)]).q
    missed = np.ones(along.path.frames, bool)
    for weight in (0.0, *WEIGHTS, 0.0):
        q, missed = yield from mapped(_led(along, start, dt, near, weight), lambda _: share)
        found.append(q)
        if not (weight or missed.any()):  # what is soft is never missed
            break
        near = q if weight else None
    return missed


def _led(
    along: PosturesAlong, start: Array, dt: float, near: Array | None, weight: float = 0.0
) -> Generator[int, None, tuple[Array, Array]]:
    """A motion of `lead_near`, made better from near (F, nq). weight: what the distance from the path costs;
    0: the path is held. Raises TooLong."""
    poses, all_frames = [list(frame) for frame in _poses(along)], np.ones((along.path.frames, 1))
    shares = None if near is None or not weight else 0.0 * all_frames  # the motion as it is, wherever its tool goes
    tracked = start_near(along.model, [along.task], poses, start, dt, None, 0, "auto", near, shares)
    yield 0
    part = TrackedFrames([along.task], tracked, all_frames, poses, soft=[weight])

    def spent(steps: int) -> int:
        along.sought += len(poses)
        if along.sought > BUDGET:
            raise TooLong(
                f"{along.task.name}: no path past the singularity was found within the budget of the search, though "
                "there may be one: take another way past it, another start, or fewer frames"
            )
        return steps

    (found,) = yield from mapped(optimize_steps(along.model, [part], "acceleration", near, True), spent)
    return found.q, found.missed


def _poses(along: PosturesAlong) -> Array:
    """(F, 1, 4, 4)"""
    return along.path.at(np.arange(float(along.path.frames)))[:, None]
