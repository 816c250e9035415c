"""Follow a circle frame by frame, inside the limits on speed, and write the motion to a file."""

import tempfile
from pathlib import Path

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import PoseTask, read_motion, track, write_motion

FRAMES, DT, RADIUS = 49, 1 / 24, 0.08

model = library_robot("panda")
q0 = model.configuration({"joint_2": -0.3, "joint_4": -2.2, "joint_6": 2.0, "joint_7": 0.8})
start = forward_kinematics(model, q0)["tool"]

phase = np.linspace(0, 2 * np.pi, FRAMES)
targets = np.tile(start, (FRAMES, 1, 1, 1))  # (frames, tasks, 4, 4)
targets[:, 0, 1, 3] += RADIUS * np.sin(phase)
targets[:, 0, 2, 3] += RADIUS * (1 - np.cos(phase))

result = track(model, [PoseTask("tool", start)], targets, q0=q0, dt=DT)
print(len(result), "frames,", int(result.converged.sum()), "met")

motion = result.motion  # positions, velocities and accelerations over time
share = np.abs(motion.v) / model.velocity
print(f"fastest joint: {model.moving_joints[int(share.max(0).argmax())].name}, {100 * share.max():.0f} % of its limit")

with tempfile.TemporaryDirectory() as folder:
    file = write_motion(motion, Path(folder) / "circle.csv")
    print(file.read_text().splitlines()[0])
    print("read again:", read_motion(file, model).q.shape)
