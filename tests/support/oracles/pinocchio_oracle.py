"""A robot in Pinocchio's conventions, and what Pinocchio says about it in ours.

Pinocchio differs: quaternions (x, y, z, w); a continuous joint of a URDF is (cos, sin); a planar joint is
(x, y, cos, sin) with its velocity in the child frame; mimic joints are joints of their own here; a screw is a turn
and a slide that are coupled in `q` and `B`.
With w Pinocchio's velocity, w = B(q) v and dw/dt = B a + dB/dt v, so that J = J_pin B and M = B' M_pin B.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robokin_addon.robokin import Joint, RobotModel
from robokin_addon.robokin.model.joint_types import plane_basis

REFERENCES = {
    "world": pin.ReferenceFrame.WORLD,
    "local": pin.ReferenceFrame.LOCAL,
    "local_world_aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}


class Oracle:
    """`model`: our robot; `pin_model`: the same robot of Pinocchio with the same joint and link names."""

    def __init__(self, model: RobotModel, pin_model: pin.Model) -> None:
        self.model, self.pin_model, self.data = model, pin_model, pin_model.createData()

    @classmethod
    def from_urdf(cls, model: RobotModel, path: object) -> Oracle:
        roots = {"floating": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar}
        root = [roots[model.root]()] if model.root in roots else []
        return cls(model, pin.buildModelFromUrdf(str(path), *root))

    @classmethod
    def from_model(cls, model: RobotModel) -> Oracle:
        return cls(model, _build(model))

    # -- conversions -----------------------------------------------------------------------------------------------

    def q(self, q: np.ndarray) -> np.ndarray:
        q_pin, values = pin.neutral(self.pin_model), self.model.joint_values(q)
        for joint, _, kind in self._joints():
            value = np.atleast_1d(values[joint.name])
            if joint.type in ("planar", "wheeled"):
                value = np.array([value[0], value[1], np.cos(value[2]), np.sin(value[2])])
            elif joint.type == "screw":
                value = np.array([value[0], joint.pitch * value[0]])
            elif joint.nq != joint.nv:
                value = np.concatenate((value[:-4], value[-3:], value[-4:-3]))
            elif kind.nq == 2 and kind.nv == 1:
                value = np.array([np.cos(value[0]), np.sin(value[0])])
            q_pin[kind.idx_q : kind.idx_q + kind.nq] = value
        return q_pin

    def B(self, q: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """(nv_pin, nv) B(q); with v its time derivative instead."""
        B = np.zeros((self.pin_model.nv, self.model.nv))
        for joint, slot, kind in self._joints():
            block = np.eye(kind.nv, joint.nv) if v is None else np.zeros((kind.nv, joint.nv))
            if joint.type == "screw" and v is None:
                block[1] = joint.pitch
            if joint.mimic is not None:
                block = block * self.model.mimic_map(joint.name)[0]
            if joint.type in ("planar", "wheeled"):
                angle = q[slot.q][2]
                c, s = np.cos(angle), np.sin(angle)
                turned = np.array([[c, s], [-s, c]])
                block[:2, :2] = turned if v is None else np.array([[-s, c], [-c, -s]]) * v[slot.v][2]
            B[kind.idx_v : kind.idx_v + kind.nv, slot.v] += block
        return B

    def _joints(self):
        for joint, slot in zip(self.model.joints, self.model.slots, strict=True):
            if joint.nv:
                index = self.pin_model.getJointId(joint.name)
                assert index < self.pin_model.njoints, f"Pinocchio has no joint {joint.name!r}"
                yield joint, slot, self.pin_model.joints[index]

    # -- quantities ------------------------------------------------------------------------------------------------

    def frames(self, q: np.ndarray) -> dict[str, np.ndarray]:
        pin.framesForwardKinematics(self.pin_model, self.data, self.q(q))
        return {name: self.data.oMf[self._frame(name)].homogeneous for name in self.model.link_names}

    def frame_jacobian(self, q: np.ndarray, link: str, reference: str) -> np.ndarray:
        frame = self._frame(link)
        J = pin.computeFrameJacobian(self.pin_model, self.data, self.q(q), frame, REFERENCES[reference])
        return J @ self.B(q)

    def frame_motion(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
        """(6,), (6,) twist and classical acceleration of the link's origin in the axes of the root frame."""
        B, frame, axes = self.B(q), self._frame(link), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        pin.forwardKinematics(self.pin_model, self.data, self.q(q), B @ v, B @ a + self.B(q, v) @ v)
        twist = pin.getFrameVelocity(self.pin_model, self.data, frame, axes).vector
        return twist, pin.getFrameClassicalAcceleration(self.pin_model, self.data, frame, axes).vector

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.pin_model, self.data, self.q(q)).copy()
        M = np.triu(M) + np.triu(M, 1).T
        return self.B(q).T @ M @ self.B(q)

    def inverse_dynamics(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, gravity=(0.0, 0.0, -9.81)) -> np.ndarray:
        self.pin_model.gravity.linear = np.array(gravity)
        B = self.B(q)
        tau = pin.rnea(self.pin_model, self.data, self.q(q), B @ v, B @ a + self.B(q, v) @ v)
        return B.T @ tau

    def effort_derivatives(self, q, v, a, gravity) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(nv, nv) of inverse dynamics along displacements of q, along v and along a; of robots whose B is constant."""
        self.pin_model.gravity.linear, B = np.array(gravity), self.B(q)
        found = pin.computeRNEADerivatives(self.pin_model, self.data, self.q(q), B @ v, B @ a)
        by_q, by_v, by_a = (np.array(each) for each in found)
        by_a = np.triu(by_a) + np.triu(by_a, 1).T
        return B.T @ by_q @ B, B.T @ by_v @ B, B.T @ by_a @ B

    def center_of_mass(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio leaves out what is fixed to the world: compare robots on a moving base."""
        return pin.centerOfMass(self.pin_model, self.data, self.q(q)).copy()

    def center_of_mass_jacobian(self, q: np.ndarray) -> np.ndarray:
        return pin.jacobianCenterOfMass(self.pin_model, self.data, self.q(q)) @ self.B(q)

    def _frame(self, link: str) -> int:
        frame = self.pin_model.getFrameId(link, pin.FrameType.BODY)
        assert frame < self.pin_model.nframes, f"Pinocchio has no link {link!r}"
        return frame


