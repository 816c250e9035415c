"""The lecture on kinematics: place and roll, pitch, yaw as the state; Jacobians from derivatives of the matrices of a
Denavit-Hartenberg table; Newton's method with pseudo-inverses of too many and of too few rows."""

import numpy as np
from robokin_addon.robokin import DHRow, forward_kinematics, robot_from_dh, rpy_jacobian

# Five axes, after Craig: R turns or P slides, alpha and a of the link before, d of this one.
TABLE = ("R", 0, 0, 0.4), ("R", -1.57, 0.1, 0), ("P", 1.57, 0, 0.3), ("R", -0.6, 0.05, 0.2), ("R", 1.2, 0, 0)
model = robot_from_dh([DHRow(type=k, alpha=b, a=a, d=d) for k, b, a, d in TABLE], "modified", tool_link="tool")


def link(kind, alpha, a, d, q):
    """T of a link in the one before, and its derivative by the joint's value."""
    angle, d = (q, d) if kind == "R" else (0.0, d + q)
    c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
    T = [[c, -s, 0, a], [s * ca, c * ca, -sa, -sa * d], [s * sa, c * sa, ca, ca * d], [0, 0, 0, 1]]
    if kind == "P":
        return np.array(T), np.array([[0, 0, 0, 0], [0, 0, 0, -sa], [0, 0, 0, ca], [0, 0, 0, 0]])
    return np.array(T), np.array([[-s, -c, 0, 0], [c * ca, -s * ca, 0, 0], [c * sa, -s * sa, 0, 0], [0, 0, 0, 0]])


def state(q):
    """s = (x, y, z, roll, pitch, yaw) and J = ds/dq."""
    pairs = [link(*row, value) for row, value in zip(TABLE, q, strict=True)]
    M = np.linalg.multi_dot([T for T, _ in pairs])
    roll, yaw = np.arctan2(M[2, 1], M[2, 2]), np.arctan2(M[1, 0], M[0, 0])
    across = np.hypot(M[2, 1], M[2, 2])
    J = np.empty((6, len(q)))
    for i in range(len(q)):  # P dT/dq C
        D = np.linalg.multi_dot([*(T if k != i else dT for k, (T, dT) in enumerate(pairs)), np.eye(4)])
        J[:3, i] = D[:3, 3]
        J[3, i] = (D[2, 1] * M[2, 2] - D[2, 2] * M[2, 1]) / across**2
        J[4, i] = -D[2, 0] / across
        J[5, i] = (D[1, 0] * M[0, 0] - D[0, 0] * M[1, 0]) / (M[1, 0] ** 2 + M[0, 0] ** 2)
    return np.array([*M[:3, 3], roll, np.arctan2(-M[2, 0], across), yaw]), J


q = np.array([0.3, -0.4, 0.7, 0.2, 0.5])
placed, J = forward_kinematics(model, q)["tool"], state(q)[1]
assert np.allclose(placed[:3, 3], state(q)[0][:3]) and np.allclose(J, rpy_jacobian(model, q, "tool"))
goal, descents = state(q + np.array([0.2, 0.1, -0.2, 0.3, -0.1]))[0], {}
for name, rows in (("over-determined", slice(0, 6)), ("under-determined", slice(0, 3))):
    now, errors = q.copy(), []
    for _ in range(6):
        s, J = (part[rows] for part in state(now))
        errors.append(np.linalg.norm(s - goal[rows]))
        inverse = np.linalg.inv(J.T @ J) @ J.T if len(J) > len(now) else J.T @ np.linalg.inv(J @ J.T)
        now = now - inverse @ (s - goal[rows])
    descents[name] = errors
    print(f"{name:16}", *(f"{error:.0e}" if error > 1e-9 else "0" for error in errors))
