"""How long solves take that cannot be met: out of reach, stopped by limits, in conflict, criteria among conflicts.

`python benchmarks/failing.py [--poses 20]`. Each line is one kind of problem, drawn at random: `solve_ik` from a bent
posture, to its best pose; the mean, the 99th percentile and the worst, by the processor's time, the same of what it
takes to tell why, and the statuses. Exit code 1 when a 99th percentile is above 50 ms for the Panda or 300 ms for the
Talos.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import checkout
import numpy as np
from levels import Array, robot
from robot_files import ROBOTS

checkout.load()

from robokin_addon.robokin import RobotModel, center_of_mass, clamp, forward_kinematics, integrate  # noqa: E402
from robokin_addon.robokin.collision import Box, CollisionModel, Obstacle, Sphere  # noqa: E402
from robokin_addon.robokin.model.geometry import Geometry  # noqa: E402
from robokin_addon.solvers import (  # noqa: E402
    AxisTask,
    CenterOfMassTask,
    ClearanceTask,
    LaserTask,
    LoopClosureTask,
    MeshSurface,
    OnCurveTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
    Task,
    solve_ik,
)
from robokin_addon.solvers.criteria import (  # noqa: E402
    Criterion,
    GravityTorque,
    JointSprings,
    Manipulability,
    RestPosture,
    SmallestSingularValue,
)

REQUIRED = {"panda": 50.0, "talos": 300.0}  # [ms]
BESIDE = {"panda": "panda_link4", "talos": "arm_left_4_link"}  # a link on the way to the first tip

Draw = Callable[[RobotModel, Array, np.random.Generator, Sequence[str], str], tuple[list[Task], list[Criterion]]]


def around(model: RobotModel, q: Array, rng: np.random.Generator, displacement: float = 0.4) -> dict[str, Array]:
    """Poses of all links at a configuration around q, inside the limits."""
    return dict(forward_kinematics(model, clamp(model, integrate(model, q, displacement * rng.normal(size=model.nv)))))


def holding_tasks(model: RobotModel, q: Array, tips: Sequence[str], level: int = 1) -> list[Task]:
    """The other tips stay: of the Talos a hand and both feet, so that it cannot walk to its target."""
    T = forward_kinematics(model, q)
    return [PoseTask(tip, T[tip], priority=level) for tip in tips[1:]]


def far(model: RobotModel, q: Array, rng: np.random.Generator, tip: str, by: float) -> Array:
    """(4, 4) the tip's pose, farther out by about so much [m]."""
    T = forward_kinematics(model, q)[tip].copy()
    T[:3, 3] += 0.2 * rng.normal(size=3) + by * T[:3, 3] / np.linalg.norm(T[:3, 3])
    return T


def out_of_reach(model, q, rng, tips, _):
    return [*holding_tasks(model, q, tips), PoseTask(tips[0], far(model, q, rng, tips[0], 3.0))], []


def just_out_of_reach(model, q, rng, tips, _):
    """No certificate says so: the links are longer than the way, but not all of them can be in line."""
    return [*holding_tasks(model, q, tips), PoseTask(tips[0], far(model, q, rng, tips[0], 0.4))], []


def beyond_limits(model, q, rng, tips, _):
    """Most joints outside their limits."""
    there = q.copy()
    bounded = np.flatnonzero(np.isfinite(model.lower) & np.isfinite(model.upper) & (rng.random(model.nq) < 0.8))
    ends = np.where(rng.random(model.nq) < 0.5, model.lower - 1.0, model.upper + 1.0)
    there[bounded] = ends[bounded]
    T = forward_kinematics(model, there)[tips[0]]
    return [*holding_tasks(model, q, tips), PoseTask(tips[0], T)], []


def conflict(model, q, rng, tips, link):
    here, there = around(model, q, rng), around(model, q, rng)
    return [
        *holding_tasks(model, q, tips),
        PoseTask(tips[0], here[tips[0]]),
        PositionTask(link, there[link][:3, 3]),
    ], []


