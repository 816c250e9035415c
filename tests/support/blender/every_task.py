"""One task of each kind that asks for a pose, for any robot, and not met where it stands."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import RobotModel, forward_kinematics
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    CenterOfMassTask,
    DistanceTask,
    LaserTask,
    LoopClosureTask,
    MeshSurface,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    PinTask,
    Plane,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
)
from robokin_addon.solvers.tasks.tips.advance import Advance

from support.random_problems.random_trees import random_placement


def every_task(rng: np.random.Generator, model: RobotModel, q: np.ndarray, away: np.ndarray) -> dict[str, Task]:
    """By name; tasks that the configuration `away` meets, or nearly so, as seen from q."""
    links = rng.permutation(model.link_names[1:])
    link, other = str(links[0]), str(links[-1])
    offset, other_offset = random_placement(rng, 0.2), random_placement(rng, 0.2)
    there = forward_kinematics(model, away)
    T = there[link] @ offset
    p, point = T[:3, 3], offset[:3, 3]
    a, normal = rng.normal(size=3), rng.normal(size=3)
    a, normal = a / np.linalg.norm(a), normal / np.linalg.norm(normal)
    mass = model.total_mass > 0.0
    c = T[:3, 3] + T[:3, :3] @ a  # a point ahead of the tip
    plane = Plane(c, normal)
    curve = p + np.cumsum(rng.normal(size=(6, 3)), axis=0) * 0.3
    other_T = there[other] @ other_offset
    tasks = {
        "aim": AimTask(link, a, c, offset=offset),
        "aim in a cone": AimTask(link, a, c, offset=offset, band=1e-3),
        "advance": AdvanceTask(link, Advance(rng.normal(size=3) * 0.1, T), (1.0, 0.5, 0.0), offset=offset),
        "advance in the world": AdvanceTask(link, Advance(rng.normal(size=3) * 0.1, T), frame="world"),
        "plane": OnPlaneTask(link, (p, normal), point=point),
        "above a plane": OnPlaneTask(link, (p, normal), "above", point),
        "line": OnLineTask(link, (p, normal), point),
        "near a line": OnLineTask(link, (p, normal), point, band=1e-3),
        "curve": OnCurveTask(link, curve, point=point),
        "closed curve": OnCurveTask(link, curve, True, point, band=1e-3),
        "distance": DistanceTask(link, 0.5, other_point=c, point=point),
        "distance of links": DistanceTask(link, 0.3, other, other_offset[:3, 3], "inside", point),
        "no distance": DistanceTask(link, 0.0, other, other_offset[:3, 3], "equal", point),
        "laser on a plane": LaserTask(link, a, c, plane, offset=offset),
        "laser on a mesh": LaserTask(link, a, c, sphere(c, 0.7), offset=offset),
        "relative pose": RelativePoseTask(
            link, other, np.linalg.inv(other_T) @ T, (1.0, 0.0, 2.0), 1.0, offset, other_offset
        ),
        "relative position": RelativePoseTask(link, other, np.linalg.inv(other_T) @ T, 1.0, 0.0, offset, other_offset),
        "loop closure": LoopClosureTask(link, other, offset, other_offset, 1.0, (1.0, 1.0, 0.0)),
        "posture": PostureTask(away),
        "pin": PinTask(link, T, 1.0, (0.0, 1.0, 2.0), offset),
    }
    if mass:
        tasks["center of mass"] = CenterOfMassTask(rng.normal(size=3), (1.0, 2.0, 0.0), band=1e-3)
        tasks["support"] = SupportTask(rng.normal(size=(6, 2)), 0.01, normal)
    return tasks


def sphere(center: np.ndarray, radius: float, rings: int = 12) -> MeshSurface:
    """Triangles of a sphere."""
    theta, phi = np.meshgrid(np.linspace(0.0, np.pi, rings), np.linspace(0.0, 2 * np.pi, 2 * rings), indexing="ij")
    points = np.stack((np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)), axis=-1)
    at = np.arange(points[..., 0].size).reshape(theta.shape)
    a, b, c, d = at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]
    faces = np.concatenate([np.stack(three, axis=-1).reshape(-1, 3) for three in ((a, b, c), (a, c, d))])
    return MeshSurface(center + radius * points.reshape(-1, 3), faces)
