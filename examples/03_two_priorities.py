"""A task of priority 2 never changes what a task of priority 1 gets."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import PoseTask, PositionTask, solve_ik

model = library_robot("panda")  # seven joints: one more than a pose needs
q0 = model.configuration({"joint_2": -0.3, "joint_4": -2.2, "joint_6": 2.0, "joint_7": 0.8})
hand = PoseTask("tool", forward_kinematics(model, q0)["tool"], name="hand")


def report(what, result):
    placed = forward_kinematics(model, result.q)
    error = np.linalg.norm(placed["tool"][:3, 3] - hand.target[:3, 3])
    side = round(placed["link_4"][1, 3], 2) + 0.0
    print(f"{what:22} {result.status:13} hand off by {1e3 * error:3.0f} mm, elbow at y = {side:.2f} m")


report("hand alone", solve_ik(model, [hand], q0))

# The elbow to the side, if it can be. Only its y counts.
for y in (0.1, 1.0):
    elbow = PositionTask("link_4", [0, y, 0], weights=[0, 1, 0], priority=2, name="elbow")
    report(f"elbow at {y} m, below", solve_ik(model, [hand, elbow], q0))

# Both in one level: neither is met.
both = [hand, PositionTask("link_4", [0, 1.0, 0], weights=[0, 1, 0], name="elbow")]
report("the same, beside", solve_ik(model, both, q0))
