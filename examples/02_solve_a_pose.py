"""Find joint values for a pose of the tool. When there are none, say why."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import PoseTask, solve_ik

model = library_robot("puma560")
start = model.configuration({"joint_2": 0.4, "joint_3": -0.9, "joint_5": 0.8})
target = forward_kinematics(model, start)["tool"].copy()
target[:3, 3] += (0.05, 0.15, -0.05)  # metres, in the axes of the base

found = solve_ik(model, [PoseTask("tool", target)], q0=start)
print(found.status)
for name, value in model.joint_values(found.q).items():
    print(f"  {name} {np.degrees(value):8.3f} deg")
reached = forward_kinematics(model, found.q)["tool"]
print("within 10 micrometres:", bool(np.linalg.norm(reached[:3, 3] - target[:3, 3]) < 1e-5))

target[:3, 3] = (2.0, 0.0, 0.0)
missed = solve_ik(model, [PoseTask("tool", target)], q0=start)
print(missed.status)
print(missed.reason)
