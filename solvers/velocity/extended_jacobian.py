"""The extended Jacobian: rows below the tasks that make a redundant robot's motion a function of its task.

Where Z spans the motions that the tasks of the first level do not see (J Z = 0), s = Z' grad V says how far the
potential V is from being stationary under them. Beside the tasks, A v = ds/dt = 0 with A = ds/dq holds s as it is, so
the motion stays on one surface and a closed tool path closes in the joints, which neither a pseudo-inverse nor descent
gives (Baillieul, "Kinematic programming alternatives for redundant manipulators", ICRA 1985; Shamir, Yomdin,
"Repeatability of redundant manipulators", IEEE TAC 33, 1988). At s = 0, V is optimal all along.

The basis is Z = N U with N any orthonormal basis of Null J and U the rotation that brings it nearest to a reference,
so that s is a smooth function of q for as long as Null J does not turn at right angles to the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...robokin.arrays import Array, shown
from ...robokin.configuration import difference, integrate
from ...robokin.errors import TaskError
from ...robokin.generalized_inverses import RANK, null_space, transversality
from ..criteria import Criterion, Potential, checked_criteria, criterion_names
from ..kinematics.state import State
from ..tasks import Part, Rows
from ..tasks.protocols import HistoryTask, StartRelativeTask, VelocityTask
from .kernel_rows import task_equations
from .turning_points import turn

STEP = 1e-5  # of the differences that give A, whose error is then about 1e-10
KEPT = 64  # poses whose A is kept
ALGORITHMIC = 1e-3  # transversality below this is an algorithmic singularity
NOISE = 1e-8  # singular values of A, relative to the largest, that are rounding of the differences
JUMP = 0.1  # radians or L: poses that hold the same beyond a turn are farther away
ACROSS = 0.05  # sine of a displacement with what is held, to first order: more than that of one which bends
CONSTANT = 1e-10  # of the weights: a potential whose slope changes by less does not change


@dataclass(frozen=True, eq=False)
class StationarityTarget:
    """What is held. reference: (nv, r) basis of Null J that s is counted along.   s: (r,)."""

    reference: Array
    s: Array


class ExtendedJacobian(StartRelativeTask, HistoryTask):
    """Z' grad V stays as it is, with V the weighted sum of potentials (weight times gain of each criterion).

    A task of its own level, below those it extends. Target: a `StationarityTarget`, from `starting_target` where the
    motion begins; None holds, from any configuration, what is there: right for a step, adding up errors over many.
    Raises TaskError for criteria that are not potentials, as kinetic energy, which is not integrable; and when it is
    used on the first level, where there is nothing to extend; and where the potential is constant.
    """

    kind = "extended_jacobian"
    parts = (Part("stationarity", "", 1e-6),)
    is_counted_from_start = False

    def __init__(self, criteria: Sequence[Criterion], priority: int = 2, name: str = "extended Jacobian") -> None:
        super().__init__(name, priority, 1.0)
        self.target: StationarityTarget | None = None
        potentials = []
        for criterion in checked_criteria(criteria):
            if not isinstance(criterion, Potential):
                raise TaskError(f"{self.name}: {criterion!r} has no potential that could be held stationary")
            potentials.append(criterion)
        self.criteria = tuple(potentials)
        if not self.criteria:
            raise TaskError(f"{self.name}: there is no criterion to hold stationary")

    def checked_target(self, target: object) -> StationarityTarget | None:
        if target is not None and not isinstance(target, StationarityTarget):
            raise TaskError(f"{self.name}: a target comes from starting_target, it is not {shown(target)}")
        return target

    def resolve_target(self, state: State, target: StationarityTarget | None) -> StationarityTarget:
        if target is not None:
            return target
        begun = state.kept.get(self)
        if begun is None or begun[0] is not state:  # a motion asks at each frame what it began with
            begun = state.kept[self] = state, self.starting_target(state)
        return begun[1]

    def starting_target(self, state: State) -> StationarityTarget:
        """Raises TaskError where the potential is constant as far as the tasks leave the robot free."""
        kept = self._stationarity_target(state)
        self._check_changing(state, kept, self._derivative(state, kept.reference))
        return kept

    def failure_note(self, states: Sequence[State], target: StationarityTarget | None) -> str:
        """Whether the path turns back between the last frame that was held and this one, where it is lost. After that,
        that it was lost before: what is seen there are other poses."""
        singular = f"algorithmic singularity of the {self.name}"
        if target is None:
            sine = self.transversality(states[-1], target)
            return f"{singular}: transversality {sine:.2g}" if sine < ALGORITHMIC else ""
        kept = [state for state in states if self._is_kept(state, target)]
        if not kept:
            return f"what the {self.name} holds was lost before"
        at = self._turn(kept[0], target)
        if at is None:
            return ""
        return (
            f"{singular}: the motion that holds it turns back between this frame and the one before, where its rows "
            f"see only {self._relative_singular_value(at, target):.1g} of a free motion"
        )

    def is_left(self, before: State, after: State, target: StationarityTarget | None) -> bool:
        """Whether the path turns back and the frame jumps to another pose that holds the same. Short steps, and those
        along what is held, do not."""
        if target is None:
            return False
        displacement = difference(before.model, before.q, after.q) / before.scale
        if np.linalg.norm(displacement) <= JUMP:
            return False
        A = self._derivative(before, target.reference)
        across = np.linalg.norm(A @ displacement) > ACROSS * np.linalg.norm(A, 2) * np.linalg.norm(displacement)
        return bool(across) and self._turn(before, target) is not None

    def rows(self, state: State, target: StationarityTarget | None) -> Rows:
        if target is not None and self in state.tasks:  # tried alone, to see what conflicts: nothing is extended
            return Rows.none(state.model.nv)
        kept = self._stationarity_target(state) if target is None else target
        A = self._derivative(state, kept.reference)
        if target is None:
            self._check_changing(state, kept, A)
        e = kept.s - self._stationarity(state, kept.reference)
        return Rows.wanted(A / state.scale, e, np.ones(len(e)), 0)

    def transversality(self, state: State, target: StationarityTarget | None = None) -> float:
        """Sine of the smallest angle between what A and what the tasks do not see; below ALGORITHMIC the motion is
        singular although the robot is not: an algorithmic singularity. Joints that no task moves do not count."""
        rows, moving = self.rows(state, target), self._moving(state)
        return transversality(state.task_rows[:, moving], (rows.J * state.scale)[:, moving])

    def _relative_singular_value(self, state: State, kept: StationarityTarget) -> float:
        """The smallest singular value of A on the motions that the tasks leave free, over the largest of A: unlike
        the transversality it is small also where the rows of A become dependent, and they see less."""
        moving = self._moving(state)
        A = self._derivative(state, kept.reference)[:, moving]
        free = null_space(state.task_rows[:, moving])
        s = np.linalg.svd(A @ free, compute_uv=False)[: free.shape[1]]
        return float(s[-1] / np.linalg.norm(A, 2)) if s.any() else 0.0

    def _stationarity_target(self, state: State) -> StationarityTarget:
        if self in state.tasks:
            raise TaskError(f"{self.name}: its priority {self.priority} must come after that of the tasks it extends")
        reference = null_space(state.task_rows)
        return StationarityTarget(reference, self._stationarity(state, reference))

    def _check_changing(self, state: State, kept: StationarityTarget, A: Array) -> None:
        """Joints that no task moves, as those of a gripper, stay where they are and need no potential."""
        moving = self._moving(state)
        weight = sum(own.weight * own.gain for own in self.criteria)
        if abs(kept.reference[moving]).max(initial=0.0) > RANK and abs(A).max() <= CONSTANT * weight:
            names = ", ".join(criterion_names(self.criteria))
            raise TaskError(f"{self.name}: {names} does not change with the free motions, so there is nothing to hold")

    @staticmethod
    def _moving(state: State) -> Array:
        """(nv,) bool, what the tasks of the first level move."""
        return abs(state.task_rows).max(axis=0, initial=0.0) > RANK

    def _is_kept(self, state: State, kept: StationarityTarget) -> bool:
        residual = abs(kept.s - self._stationarity(state, kept.reference)).max(initial=0.0)
        return residual <= self.parts[0].tolerance

    def _turn(self, start: State, kept: StationarityTarget) -> State | None:
        """Where the path from a state to its targets turns back although the robot is neither singular nor at a limit;
        None when it does not, or when tasks ask for velocities, which lead to no pose."""
        if any(isinstance(task, VelocityTask) for task in start.tasks):
            return None
        model = start.model

        def state_at(x: Array) -> State:
            return start.at(integrate(model, start.q, start.scale * x))

        def system(x: Array) -> tuple[Array, Array]:
            state = state_at(x)
            residual = kept.s - self._stationarity(state, kept.reference)
            rows = np.vstack((state.task_rows, self._derivative(state, kept.reference)))
            return np.concatenate((state.task_errors, residual)), rows

        x = turn(system, model.nv)
        if x is None:
            return None
        found = state_at(x)
        s = np.linalg.svd(found.task_rows, compute_uv=False)
        is_inside = abs(model.limits.clamp(found.q) - found.q).max(initial=0.0) <= ALGORITHMIC
        return found if is_inside and s.min() > ALGORITHMIC * s.max() else None

    def _stationarity(self, state: State, reference: Array) -> Array:
        """s (r,)"""
        N = np.linalg.svd(task_equations(state))[2][state.model.nv - reference.shape[1] :].T
        U, _, Vt = np.linalg.svd(N.T @ reference)
        gradient = sum(own.weight * own.gain * own.gradient(state) for own in self.criteria) * state.scale
        return (U @ Vt).T @ (N.T @ gradient)

    def _derivative(self, state: State, reference: Array) -> Array:
        """A (r, nv) in displacements with lengths over L. Searches come back to where they were, most of all where a
        target is too far, and A takes long: the last ones are kept."""
        known = state.kept.setdefault((self, "A"), {})
        question = reference, *state.tasks, *state.targets
        key = state.q.tobytes(), *map(id, question)
        if key not in known:
            if len(known) == KEPT:
                del known[next(iter(known))]
            known[key] = self._differences(state, reference), question
        return known[key][0]

    def _differences(self, state: State, reference: Array) -> Array:
        columns = []
        for displacement in np.diag(STEP * state.scale):
            forward, backward = (state.moved(side) for side in (displacement, -displacement))
            columns.append(self._stationarity(forward, reference) - self._stationarity(backward, reference))
        A = np.array(columns).reshape(state.model.nv, reference.shape[1]).T / (2.0 * STEP)
        return _without_rounding(A)


def _without_rounding(A: Array) -> Array:
    """A without what it sees only by rounding, which the levels below are free to move."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.where(s > NOISE * s.max(initial=0.0), s, 0.0)) @ Vt
