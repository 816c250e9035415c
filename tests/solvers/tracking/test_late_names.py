"""Whom a late frame names: freed of its limits on speed, all of them meet the frame, and one less does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from robokin_addon.robokin import RobotModel, forward_kinematics, load_urdf
from robokin_addon.solvers import PoseTask, PositionTask, solve_ik
from robokin_addon.solvers.limits.viability import StepLimits, viable_steps
from robokin_addon.solvers.results import SolveResult, Status
from robokin_addon.solvers.tracking.track import track
from support.few import rest_slow
from support.problems.limits import with_rates
from support.robots import robot

DT, FRAMES = 0.04, 12


def one_frame_on(model: RobotModel, before: np.ndarray, q: np.ndarray, freed: Sequence[str], far: float) -> RobotModel:
    """The robot whose position limits are where it can be one frame on; freed joints: so far away, at any speed."""
    limits, joints = StepLimits.of(model, DT), []
    lo, hi = viable_steps(q - before, q - limits.lower, limits.upper - q, limits.max_step, limits.max_step_change)
    for joint in model.joints[1:]:
        if joint.nv and joint.mimic is None:
            at, is_freed = model.slot(joint.name).v.start, joint.name in freed
            lower, upper = (-far, far) if is_freed else (lo[at] - 1e-12, hi[at] + 1e-12)
            joint = replace(joint, lower=max(joint.lower[0], q[at] + lower), upper=min(joint.upper[0], q[at] + upper))
        joints.append(joint)
    return RobotModel(model.name, model.links, joints, model.root)


@pytest.mark.parametrize(
    ("name", "acceleration", "backend"),
    [
        *product(("xarm7", "human", "g1_29dof_rev_1_0"), (np.inf, 20.0), ("native",)),
        *rest_slow([("xarm7", np.inf, "numpy"), ("g1_29dof_rev_1_0", 20.0, "numpy"), ("human", 20.0, "numpy")], 2),
    ],
)
def test_all_who_are_named_meet_a_late_frame_and_one_less_does_not(name, acceleration, backend):
    model = with_rates(load_urdf(robot(name)), velocity=1.5, acceleration=acceleration)
    rng, compared = np.random.default_rng(3), 0
    lower, upper = np.maximum(model.limits.lower, -1.2), np.minimum(model.limits.upper, 1.2)
    tips = sorted({link.name for link in model.links} - {joint.parent for joint in model.joints})
    for kind in (PoseTask, PositionTask):
        tip = tips[rng.integers(len(tips))]
        start, end = rng.uniform(lower, upper, (2, model.nq))
        poses = [forward_kinematics(model, start + s * (end - start))[tip] for s in np.linspace(0.0, 1.0, FRAMES)]
        targets = [T if kind is PoseTask else T[:3, 3] for T in poses]
        result = track(model, [kind(tip, targets[0])], [[target] for target in targets], start, dt=DT, backend=backend)
        late = [frame for frame in range(2, FRAMES) if result.status[frame] is Status.LIMIT]
        for frame in late[:: max(1, len(late) // 2)]:
            before, q, task = *result.q[frame - 2 : frame], kind(tip, targets[frame])
            named = result.diagnosis(frame).joints

            def meant(freed: Sequence[str], far: float = 7.0, before=before, q=q, task=task) -> SolveResult:
                there = one_frame_on(model, before, q, freed, far)
                q = np.clip(q, there.limits.lower, there.limits.upper)
                return solve_ik(there, [task], q, seed=1, attempts=12, diagnose=False)

            if meant(()).converged:  # but too fast to brake
                continue
            compared, found = compared + 1, meant(named)
            assert named and found.converged, (tip, frame, named)
            far = 2.0 * np.abs(found.q - q).max()  # fewer may do that come to another posture
            fewer = [[each for each in named if each != one] for one in named if len(named) > 1]
            assert not any(meant(freed, far).converged for freed in fewer), (tip, frame, named)
    assert compared
