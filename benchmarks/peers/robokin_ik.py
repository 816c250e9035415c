"""Robokin, called from Python through a prepared problem, as a user would for repeated solves."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import checkout

checkout.load()


def prepare(problem):
    from robokin_addon.robokin import load_urdf
    from robokin_addon.solvers import IKProblem, PoseTask, track

    floating, joints = bool(problem["floating"]), list(problem["joints"])
    model = load_urdf(str(problem["urdf"]), root="floating" if floating else "fixed")
    order = np.array([model.slot(name).q.start for name in joints])
    if floating:
        order = np.concatenate((np.arange(7), order))
    start = np.zeros(model.nq)
    start[order] = problem["start"]
    tasks = [
        PoseTask(
            str(tip),
            np.eye(4),
            position_tolerance=float(problem["position_tolerance"]),
            orientation_tolerance=float(problem["orientation_tolerance"]),
        )
        for tip in problem["tips"]
    ]
    prepared = IKProblem(model, tasks, attempts=int(problem["attempts"]))

    def solve(targets):
        return prepared.solve(targets, q0=start).q[order]

    def whole_track(targets):
        return track(model, tasks, targets, q0=start, dt=1 / 24).q[:, order]

    whole_track.whole = True
    return {"solve": solve, "track": whole_track}
