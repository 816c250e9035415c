"""Find what is wrong with a motion: a joint that is too fast, one beyond its limit, a target that is missed."""

from pathlib import Path

import numpy as np
from robokin_addon.robokin import forward_kinematics, load_urdf
from robokin_addon.solvers import Motion, PositionTask, Status, check_motion

model = load_urdf(Path(__file__).with_name("arm.urdf"))

times = np.linspace(0, 1, 11)
q = np.zeros((11, model.nq))
q[:, 0] = 1.2 * np.sin(np.pi * times)  # turns there and back
q[:, 2] = -0.8
q[6:, 3] = 0.12  # the pen leaps out, farther than it can

q_start = forward_kinematics(model, q[0])["pen"][:3, 3]
check = check_motion(Motion.of(model, times, q), [PositionTask("pen", q_start, tolerance=0.01)])

print(check.summary())
worst = {}
for each in check.violations:
    name = (each.joint, each.kind)
    if name not in worst or abs(each.value) > abs(worst[name].value):
        worst[name] = each
for (joint, kind), each in worst.items():
    print(f"  {joint} {kind}: {abs(each.value):.2f} {each.unit} at frame {each.frame}, limit {each.limit:.2f}")
print("frames at the target:", [frame for frame, status in enumerate(check.statuses) if status == Status.CONVERGED])