def two_levels(model, q, rng, tips, _):
    T = around(model, q, rng)[tips[0]]
    return [*holding_tasks(model, q, tips), PoseTask(tips[0], T), PostureTask(q, priority=2)], []


def three_levels(model, q, rng, tips, link):
    tasks, _ = two_levels(model, q, rng, tips, link)
    place = around(model, q, rng)[link][:3, 3]
    return [*tasks[:-1], PositionTask(link, place, priority=2), PostureTask(q, priority=3)], []


def three_levels_out_of_reach(model, q, rng, tips, link):
    tasks, _ = three_levels(model, q, rng, tips, link)
    return [*tasks[:-3], PoseTask(tips[0], far(model, q, rng, tips[0], 3.0)), *tasks[-2:]], []


def with_criteria(model, q, rng, tips, link):
    """Places only, which leave the criteria room: of the tip, of a link that it does not let there, of the mass."""
    tasks: list[Task] = [PositionTask(tip, T[:3, 3]) for tip, T in around(model, q, rng).items() if tip in tips]
    tasks.append(PositionTask(link, around(model, q, rng, 1.0)[link][:3, 3], priority=2))
    tasks.append(CenterOfMassTask(center_of_mass(model, q) + 0.1 * rng.normal(size=3), (1, 0, 0), priority=3))
    return tasks, [JointSprings(), Manipulability()]


def many_criteria(model, q, rng, tips, link):
    criteria = [JointSprings(), Manipulability(), SmallestSingularValue(), GravityTorque(), RestPosture(q)]
    return with_criteria(model, q, rng, tips, link)[0], criteria


def of_the_whole_robot(model, q, rng, tips, link):
    """On the first level some joints and the mass, whose rows criteria look at."""
    joints = {joint.name: q[model.slot(joint.name).q].tolist() for joint in model.moving_joints[-3:]}
    mass = CenterOfMassTask(center_of_mass(model, q) + 0.1 * rng.normal(size=3), (1, 1, 0))
    place = PositionTask(tips[0], around(model, q, rng, 1.0)[tips[0]][:3, 3], priority=2)
    return [PostureTask(joints), mass, place], [Manipulability(), SmallestSingularValue()]


def half_an_influence(model, q, rng, tips, link):
    tasks, _ = three_levels(model, q, rng, tips, link)
    T = around(model, q, rng, 1.0)[tips[0]]
    return [*tasks[:-3], PoseTask(tips[0], T, influence=0.5), *tasks[-2:]], [JointSprings()]


def half_an_influence_on_rows(model, q, rng, tips, link):
    return half_an_influence(model, q, rng, tips, link)[0], [Manipulability(), SmallestSingularValue()]


def several_influences(model, q, rng, tips, link):
    """At three levels, of places that most of them are asked for in vain."""
    here, there = around(model, q, rng, 1.0), around(model, q, rng, 1.0)
    pose, place, upper, mass = rng.choice([0.1, 0.3, 0.5, 0.8, 0.95, 1.0], 4)
    return [
        *holding_tasks(model, q, tips),
        PositionTask(link, there[link][:3, 3], influence=place),
        PoseTask(tips[0], here[tips[0]], influence=pose, priority=2),
        OrientationTask(link, here[link][:3, :3], influence=upper, priority=2),
        CenterOfMassTask(center_of_mass(model, q) + 0.2 * rng.normal(size=3), influence=mass, priority=3),
    ], []


def several_influences_and_criteria(model, q, rng, tips, link):
    return several_influences(model, q, rng, tips, link)[0], [Manipulability(), JointSprings()]


