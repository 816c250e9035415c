"""Robokin, called from Python through a prepared problem, as a user would for repeated solves."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location(
    "robokin_addon", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
)
sys.modules["robokin_addon"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["robokin_addon"])

from robokin_addon.robokin import load_urdf  # noqa: E402 - the checkout has to be importable first
from robokin_addon.solvers import IKProblem, PoseTask, track  # noqa: E402


def prepare(problem):
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