def _build(model: RobotModel) -> pin.Model:
    result = pin.Model()
    carrier: dict[str, tuple[int, pin.SE3]] = {}  # link -> Pinocchio's joint and T_joint_link
    for joint, link in zip(model.joints, model.links, strict=True):
        index, T = carrier[joint.parent] if joint.parent else (0, pin.SE3.Identity())
        T = T * pin.SE3(np.array(joint.placement))
        if joint.nv:
            kind, T_turn = _pin_joint(joint)
            index = result.addJoint(index, kind, T * T_turn, joint.name)
            T = T_turn.inverse()
        carrier[link.name] = index, T
        result.appendBodyToJoint(index, pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia)), T)
        result.addBodyFrame(link.name, index, T, 0)
    return result


def _pin_joint(joint: Joint) -> tuple[object, pin.SE3]:
    """Pinocchio's joint, and the rotation from our joint frame to the one it moves in."""
    same = pin.SE3.Identity()
    axis = np.array(joint.axis)
    match joint.type:
        case "revolute" | "continuous":
            return pin.JointModelRevoluteUnaligned(axis), same
        case "prismatic":
            return pin.JointModelPrismaticUnaligned(axis), same
        case "planar" | "wheeled":
            u, w = plane_basis(axis)
            return pin.JointModelPlanar(), pin.SE3(np.column_stack((u, w, axis)), np.zeros(3))
        case "floating":
            return pin.JointModelFreeFlyer(), same
        case "screw" | "cylindrical":
            return _composite(pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)), same
        case "universal" | "gimbal":
            axes = joint.axes if joint.axes is not None else np.eye(3)[["XYZ".index(axis) for axis in joint.order]]
            return _composite(*(pin.JointModelRevoluteUnaligned(np.array(axis)) for axis in axes)), same
        case "spherical":
            return pin.JointModelSpherical(), same
        case other:
            raise ValueError(f"no Pinocchio joint for {other!r}")


def _composite(*parts: object) -> pin.JointModelComposite:
    result = pin.JointModelComposite()
    for part in parts:
        result.addJoint(part, pin.SE3.Identity())
    return result
