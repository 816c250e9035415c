"""RoboComp's solver: Levenberg and Marquardt's damped least squares, with weights, locked motors, and a stiff wrist."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot, random_configuration
from robokin_addon.solvers import solve_by

model, rng, results = library_robot("puma560"), np.random.default_rng(1), []
home, WRIST = model.limits.middle(model.neutral()), [joint.name for joint in model.moving_joints[3:]]
W = [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]  # what a meter and a radian of error count
METHODS = {
    "at once": {},
    "when executed again from home": {"again": [home]},
    "with a stiff wrist first": {"stiff": WRIST},
}
for _ in range(25):
    q0, T = random_configuration(model, rng), forward_kinematics(model, random_configuration(model, rng))["tool"]
    results.append(
        [solve_by("levenberg_marquardt", model, "tool", T, q0, weights=W, **method) for method in METHODS.values()]
    )
met = np.sum([[result.converged for result in row] for row in results], axis=0)
print("of 25 targets:", ", ".join(f"{count} {method}" for count, method in zip(met, METHODS, strict=True)))
