"""The lecture on kinematics: place and roll, pitch, yaw as the state; Jacobians from derivatives of the matrices of a
Denavit-Hartenberg table; Newton's method with pseudo-inverses of too many and of too few rows."""

import numpy as np
from robokin_addon.robokin import DHRow, forward_kinematics, robot_from_dh, rpy_jacobian
from robokin_addon.solvers import solve_by
from robokin_addon.solvers.methods.dh_derivatives import dh_state

# Five axes, after Craig: R turns or P slides, alpha and a of the link before, d of this one.
TABLE = ("R", 0, 0, 0.4), ("R", -1.57, 0.1, 0), ("P", 1.57, 0, 0.3), ("R", -0.6, 0.05, 0.2), ("R", 1.2, 0, 0)
rows = [DHRow(type=k, alpha=b, a=a, d=d) for k, b, a, d in TABLE]
model = robot_from_dh(rows, "modified", tool_link="tool")

q = np.array([0.3, -0.4, 0.7, 0.2, 0.5])
s, J = dh_state(rows, q)
assert np.allclose(forward_kinematics(model, q)["tool"][:3, 3], s[:3])
assert np.allclose(J, rpy_jacobian(model, q, "tool"))
there = q + np.array([0.2, 0.1, -0.2, 0.3, -0.1])
T_target, goal, descents = forward_kinematics(model, there)["tool"], dh_state(rows, there)[0], {}
CASES = {"over-determined": ("x", "y", "z", "roll", "pitch", "yaw"), "under-determined": ("x", "y", "z")}
for name, state in CASES.items():
    result = solve_by("roll_pitch_yaw", model, "tool", T_target, q, rows=state, tolerance=1e-10)
    errors = [np.linalg.norm((dh_state(rows, q)[0] - goal)[: len(state)]) for q in result.path]
    descents[name] = errors
    print(f"{name:16}", *(f"{error:.0e}" if error > 1e-9 else "0" for error in errors))