def line(rng: np.random.Generator, place: Array) -> Array:
    """(100, 3) a smooth curve near a place."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    return place + np.stack((np.sin(angle), np.cos(angle), angle / 6.0), axis=1) @ (0.2 * rng.normal(size=(3, 3)))


def curve_out_of_reach(model, q, rng, tips, _):
    place = far(model, q, rng, tips[0], 0.6)[:3, 3]
    across = AxisTask(tips[0], (0.0, 0.0, 1.0), rng.normal(size=3))
    return [*holding_tasks(model, q, tips), OnCurveTask(tips[0], line(rng, place)), across], [JointSprings()]


def curves_in_conflict(model, q, rng, tips, link):
    here, there = around(model, q, rng), around(model, q, rng)
    place = OnCurveTask(tips[0], line(rng, here[tips[0]][:3, 3]))
    beside = OnCurveTask(link, line(rng, there[link][:3, 3]), priority=2)
    tasks = [*holding_tasks(model, q, tips), place, OrientationTask(tips[0], here[tips[0]][:3, :3]), beside]
    return [*tasks, PostureTask(q, priority=3)], [Manipulability(), SmallestSingularValue()]


def wavy(rng: np.random.Generator, place: Array) -> MeshSurface:
    """242 triangles of a sheet of 1 m through a place."""
    x, y = (each.ravel() for each in np.meshgrid(*[np.linspace(-0.5, 0.5, 12)] * 2))
    turned = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = place + np.stack((x, y, 0.1 * np.sin(4.0 * x) * np.cos(6.0 * y)), axis=1) @ turned
    at = np.arange(144).reshape(12, 12)
    a, b, c, d = (each.ravel() for each in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    return MeshSurface(points, np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1))))


def on_mesh(surface: MeshSurface, points: Array) -> Array:
    """(m, 3) where straight lines across the sheet through points (n, 3) meet it."""
    across = surface.triangles["normal"].mean(axis=0)
    across /= np.linalg.norm(across)
    hits = [(point + across, surface.hit(point + across, -across)) for point in points]
    return np.array([above - hit[0] * across for above, hit in hits if hit is not None])


def beam_on_a_mesh(model, q, rng, tips, _):
    T = around(model, q, rng)[tips[0]]
    place = T[:3, 3] + 0.8 * rng.normal(size=3)
    beam = LaserTask(tips[0], (0.0, 0.0, 1.0), place, wavy(rng, place), priority=2)
    return [*holding_tasks(model, q, tips), PositionTask(tips[0], T[:3, 3]), beam], [JointSprings()]


def beam_on_a_curve(model, q, rng, tips, _):
    T = around(model, q, rng)[tips[0]]
    place = T[:3, 3] + 0.8 * rng.normal(size=3)
    surface = wavy(rng, place)
    curve = on_mesh(surface, line(rng, place))
    spot = OnCurveTask(tips[0], curve, direction=(0.0, 0.0, 1.0), surface=surface, priority=2)
    return [*holding_tasks(model, q, tips), PoseTask(tips[0], T), spot], [Manipulability(), JointSprings()]


@cache
def in_balls(model: RobotModel) -> RobotModel:
    """The robot with a ball of 6 cm around the origin of each link."""
    ball = (Geometry(Sphere(0.06)),)
    links = [replace(link, collisions=ball) for link in model.links]
    return RobotModel(model.name, links, model.joints[1:], model.root, model.drive)


def a_place_in_an_obstacle(model, q, rng, tips, _):
    """What touches where it starts does not count."""
    target = around(model, q, rng)[tips[0]]
    obstacles = [Obstacle("ball", Sphere(0.15), target), Obstacle("box", Box((0.3, 0.3, 0.02)), target)]
    touching = [each.names for each in CollisionModel(in_balls(model), obstacles).contacts(q[None])]
    clearance = ClearanceTask(CollisionModel(in_balls(model), obstacles, touching))
    return [*holding_tasks(model, q, tips), PositionTask(tips[0], target[:3, 3]), clearance], [JointSprings()]


def a_loop_in_conflict(model, q, rng, tips, link):
    """The first tip is closed to a link beside it, and asked for elsewhere."""
    here, there = around(model, q, rng), around(model, q, rng)
    loop = LoopClosureTask(tips[0], link, other_offset=np.linalg.inv(here[link]) @ here[tips[0]])
    place = PoseTask(tips[0], there[tips[0]])
    return [*holding_tasks(model, q, tips, 2), loop, place], [Manipulability(), JointSprings()]


def two_places_at_one_tip(model, q, rng, tips, _):
    here, there = around(model, q, rng)[tips[0]], around(model, q, rng)[tips[0]]
    across = AxisTask(tips[0], (0.0, 0.0, 1.0), here[:3, 2])
    places = [PositionTask(tips[0], each[:3, 3], priority=2) for each in (here, there)]
    return [*holding_tasks(model, q, tips), across, *places], [RestPosture(q), SmallestSingularValue()]


KINDS: dict[str, Draw] = {
    "out of reach": out_of_reach,
    "just out of reach": just_out_of_reach,
    "beyond limits": beyond_limits,
    "one level in conflict": conflict,
    "two levels in conflict": two_levels,
    "three levels in conflict": three_levels,
    "three levels, the first out of reach": three_levels_out_of_reach,
    "three levels in conflict, two criteria": with_criteria,
    "three levels in conflict, five criteria": many_criteria,
    "joints and mass, criteria on their rows": of_the_whole_robot,
    "half an influence above two levels": half_an_influence,
    "several partial influences": several_influences,
    "several partial influences, two criteria": several_influences_and_criteria,
    "a curve out of reach, springs": curve_out_of_reach,
    "curves in conflict, criteria on their rows": curves_in_conflict,
    "a beam on a mesh below a place, springs": beam_on_a_mesh,
    "a beam on a curve below a pose, two criteria": beam_on_a_curve,
    "half an influence, criteria on its rows": half_an_influence_on_rows,
    "a place in an obstacle, springs": a_place_in_an_obstacle,
    "a loop in conflict, two criteria": a_loop_in_conflict,
    "two places at one tip, two criteria": two_places_at_one_tip,
}
MOST = 10  # draws for each pose that is wanted: what can be met is not counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=20)
    arguments = parser.parse_args()
    kept = True
    for name, required in REQUIRED.items():
        model, q = robot(name)
        print(f"\n{name}, {model.nv} degrees of freedom, required {required:.0f} ms")
        print(f"  {'':40}    mean     p99   worst           why, mean     p99   worst [ms]")
        for kind, draw in KINDS.items():
            times, why, statuses = measured(model, q, draw, ROBOTS[name][1], BESIDE[name], arguments.poses)
            if not times:
                print(f"  {kind:40} all could be met")
                continue
            columns = ""
            for taken in (times, why):
                p99 = float(np.percentile(taken, 99))
                kept &= p99 <= required
                promise = "kept  " if p99 <= required else "MISSED"
                columns += f"{np.mean(taken):7.1f} {p99:7.1f} {max(taken):7.1f}   {promise}   "
            counts = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
            print(f"  {kind:40} {columns}{counts}", flush=True)
    sys.exit(0 if kept else 1)


def measured(
    model: RobotModel, q: Array, draw: Draw, tips: Sequence[str], link: str, poses: int
) -> tuple[list[float], list[float], Counter[str]]:
    """[ms] of so many solves that fail, [ms] of their diagnoses, and their statuses."""
    times: list[float] = []
    why: list[float] = []
    statuses: Counter[str] = Counter()
    for seed in range(MOST * poses):
        tasks, criteria = draw(model, q, np.random.default_rng(seed), tips, link)
        begin = time.process_time()
        found = solve_ik(model, tasks, q, criteria=criteria, diagnose=False)
        taken = time.process_time() - begin
        if not found.converged:
            found.diagnose()
            times.append(1e3 * taken)
            why.append(1e3 * (time.process_time() - begin - taken))
            statuses[str(found.status)] += 1
        if len(times) == poses:
            break
    return times, why, statuses


if __name__ == "__main__":
    main()
