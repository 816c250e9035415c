"""Pinocchio: the damped Gauss-Newton loop of its own examples, in Python, with clamping and random restarts."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from pinocchio_rows import Rows


def prepare(problem):
    rows = Rows(problem)
    model, index = rows.model, rows.index
    data = model.createData()
    tips = [model.getFrameId(str(tip)) for tip in problem["tips"]]
    lower, upper, start = problem["lower"], problem["upper"], problem["start"]
    tolerance = float(problem["position_tolerance"])
    random = np.random.default_rng(0)

    def attempt(q, goals):
        for _ in range(100):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            e = np.concatenate([pin.log6(data.oMf[f].actInv(goal)).vector for f, goal in zip(tips, goals, strict=True)])
            if np.linalg.norm(e, np.inf) < tolerance / 2:
                return q, True
            J = np.vstack([pin.getFrameJacobian(model, data, f, pin.LOCAL) for f in tips])
            damping = 0.1 * 0.5 * (e @ e) + 1e-9
            v = J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(e)), e)
            q = pin.integrate(model, q, v)
            q[index] = np.clip(q[index], lower, upper)
        return q, False

    def solve(targets, first=start, attempts=int(problem["attempts"])):
        goals = [pin.SE3(target) for target in targets]
        q = rows.pack(first)
        for _ in range(attempts):
            q, done = attempt(q, goals)
            if done:
                return rows.unpack(q)
            q = pin.randomConfiguration(model, np.full(model.nq, -1.0), np.full(model.nq, 1.0))
            q[index] = random.uniform(lower, upper)
        return np.full(len(start), np.nan)

    last = [start]

    def track(targets):
        row = solve(targets, last[0], 1)
        if np.isfinite(row).all():
            last[0] = row
        return row

    return {"solve": solve, "track": track}
