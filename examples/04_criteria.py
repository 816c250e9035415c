"""One target, many poses: a criterion says which one to take."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import PositionTask, solve_ik
from robokin_addon.solvers.criteria import GravityTorque, JointSprings, Manipulability

model = library_robot("panda")
q0 = model.configuration({"joint_2": 0.6, "joint_4": -1.0, "joint_6": 1.8})
place = PositionTask("tool", [0.45, 0.1, 0.5])
middle = 0.5 * (model.lower + model.upper)

print("criterion        cost      farthest from mid-range")
for criterion in (None, JointSprings(), Manipulability(), GravityTorque()):
    found = solve_ik(model, [place], q0, criteria=[criterion] if criterion else [])
    assert found.converged
    error = np.linalg.norm(forward_kinematics(model, found.q)["tool"][:3, 3] - place.target[:3, 3])
    assert error < 1e-5
    share = np.abs(found.q - middle) / (0.5 * (model.upper - model.lower))
    name, cost = next(iter(found.costs.items()), ("none", 0.0))
    print(f"{name:15} {cost:7.3f}  {100 * share.max():5.1f} % of the way to a limit, optimal: {bool(found.is_optimal)}")
