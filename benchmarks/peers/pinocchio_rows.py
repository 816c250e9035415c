"""Rows of the problem files as Pinocchio's configurations, and back: for the peers that stand on Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin


class Rows:
    """The problem's robot. Raises ValueError for joints that Pinocchio keeps in two coordinates."""

    def __init__(self, problem) -> None:
        urdf, joints = str(problem["urdf"]), list(problem["joints"])
        self.floating = bool(problem["floating"])
        root = (pin.JointModelFreeFlyer(),) if self.floating else ()
        self.model = pin.buildModelFromUrdf(urdf, *root)
        own = [self.model.joints[self.model.getJointId(name)] for name in joints]
        if any(joint.nq != 1 for joint in own):
            raise ValueError("only joints of one coordinate are handled")
        self.index = np.array([joint.idx_q for joint in own])

    def pack(self, row: np.ndarray) -> np.ndarray:
        q = pin.neutral(self.model)
        if self.floating:
            q[:3], q[3:7] = row[:3], row[[4, 5, 6, 3]]
        q[self.index] = row[7:] if self.floating else row
        return q

    def unpack(self, q: np.ndarray) -> np.ndarray:
        own = q[self.index]
        return np.concatenate((q[:3], q[[6, 3, 4, 5]], own)) if self.floating else own
