"""The way from pose to pose, without Blender: far fewer leaps than solves alone make."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.solvers import IKProblem, PoseTask
from robokin_addon.solvers.posing.follow import ATTEMPTS, ITERATIONS, LEAP, TargetFollower
from support.robots import robot

TIP = "panda_link8"


def along(paths, frames: int, solve) -> tuple[int, int]:
    """(frames that are met, leaps) along ways that joint values lead, which turn through all of their ranges."""
    model = load_urdf(robot("panda"))
    met = leaps = 0
    for seed in paths:
        random = np.random.default_rng(seed)
        a, b, c = (random.uniform(model.limits.lower, model.limits.upper) for _ in range(3))
        problem = IKProblem(model, [PoseTask(TIP, np.eye(4))], attempts=ATTEMPTS, iterations=ITERATIONS)
        step, q = solve(problem), a
        for s in np.arange(1, frames + 1) / frames:
            target = forward_kinematics(model, (1 - s) ** 2 * a + 2 * s * (1 - s) * b + s * s * c)[TIP]
            found = step(target, q)
            assert (found.q >= model.limits.lower).all() and (found.q <= model.limits.upper).all()
            met += found.converged
            leaps += bool(abs(found.q - q).max() > LEAP)
            q = found.q
    return met, leaps


def test_it_leaps_less_and_loses_less_than_single_solves():
    def alone(problem):
        return lambda target, q: problem.solve([target], q, 0, False)

    def followed(problem):
        descent = TargetFollower(problem)
        return lambda target, q: descent.solve([target], q)

    by_solves, by_descent = along(range(60), 40, alone), along(range(60), 40, followed)
    assert by_descent[0] >= by_solves[0] > 2000
    assert by_descent[1] < by_solves[1]
