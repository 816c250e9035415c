"""Mink: differential IK by a QP on MuJoCo; one start, iterated to the tolerance."""

from __future__ import annotations

from pathlib import Path

import mink
import mujoco
import numpy as np


def prepare(problem):
    floating, joints = bool(problem["floating"]), list(problem["joints"])
    spec = mujoco.MjSpec.from_string(_urdf_for_mujoco(Path(str(problem["urdf"])).read_text()))
    if floating:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    index = np.array([model.joint(j).qposadr[0] for j in joints])
    start = problem["start"]
    tips = [str(tip) for tip in problem["tips"]]
    tasks = [mink.FrameTask(tip, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6) for tip in tips]
    tolerance = float(problem["position_tolerance"]), float(problem["orientation_tolerance"])
    configuration = mink.Configuration(model)
    bounds = [mink.ConfigurationLimit(model)]

    def pack(row):
        q = np.zeros(model.nq)
        if floating:
            q[:7] = row[:7]
        q[index] = row[7:] if floating else row
        return q

    def unpack(q):
        return np.concatenate((q[:7], q[index])) if floating else q[index]

    def iterate(targets, iterations):
        for task, target in zip(tasks, targets, strict=True):
            task.set_target(mink.SE3.from_matrix(target))
        for _ in range(iterations):
            errors = [task.compute_error(configuration) for task in tasks]
            if all(np.linalg.norm(e[:3]) < tolerance[0] and np.linalg.norm(e[3:]) < tolerance[1] for e in errors):
                break
            v = mink.solve_ik(configuration, tasks, 1.0, solver="daqp", limits=bounds, safety_break=False)
            configuration.integrate_inplace(v, 1.0)
        return unpack(configuration.q)

    def solve(targets):
        configuration.update(pack(start))
        return iterate(targets, 100)

    configuration.update(pack(start))

    def track(targets):
        return iterate(targets, 1)

    return {"solve": solve, "track": track}


def _urdf_for_mujoco(text: str) -> str:
    """MuJoCo merges links that cannot move into their parents unless asked not to, and then the tip has no name."""
    compiler = (
        '<mujoco><compiler fusestatic="false" balanceinertia="true" boundmass="1e-6" boundinertia="1e-9"/></mujoco>'
    )
    return text.replace("</robot>", compiler + "</robot>")
