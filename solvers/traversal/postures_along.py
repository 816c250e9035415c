"""The postures of an arm along the path of its tool, and the cheapest path through them.

Every pose has a few postures, one of each branch; a path takes one at each pose. The cheapest path is found by dynamic
programming (Bellman 1957): where two branches meet, in a singularity, it goes on in the better one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.errors import TaskError
from ...robokin.model.robot import RobotModel
from ..families.chain import chain_of
from ..postures import PostureProblem
from ..singularities.measure import Singularities
from ..singularities.tool import Tool
from ..tasks import PoseTask
from .tool_path import ToolPath

TURN = 2.0 * np.pi
APART = 0.5  # [rad, m] a step that is as long and comes to another branch is no motion ...
LEAPING = 1e3  # ... and costs so much: any other way is better
MEETING = 1e-5  # singular value of postures that are of two branches
MOST = 6  # joints: with more, the postures of a pose are a continuum

# Cost of going from one parameter to another: s0, s1, q0 (a, 1, nq), q1 (a, b, nq) -> (a, b).
StepCost = Callable[[float, float, Array, Array], Array]


class PosturesAlong:
    """All postures along the path of a tip, of which each pose has a few: in closed form, or from many starts.
    task: on the whole pose of the tip. q0: (nq,) what of a posture is free, and where joints stand that do not move
    the tip.   sought: frames of all steps in which whole motions were sought along the path."""

    sought = 0

    def __init__(self, model: RobotModel, task: PoseTask, path: ToolPath, q0: Array) -> None:
        self.model, self.task, self.path, self.q0 = model, task, path, model.limits.clamp(q0)
        self._problem = PostureProblem(model, [task])
        chain = chain_of(model, task.link, task.offset, model.limits)
        self.has_balls = model.nq != model.nv
        self.are_few = bool(self._problem.family) and chain is not None and chain.joints <= MOST and not self.has_balls
        self._turns = np.zeros(model.nq, bool)
        if chain is not None:
            self._turns[chain.q_index[~chain.slides]] = True

    @cached_property
    def _near(self) -> Singularities:
        return Singularities(Tool.of(self.model, self.task))

    def starts(self) -> Array:
        """(k, nq) postures of the first pose, the nearest to q0 first."""
        return self._problem.solve(self.path.at(np.zeros(1)), self.q0).q

    def at(self, s: Array, branch: str = "") -> tuple[list[Array], Array]:
        """The postures (k, nq) of each parameter (n,); and (n,) bool, whether one of them could move on without moving
        the tip: there it is one of a continuum, and says little about the path. branch: its name, for this one
        alone; where it meets another one, whose name the posture then has, what is singular."""
        layers, names, hidden = self.named_at(s)
        if branch:
            for i, (layer, each) in enumerate(zip(layers, names, strict=True)):
                own = each == branch
                layers[i] = layer[own if own.any() or not len(layer) else self._near.over(layer)[0] < MEETING]
        return layers, hidden

    def named_at(self, s: Array) -> tuple[list[Array], list[Array], Array]:
        """What `at` gives, and between both the names (k,) of the branches."""
        batch = self._problem.solve_batch(self.path.at(s)[:, None], self.q0)
        found = [batch[i] for i in range(len(batch))]
        hidden = np.array([bool(each.continuum.any()) for each in found])
        return [each.q for each in found], [np.array(each.names, object) for each in found], hidden

    def branch(self, s: float, q: Array) -> str:
        """Name of the branch of the posture at a parameter that is nearest to q (nq,)."""
        return self._problem.solve(self.path.at(np.array([s])), q).names[0]

    def at_all(self, s: Array, branch: str = "") -> list[Array]:
        """The postures (k, nq) of each parameter (n,); in a singularity itself those nearest to the ones before and
        after it. branch: as of `at`."""
        layers, hidden = self.at(s, branch)
        for i in np.flatnonzero(hidden):
            around = [*(layers[i - 1] if i else ()), *(layers[i + 1] if i + 1 < len(s) else ())]
            goals = np.repeat(self.path.at(s[i : i + 1])[:, None], len(around), axis=0)
            if around:
                batch = self._problem.solve_batch(goals, np.array(around))
                layers[i] = np.concatenate([layers[i], *(batch[k].q for k in range(len(batch)))])
        return layers

    def tips(self, q: Array) -> Array:
        """(n, 4, 4) of q (n, nq)."""
        index = self.model.link_index(self.task.link)
        return get_backend().frame_placements(self.model.tree, q)[:, index] @ self.task.offset

    def unwound(self, q: Array, near: Array) -> Array:
        """q (..., nq) moved by whole turns inside the limits, as near as can be."""
        model = self.model
        turned = q + np.where(self._turns, TURN * np.round((near - q) / TURN), 0.0)
        turned += np.where(self._turns & (turned > model.upper), -TURN, 0.0)
        turned += np.where(self._turns & (turned < model.lower), TURN, 0.0)
        return np.where((turned > model.upper) | (turned < model.lower), q, turned)

    def nearest(self, q: Array, to: Array, names: Array) -> Array:
        """(n,) of the names (k,) of postures q (k, nq) that of the nearest to each of (n, nq), but for whole turns."""
        away = self.unwound(np.broadcast_to(q, (len(to), *q.shape)), to[:, None]) - to[:, None]
        return names[abs(away).max(axis=-1).argmin(axis=1)]


@dataclass(frozen=True, eq=False)
class PostureSequence:
    """s: (n,) parameters.   q: (n, nq).   costs: (n,) of the step to each, 0 of the first."""

    s: Array
    q: Array
    costs: Array


def cheapest_sequence(
    along: PosturesAlong,
    s: Sequence[float],
    layers: Sequence[Array],
    first: Array,
    cost: StepCost,
    names: Sequence[Array] | None = None,
    apart: float = APART,
) -> Generator[float, None, PostureSequence]:
    """Yield the share done now and then; return the path from the postures `first` (k, nq) at s[0], through one of each
    of the layers. names: (k,) of the branches in each layer, which are not leapt between, by more than `apart` [rad,
    m]; None: they may be. Raises TaskError where the tool cannot come to the end."""
    costs, own, parents = [np.zeros(len(first))], [first], [np.full(len(first), -1)]
    known = None if names is None else [along.nearest(layers[0], first, names[0]), *names[1:]]
    for i in range(1, len(s)):
        if not len(layers[i]):
            raise no_way_on(along, s[i - 1], s[i], "no posture meets its target")
        before = own[-1][:, None]
        here = along.unwound(np.broadcast_to(layers[i], (len(own[-1]), *layers[i].shape)), before)
        totals = costs[-1][:, None] + cost(s[i - 1], s[i], before, here)
        if known is not None:
            is_far = abs(here - before).max(axis=-1) > apart
            totals += LEAPING * (is_far & (known[i - 1][:, None] != known[i]))
        chosen, each = totals.argmin(axis=0), np.arange(len(layers[i]))
        costs.append(totals[chosen, each])
        own.append(here[chosen, each])
        parents.append(chosen)
        yield i / len(s)
    at = np.zeros(len(s), int)
    at[-1] = costs[-1].argmin()
    for i in range(len(s) - 1, 0, -1):
        at[i - 1] = parents[i][at[i]]
    total = np.array([one[k] for one, k in zip(costs, at, strict=True)])
    q = np.array([one[k] for one, k in zip(own, at, strict=True)])
    return PostureSequence(np.array(s), q, np.diff(total, prepend=0.0))


def no_way_on(along: PosturesAlong, s0: float, s1: float, why: str) -> TaskError:
    return TaskError(f"{along.task.name}: the tool cannot get on from frame {s0:g} of its path to frame {s1:g}: {why}")
