"""Pink: differential IK by a QP with limits; one start, iterated to the tolerance."""

from __future__ import annotations

import numpy as np
import pink
import pinocchio as pin
from pink.limits import ConfigurationLimit
from pink.tasks import FrameTask
from pinocchio_rows import Rows


def prepare(problem):
    rows = Rows(problem)
    model = rows.model
    start = problem["start"]
    tips = [str(tip) for tip in problem["tips"]]
    tasks = [FrameTask(tip, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6, gain=1.0) for tip in tips]
    tolerance = float(problem["position_tolerance"]), float(problem["orientation_tolerance"])
    bounds = [ConfigurationLimit(model)]

    def iterate(q, targets, iterations):
        configuration = pink.Configuration(model, model.createData(), q)
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(pin.SE3(target))
        for _ in range(iterations):
            errors = [task.compute_error(configuration) for task in tasks]
            if all(np.linalg.norm(e[:3]) < tolerance[0] and np.linalg.norm(e[3:]) < tolerance[1] for e in errors):
                break
            v = pink.solve_ik(configuration, tasks, 1.0, solver="daqp", limits=bounds, safety_break=False)
            configuration.integrate_inplace(v, 1.0)
        return configuration.q

    def solve(targets):
        return rows.unpack(iterate(rows.pack(start), targets, 100))

    last = [rows.pack(start)]

    def track(targets):
        last[0] = iterate(last[0], targets, 1)
        return rows.unpack(last[0])

    return {"solve": solve, "track": track}
