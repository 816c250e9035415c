"""Which limit keeps moves from being faster, at each moment."""

from __future__ import annotations

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.solvers import Move, run_moves
from robokin_addon.solvers.program.bindings import KINDS, binding_labels
from robokin_addon.solvers.program.run import PartOfMotion
from robokin_addon.solvers.retiming.timing import Retimed
from robokin_addon.solvers.trajectories.motion_limits import MotionLimits

PANDA = library_robot("panda")
START = PANDA.limits.middle(PANDA.neutral())
HAND = forward_kinematics(PANDA, START)["tool"][:3, 3]


def test_what_binds_is_at_its_limit_and_nothing_else_is_named() -> None:
    """A joint move at half speed, a rest, two lines of which the first goes over into the second, a keyed one."""
    ways = ((0.0, 0.1, -0.1), (0.0, -0.1, -0.1), (0.1, 0.0, 0.0))
    points = HAND + np.cumsum(ways, axis=0)
    lines = [{"kind": "line", "tip": "tool", "position": point.tolist()} for point in points]
    moves = [
        Move("there", joints={"joint_2": START[1] + 0.6}, speed=0.5, wait=0.4),
        Move("back", joints={"joint_2": START[1]}),
        Move("line", **lines[0], blend=0.03),
        Move("on", **lines[1]),
        Move("keyed", **lines[2], progress=((0.0, 0.0), (3.0, 0.5), (6.0, 1.0))),
    ]
    done = run_moves(PANDA, moves, START)
    ends = np.cumsum([part.duration + move.wait for move, part in done])
    times = np.linspace(0.0, ends[-1] + 0.1, 400)
    labels = binding_labels(done, times)
    seen = set()
    for t, label in zip(times, labels, strict=True):
        at = int(np.searchsorted(ends, t, side="right"))
        own = t - (ends[at - 1] if at else 0.0)
        if at == len(ends) or own >= done[at][1].duration:
            assert label is None
            continue
        move, part = done[at]
        if move.name == "keyed":
            assert label == ("animation", "")
            continue
        assert label is not None
        seen.add((at, label[0]))
        if at > 1:
            assert isinstance(part, PartOfMotion) and isinstance(part.whole, Retimed)
            now = min(part.start + own, part.whole.duration)
            (binding,) = part.whole.binding_at(np.array([now]))
            assert label == (binding.kind, binding.joint)
            continue
        assert label[1] == "joint_2"
        bound = MotionLimits.of(PANDA).slower(move.speed).rows[1]
        values = [each[1] for each in (*part.sample(own)[1:], part.jerk(own))]
        kind = KINDS.index(label[0])
        assert abs(values[kind]) > 0.999 * bound[kind]
    assert {(0, "acceleration"), (0, "jerk"), (1, "jerk")} <= seen and {at for at, _ in seen} == {0, 1, 2, 3}
