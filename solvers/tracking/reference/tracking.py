"""Tracking in NumPy: the readable twin of kernel/src/track/track.c, and the fallback. Tasks of one level or of several.

Every frame moves inside a box around the last configuration: the viability bounds of solvers/limits/viability.py. The
damped steps of the static solver (descent/descent.py) run inside that box, so all limits hold at every frame.

When the targets cannot be met inside the box, the robot is late. Then the goal is the configuration that meets them
inside the position limits alone, found from the last goal, and the robot follows the goal joint by joint: each joint as
fast as its limits allow, braking in time to meet the goal's position and velocity. That is the time-optimal way for a
single joint, so what is late catches up and does not swing about its target; a base rolls on the arc to it. Each level
has a goal of its own: where levels cannot all be met it is as near as those above allow, and since it is only ever
changed for a better one, a still scene has a still robot. Where limits on speed are the reason, levels are hurried one
after another: each one keeps what those above have, is pulled towards where its own goal leads, and waits with the
joints that a late level above needs, so no level takes anything from those above. What levels above have and the speed
of the robot may so lead it round for ever: it has a patience, after which it stops, unless it gains something; criteria
then have `lasting`. A level of velocities is as fast as limits allow: it is asked for anew in the next frame, from
where that one begins, and nothing has to be caught up with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....robokin.arrays import Array
from ....robokin.backend import reference
from ...descent.data import IKData
from ...descent.descent import Iterate, LevelRows
from ...descent.engine import CONVERGED, NOT_CONVERGED, OUT_OF_REACH
from ...descent.frame_bounds import FrameBounds
from ...descent.level_rows import Preference
from ...descent.steps import on_first_arcs, reachable, roll
from ...descent.tip_rows import TipRows
from ...limits.viability import StepLimits, braking_distance
from ...tasks import FrameTask
from ...tasks.native import same_target
from ..data import LATE, TrackOutcome, refuse_targets
from .frame import AT_GOAL, FRAME_STEPS, Frame
from .patience import Progress

NEARLY = 1e-3  # relative: what is as fast as may be
SHORTLY = 24.0  # frames after which one level less is kept
SLOWLY = 24.0  # of the time that is left to criteria: in which the joints that they move brake


class ReferenceTracking:
    """Tracks targets frame by frame, each call from where the last one ended. All in coordinates of the support.

    state: (nq + levels (nq + 3) + nv + 2,) to be set first: q, inside the limits; of each level the goal, where q would
    be in time, and its `Progress`; the step that led to q; how many levels are late, from the first on that was not met
    and is not of velocities; and the patience: in how many frames the robot comes to rest where targets stand still,
    unless it gains something.
    keeps_clear: links keep apart, which is the first level: what is in the way is named, and not who is late.
    """

    name = "numpy"
    lasting = 0.0  # frames for which criteria go on moving a robot whose targets stand still
    keeps_clear = False

    def __init__(self, data: IKData, tasks: Sequence[FrameTask], limits: StepLimits, levels: int = 1) -> None:
        self.data, self.tasks, self.limits, self._levels = data, tasks, limits, levels
        self._before: Any = None

    @property
    def state(self) -> Array:
        goals = np.array(self.goals).reshape(self._levels, len(self.q))
        levels = np.column_stack((goals, self.progress.kept))
        return np.concatenate((self.q, levels.ravel(), self.step, [float(self._late), self._patience]))

    @state.setter
    def state(self, state: Array) -> None:
        nq, nv = self.data.tree.nq, self.data.tree.nv
        self.q, self.step = state[:nq].copy(), state[-2 - nv : -2].copy()
        self._late, self._patience = int(state[-2]), float(state[-1])
        levels = state[nq : -2 - nv].reshape(self._levels, nq + 3).copy()
        self.goals, self.progress = list(levels[:, :nq]), Progress.of(levels[:, nq:])

    def note(self, targets: Any) -> None:
        """Targets that the place where it stands was found for; None: not known."""
        self._before = targets

    def run(self, targets: Any) -> TrackOutcome:
        """targets: (n, tasks, 4, 4). Raises TaskError for one that is not a rigid pose, having done nothing."""
        for frame, wanted in enumerate(targets):
            refuse_targets(self.tasks, wanted, frame)
        tree = self.data.tree
        return self._run(targets, TrackOutcome.empty(len(targets), len(self.tasks), tree.nq, tree.nv))

    def _run(self, targets: Any, outcome: TrackOutcome) -> TrackOutcome:
        for frame, wanted in enumerate(targets):
            code, residuals, iterations, behind = self._frame(wanted)
            outcome.codes[frame], outcome.q[frame] = code, self.q
            outcome.residuals[frame], outcome.iterations[frame], outcome.behind[frame] = residuals, iterations, behind
        return outcome

    def rows(self, targets: Any, data: IKData) -> LevelRows:
        """Rows of a frame, inside the limits of `data`."""
        return TipRows(data, self.tasks, targets)

    def _reachable(self, targets: Any) -> bool:
        return reachable(self.data, targets)

    def preference(self, targets: Any, q: Array) -> Preference | None:
        """What criteria prefer in this frame, with their slope at q (nq,)."""
        return None

    def _is_still(self, targets: Any) -> bool:
        """Whether the targets are those of the frame before."""
        before, self._before = self._before, targets
        return before is not None and all(map(same_target, before, targets))

    def _obstacles_stay(self, before: Any, targets: Any) -> bool:
        """Whether obstacles are where they were in the frame before, of these targets."""
        return False

    @property
    def bounds(self) -> FrameBounds:
        return FrameBounds.of(self.data, self.limits, self.q, self.step)

    def _frame(self, targets: Any) -> tuple[int, Array, int, Array]:
        is_firm = self.keeps_clear and self._before is not None and self._obstacles_stay(self._before, targets)
        is_still, behind = self._is_still(targets), np.zeros(self.data.tree.nv, np.int8)
        here = Frame(self, targets)
        levels, are_velocities = here.inside.rows.levels, here.inside.rows.are_velocities
        is_still = is_still and not here.inside.rows.changes and levels > 0
        # Velocities are asked for anew.
        pairs = zip(self.goals, are_velocities, strict=True)
        self.goals = [self.q if is_velocity else goal for goal, is_velocity in pairs]
        met_before = levels - self._late
        unbraked = met_before if self.limits.braked else levels
        if is_still:
            self._patience = self.progress.patience(self._patience, self, met_before)
        else:
            self._patience = np.inf
            self.progress.forget()
        preference = self.preference(targets, self.q)
        # What was not met at once is so by its goal again, until it is met; a first level that need not brake is met as
        # it can.
        most = 1 if met_before == 0 and unbraked else met_before
        if is_still and not self._late and preference is None and not self.step.any():
            at = here.inside.look(self.q)  # what stands where all is met, for the same targets, stays there too
            return CONVERGED, at.residuals, 0, behind
        longest = 0.0 if preference is None else -self.lasting  # of patience, for criteria
        # From its goal criteria alone move it, and its levels keep what they have there; when they have ended, it stays
        # here.
        stands = is_still and preference is not None and self._has_goal(here)
        stays = stands and self._patience > longest
        if stands and not stays:
            self._stay_here()
        rests = not stays and self._patience <= (0.0 if self._late else longest) and self._settles(here)
        if stays or (not rests and most == levels):
            is_led, is_calm = stays and self._late > 0, not stays and here.be_calm()
            here.inside.rows.preference = None if stays else preference
            if is_led or here.inside.run(self.q, levels, FRAME_STEPS) or is_calm:
                if is_led:
                    at = self._led(here)
                else:
                    at = here.preferred(here.inside.best, True) if stays else here.inside.best
                late = levels - _leading(at.met)
                goes_on = is_led and late > 0
                by_arcs, waits = self.progress.are_by_arcs & goes_on, 0 if is_calm else late
                self._advance(at.q, self.goals if goes_on else [at.q] * levels, waits, by_arcs)
                return self._missed(targets) if late else CONVERGED, at.residuals, here.iterations, behind
        is_tried = most == levels and here.inside.rows.is_exact and preference is None
        here.make_exact()
        # What stands at its goal, for the same targets, stays there: searching on would only creep. Whether several
        # arcs lead a base on is not known before targets have stood still once.
        is_same, is_reached = is_still and self._late > 0, False
        is_looked_for = not self.data.bases or self.progress.errors[0] < np.inf
        if rests or (is_same and is_looked_for and (self.q == self.goals[-1]).all()):
            self.goals[-1] = self.goal_start(-1)
            goals = [self.goals[-1]] * levels
            q, is_reached = self.followed(-1, goals[-1])
            by_arcs = np.full(levels, self.progress.are_by_arcs[-1])
            possible = _leading(here.inside.look(goals[-1]).met)
        if not (rests := rests or is_reached):
            is_found = is_firm and not here.inside.rows.changes and met_before == 0 and not self.data.bases
            goals, possible, kept = here.goals.find(is_same, is_found)
            by_arcs = np.arange(levels) >= here.goals.by_arcs
            if is_same:  # the others are on their way to another goal
                self.progress.times[kept:] = np.inf
            # All of them may have been tried above, though maybe not exactly, or not without criteria.
            q, is_reached = here.hurried(goals, most - is_tried, unbraked, is_same and not self.limits.braked)
        at = here.inside.look(q)
        if is_reached and preference is not None and self._patience > longest:
            at = here.preferred(at, is_still)
        found = _leading(at.met)
        is_met = found == levels
        in_time = _leading(at.met | are_velocities)  # of velocities nothing is caught up with
        at_goal = levels if is_reached else 0 if rests else in_time
        if not is_met and here.inside.rows.adds_up:
            at = here.refined(at, found)
        if is_still and not rests and self.progress.is_nearest(np.where(at.met | are_velocities, 0.0, at.errors)):
            self._patience = np.inf
        is_late = not is_met and possible > found
        is_beyond = not is_met and not is_late and here.goes_on(at, found, goals[found])
        if is_late or is_beyond:
            lost = goals[found]  # who does not get to the goal of the first level that is lost
            there = self.bounds.within(lost) if are_velocities[found] else self.followed(found, lost)[0]
            gaps = abs(reference.difference(self.data.tree, lost, there))
            behind[gaps > AT_GOAL] = 1
            if behind.any() and not are_velocities[found] and not self.keeps_clear:
                here.spare(found, lost, gaps, behind)
            if is_beyond or not behind.any():  # or of a path that comes back to where it was
                fastest = self._fastest(at.q)
                both = fastest & (behind == 1)
                behind[:] = both if both.any() else fastest
                is_late = bool(fastest.any()) or is_late
            for base in self.data.bases:
                behind[base.v : base.v + 3] = 0
        by_arcs[:at_goal] = False
        stays = self._advance(at.q, [at.q] * at_goal + goals[at_goal:], levels - in_time, by_arcs)
        self._patience = min(self._patience, 0.0 if stays and is_still else np.inf)
        code = CONVERGED if is_met else LATE if is_late else self._missed(targets)
        return code, at.residuals, here.iterations, behind

    def _has_goal(self, here: Frame) -> bool:
        """Whether all levels have one goal, and what they have there where the robot is."""
        goal = self.goals[0]
        if not all((other == goal).all() for other in self.goals):
            return False
        if not self._late or (self.q == goal).all():
            return bool((self.q == goal).all())
        return here.is_as_good(here.inside.look(self.q), len(self.goals), goal)

    def _led(self, here: Frame) -> Iterate:
        """Where criteria alone lead the robot in a frame, while its levels, which are not all met, keep what they have
        at its goal. Where these cannot, or criteria turn back, these have half the time and the speed from now on."""
        spent = min(self._patience, 0.0)
        remaining = self.lasting + spent
        here.slow_down(max(remaining / SLOWLY, 1.0))
        at, is_as_good = here.kept(self.goals[0])
        if is_as_good:
            at = here.preferred(at, True)
        else:
            self._stay_here()
        if not is_as_good or self._turns_back(at.q, here.inside.rows.scale):
            self._patience = spent - 0.5 * remaining
        return at

    def _turns_back(self, q: Array, scale: Array) -> bool:
        """Whether a frame that ends at q goes back on the one before: what criteria ask for, a level that is not met
        undoes. scale: (nv,) of displacements."""
        step = reference.difference(self.data.tree, self.q, q)
        return bool(step / scale @ (self.step / scale) < 0.0)

    def _missed(self, targets: Any) -> int:
        return NOT_CONVERGED if self._reachable(targets) else OUT_OF_REACH

    def _settles(self, here: Frame) -> bool:
        """Targets have stood still for so long that the robot comes to rest: where it stops when it brakes, once all
        levels but the last have there what they have at their goals; as time goes on, all but the last two, ... When
        not even the first has, that alone is followed. Whether all levels have one goal from now on."""
        fewer = int(min(1.0 - self._patience / SHORTLY, levels := len(self.goals)))
        if all((goal == self.goals[0]).all() for goal in self.goals):
            return True
        rest = self._braked() if fewer < levels else self.goals[0]
        if fewer < levels and not here.is_as_good(
            here.inside.look(rest), levels - fewer, self.goals[levels - fewer - 1]
        ):
            return False
        self.goals = [rest] * levels
        self.progress.are_by_arcs[:] = fewer == levels and self.progress.are_by_arcs[0]
        return True

    def _stay_here(self) -> None:
        """The goal of all levels is where the robot is."""
        self.goals = [self.q] * len(self.goals)
        self.progress.are_by_arcs[:] = False

    def _braked(self) -> Array:
        """(nq,) where the robot stops when every joint brakes."""
        distance = braking_distance(self.step, self.limits.max_step_change)
        q = reference.integrate(self.data.tree, self.q, distance)
        roll(self.data.bases, self.q, q)
        return q

    def is_brakeable(self, q: Array, level: int, goal: Array) -> bool:
        """Whether a frame that ends at q leaves no more speed against that of the goal of a level than one frame can
        brake: what is met so is not passed in the next one."""
        pairs = (self.q, q), (self.goals[level], goal)
        taken, pace = (reference.difference(self.data.tree, *pair) for pair in pairs)
        return bool((abs(taken - pace) <= self.limits.max_step_change).all())

    def followed(self, level: int, goal: Array) -> tuple[Array, bool]:
        """Where following the goal of a level leads in this frame, and whether it is reached so."""
        q = self.bounds.followed(self.goals[level], goal)
        return q, bool((abs(reference.difference(self.data.tree, goal, q)) <= AT_GOAL).all())

    def _fastest(self, q: Array) -> Array:
        """(nv,) bool, who is as fast as may be in a frame that ends at q, and not at a position bound."""
        limits, lo, hi = self.limits, self.bounds.lo, self.bounds.hi
        position = np.where(limits.coordinate >= 0, self.q[limits.coordinate], 0.0)
        step = reference.difference(self.data.tree, self.q, q)
        least, most = step - NEARLY * abs(step) - AT_GOAL, step + NEARLY * abs(step) + AT_GOAL
        backwards = (least <= lo) & (lo > limits.lower - position + AT_GOAL)
        return backwards | ((most >= hi) & (hi < limits.upper - position - AT_GOAL))

    def goal_start(self, level: int) -> Array:
        """The last goal of a level, with the bases where its wheels take them from where they are; with wheels on the
        first of several arcs to it."""
        goal = self.goals[level].copy()
        there = on_first_arcs(self.data, self.q, goal) if self.progress.are_by_arcs[level] else None
        if there is not None:
            self.goals[level] = there
            return there
        roll(self.data.bases, self.q, goal)
        return goal

    def _advance(self, q: Array, goals: list[Array], late: int, by_arcs: Array) -> bool:
        """Whether the frame before would have led there, too: the robot stood, stands, and has the same goals."""
        pairs = [(self.step, 0.0), (q, self.q), *zip(goals, self.goals, strict=True)]
        stays = all((abs(new - old) <= AT_GOAL).all() for new, old in pairs)
        self.step = reference.difference(self.data.tree, self.q, q)
        self.q, self.goals, self._late, self.progress.are_by_arcs = q, goals, late, by_arcs
        return stays


def _leading(met: Array) -> int:
    """How many are met from the first on."""
    return int(np.argmin(met)) if not met.all() else len(met)
