"""roboticstoolbox-python: the C++ ik_LM (method "chan", k = 0.1), which restarts within the limits by itself."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import roboticstoolbox


def chain_joints(urdf: str, tip: str) -> list[str]:
    """The moving joints from the root to `tip`: the toolbox orders the chain's coordinates so, without names."""
    above = {j.find("child").get("link"): j for j in ElementTree.parse(urdf).getroot().findall("joint")}
    names = []
    while tip in above:
        joint = above[tip]
        if joint.get("type") != "fixed":
            names.insert(0, joint.get("name"))
        tip = joint.find("parent").get("link")
    return names


def prepare(problem):
    urdf, tip = str(problem["urdf"]), str(problem["tips"][0])
    chain = roboticstoolbox.Robot.URDF(urdf).ets(end=tip)
    joints = list(problem["joints"])
    index = np.array([joints.index(name) for name in chain_joints(urdf, tip)])
    start = np.array(problem["start"])

    def solve(targets, row=start, attempts=int(problem["attempts"])):
        solution = chain.ik_LM(
            targets[0], q0=row[index], ilimit=30, slimit=attempts, tol=5e-11, joint_limits=True, method="chan", k=0.1
        )
        reached = start.copy()
        reached[index] = solution.q if solution.success else np.nan
        return reached

    last = [start]

    def track(targets):
        row = solve(targets, last[0], 1)
        if np.isfinite(row).all():
            last[0] = row
        return row

    return {"solve": solve, "track": track}
