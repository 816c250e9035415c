"""What says the same, and tasks and criteria that are made again of the same settings."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np
import pytest
from robokin_addon.robokin import TaskError
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.robokin.library import library_robot
from robokin_addon.robokin.model.tree import axis_to_z
from robokin_addon.solvers import (
    AdvanceTask,
    AimTask,
    AlongCurveTask,
    AxisTask,
    CenterOfMassTask,
    Curve,
    DistanceTask,
    JointTask,
    JointVelocityTask,
    LaserTask,
    LinearVelocityTask,
    LoopClosureTask,
    MeshSurface,
    OnCurveTask,
    OnLineTask,
    OnPlaneTask,
    OrientationTask,
    PinTask,
    Plane,
    PoseTask,
    PositionTask,
    PostureTask,
    RelativePoseTask,
    SupportTask,
    Task,
    TwistTask,
)
from robokin_addon.solvers.alike import MOST_NUMBERS, content, exactly, frozen, is_plain
from robokin_addon.solvers.criteria import Criterion, FarFromObstacles, JointSprings, RestPosture
from robokin_addon.solvers.fixed_arrays import MOST_KNOWN, MOST_TARGETS, _settings_of, settings
from support.random_problems.criterion_kinds import KINDS

T, P = np.eye(4), np.array([0.1, 0.2, 0.3])
OFFSET = T.copy()
OFFSET[:3, 3] = P
COLLISIONS = CollisionModel(library_robot("panda"), [Obstacle("ball", Sphere(0.1), T)])
Z, SQUARE = (0.0, 0.0, 1.0), [[0, 0], [1, 0], [1, 1], [0, 1]]
LINE = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]

# Of one kind each, twice with equal arguments of other objects, then with other settings.
Makers = tuple[Callable[[], Task | Criterion], Callable[[], Task | Criterion]]
MAKERS: dict[str, Makers] = {
    "pose": (lambda: PoseTask("tool", T, offset=OFFSET.copy()), lambda: PoseTask("tool", T)),
    "position": (lambda: PositionTask("tool", P, [1, 1, 0]), lambda: PositionTask("tool", P, [1, 0, 1])),
    "orientation": (lambda: OrientationTask("tool", T[:3, :3]), lambda: OrientationTask("link", T[:3, :3])),
    "axis": (lambda: AxisTask("tool", [0, 0, 1], P), lambda: AxisTask("tool", [0, 1, 0], P)),
    "pin": (lambda: PinTask("tool", None, np.ones(3)), lambda: PinTask("tool", None, np.full(3, 2.0))),
    "centre": (lambda: CenterOfMassTask(P, (1.0, 1.0, 0.0)), lambda: CenterOfMassTask(P, (1.0, 0.0, 1.0))),
    "support": (lambda: SupportTask(SQUARE, 0.1, [0, 0, 1]), lambda: SupportTask(SQUARE, 0.1, [0, 1, 1])),
    "posture": (lambda: PostureTask({"a": 1.0}, {"a": 2.0}), lambda: PostureTask({"a": 1.0}, {"a": 3.0})),
    "joint": (lambda: JointTask("a", 1.0), lambda: JointTask("b", 1.0)),
    "relative": (lambda: RelativePoseTask("tool", "link", T), lambda: RelativePoseTask("tool", "base", T)),
    "loop": (lambda: LoopClosureTask("tool", "link"), lambda: LoopClosureTask("tool", "link", correction=0.5)),
    "twist": (lambda: TwistTask("tool", [0.0] * 6), lambda: TwistTask("tool", [0.0] * 6, frame="tip")),
    "advance": (lambda: AdvanceTask("tool", P, [1, 1, 0]), lambda: AdvanceTask("tool", P)),
    "plane": (lambda: OnPlaneTask("tool", (P, Z)), lambda: OnPlaneTask("tool", (P, Z), "above")),
    "line": (lambda: OnLineTask("tool", (P, Z), [1, 2, 3]), lambda: OnLineTask("tool", (P, Z), [1, 2, 4])),
    "curve": (lambda: OnCurveTask("tool", LINE), lambda: OnCurveTask("tool", LINE, priority=2)),
    "along": (lambda: AlongCurveTask("tool", list(LINE), 1.0), lambda: AlongCurveTask("tool", LINE[::-1], 1.0)),
    "distance": (lambda: DistanceTask("tool", 0.3), lambda: DistanceTask("tool", 0.3, "link")),
    "aim": (lambda: AimTask("tool", [0, 0, 1], P), lambda: AimTask("tool", [0, 0, 1], P, name="eye")),
    "laser": (lambda: LaserTask("tool", Z, P, Plane(P, Z)), lambda: LaserTask("tool", Z, P, Plane(2 * P, Z))),
    "laser on a mesh": (
        lambda: LaserTask("tool", Z, P, MeshSurface(np.eye(3), [[0, 1, 2]])),
        lambda: LaserTask("tool", Z, P, MeshSurface(np.eye(3), [[0, 2, 1]])),
    ),
    "joint velocity": (lambda: JointVelocityTask({"a": 1.0}), lambda: JointVelocityTask({"a": 1.0}, influence=0.5)),
    "linear": (lambda: LinearVelocityTask(np.eye(2)), lambda: LinearVelocityTask(np.eye(3))),
    "springs": (lambda: JointSprings({"a": 2.0}), lambda: JointSprings({"a": 3.0})),
    "rest": (lambda: RestPosture(np.ones(3)), lambda: RestPosture(np.zeros(3))),
    "far from obstacles": (lambda: FarFromObstacles(COLLISIONS), lambda: FarFromObstacles(COLLISIONS, 0.2)),
    **{kind: (make, lambda make=make: make(weight=2.0)) for kind, make in KINDS.items()},  # type: ignore[misc]
}


@pytest.mark.parametrize("kind", MAKERS)
def test_parts_are_alike_when_all_but_their_targets_is(kind: str) -> None:
    make, other = MAKERS[kind]
    first, again, different = make(), make(), other()
    assert settings(first) == settings(again)
    assert settings(first) != settings(different)
    assert vars(again).keys() == vars(first).keys()


@pytest.mark.parametrize("kind", sorted(MAKERS.keys() - {"along", "laser on a mesh", "far from obstacles"}))
def test_settings_of_words_and_numbers_are_checked_once(kind: str) -> None:
    make, _ = MAKERS[kind]
    assert settings(make()) is settings(make())


def test_a_target_is_not_what_another_one_has() -> None:
    for make in (lambda p: PositionTask("tool", p), lambda p: CenterOfMassTask(p), lambda p: AimTask("tool", Z, p)):
        first, second = make(P), make(2.0 * P)
        assert not np.array_equal(first.target, second.target)
        with pytest.raises(TaskError, match="target"):
            make([np.nan, 0.0, 0.0])


def test_a_target_that_says_what_a_recent_one_said_is_that_one() -> None:
    """So a step with tasks made anew aims at what it aims at already."""
    makers: list[Callable[[float], Task]] = [
        lambda x: PositionTask("tool", [x, 0.0, 0.0]),
        lambda x: PoseTask("tool", T + x * np.eye(4, k=3)),
        lambda x: OnPlaneTask("tool", ((x, 0, 0.0), np.array(Z))),
        lambda x: DistanceTask("tool", x),
        lambda x: SupportTask([[0.0, 0.0], [1.0, 0.0], [1.0, x]]),
        lambda x: PostureTask({"a": x, "b": 1.0}),
        lambda x: JointVelocityTask({"ball": [x, 0.0, 1.0]}),
        lambda x: JointTask("a", target=x),
    ]
    _settings_of.cache_clear()  # other tests may have had targets of these settings
    for make in makers:
        make(0.9)  # the settings
        first, other = make(0.1).target, make(0.2).target
        assert make(0.1).target is first
        assert make(0.2).target is other
        assert content(first) != content(other)
        for k in range(2 * MOST_TARGETS):
            assert content(make(1.0 + k).target) == content(make(1.0 + k).target) != content(first)
        assert make(0.1).target is not first  # it is not kept for ever
        assert content(make(0.1).target) == content(first)


def test_large_targets_are_not_kept() -> None:
    """As the corners of a mesh, of which each frame of an animation has others."""
    point = [0.5, 0.0, 1.0]
    some = MOST_NUMBERS // 3
    for few in (
        np.zeros(MOST_NUMBERS),
        [0.5] * MOST_NUMBERS,
        [point] * some,
        dict.fromkeys(map(str, range(some)), 0.5),
    ):
        assert exactly(few) is not None
    many = MOST_NUMBERS + 1
    for large in (np.zeros((many, 3)), [0.5] * many, [point] * many, ([point] * some, [point] * some)):
        assert exactly(large) is None
    for large in ({str(k): 0.5 for k in range(many)}, {"a": [0.5] * many}, [[]] * many, [[point] * some] * 2):
        assert exactly(large) is None
    points = np.random.default_rng(0).normal(size=(many, 3))
    made = [OnCurveTask("tool", points).target for _ in range(2)]
    assert made[0] is not made[1] and content(made[0]) == content(made[1])


def test_what_is_another_target_to_the_last_bit() -> None:
    same = [(0.0, 1.0, 2.0), [0.0, 1.0, 2.0], np.arange(3.0), {"a": 0.0}, ((0, 0.0), np.zeros(2)), 0.5, 3]
    for each in same:
        assert exactly(copy.deepcopy(each)) == exactly(each) is not None
        hash(exactly(each))
    pairs: list[tuple[object, object]] = [
        (0.0, -0.0),
        ((0.0, 1.0), (-0.0, 1.0)),
        ((0.0, 1.0), [0.0, 1.0]),
        (np.zeros(4), np.zeros((2, 2))),
        ({"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 2.0}),
        ({"a": 1.0}, {"a": [1.0]}),
        ({"a": 1.0}, ("a", 1.0)),
        (((1.0,), (2.0,)), ((1.0, 2.0),)),
    ]
    for one, other in pairs:
        assert exactly(one) != exactly(other)
    for unknown in (True, None, "a", np.float64(1.0), np.zeros(3, np.float32), Plane(P, Z), (1.0, None), {"a": "b"}):
        assert exactly(unknown) is None
    PositionTask("tool", (1.0, 0.0, 1.0))
    for wrong in ((1.0, 0.0, "1"), (1.0, 0.0), (np.nan, 0.0, 1.0)):
        for _ in range(2):
            with pytest.raises(TaskError, match="PositionTask of tool: target position"):
                PositionTask("tool", wrong)


def test_a_target_is_not_written_into() -> None:
    """A problem would not see it, and other tasks may have the same one."""

    def arrays(value: object) -> list[np.ndarray]:
        if isinstance(value, np.ndarray):
            return [value]
        parts = value if isinstance(value, tuple) else vars(value).values() if hasattr(value, "__dict__") else ()
        return [array for part in parts for array in arrays(part)]

    for kind in ("advance", "plane", "line", "distance", "laser", "support", "curve", "along", "pose"):
        make, _ = MAKERS[kind]
        for task in (make(), make()):
            assert isinstance(task, Task)
            assert arrays(task.target)
            assert not any(array.flags.writeable for array in arrays(task.target)), kind
    task = OnPlaneTask("tool", (P, Z))
    task.target = (P, Z)
    with pytest.raises(ValueError, match="read-only"):
        task.target[0][2] = 1.0


def test_what_is_set_on_one_is_not_set_on_others() -> None:
    first, second = PositionTask("tool", P), PositionTask("tool", P)
    first.priority, first.position_weights = 2, 5.0  # type: ignore[assignment]
    third = PositionTask("tool", P)
    for task in (second, third):
        assert (task.priority, task.position_weights.tolist()) == (1, [1.0, 1.0, 1.0])
        assert settings(task) != settings(first)
    first.priority, first.position_weights = 1, 1.0  # type: ignore[assignment]
    assert settings(third) == settings(first)


def test_arguments_that_change_are_looked_at_again() -> None:
    weights, offset, stiffness = [1.0, 1.0, 0.0], T.copy(), {"a": 1.0}
    PositionTask("tool", P, weights, offset=offset)
    JointSprings(stiffness)
    weights[0], offset[0, 3], stiffness["a"] = 3.0, 0.5, 2.0
    task = PositionTask("tool", P, weights, offset=offset)
    assert task.position_weights.tolist() == [3.0, 1.0, 0.0]
    assert task.offset[0, 3] == 0.5
    assert JointSprings(stiffness).stiffness == {"a": 2.0}


@pytest.mark.parametrize("wrong", [True, 1.0, np.float64(1.0)])
def test_numbers_of_another_type_are_checked_by_themselves(wrong: object) -> None:
    """Though True == 1.0 == 1."""
    PoseTask("tool", T, priority=1)
    with pytest.raises(TaskError, match="priority"):
        PoseTask("tool", T, priority=wrong)  # type: ignore[arg-type]


def test_classes_of_other_makers_are_made_by_themselves() -> None:
    class Watched(SupportTask):
        def __setattr__(self, name: str, value: object) -> None:
            was_set.append(name)
            super().__setattr__(name, value)

    class Named(PoseTask):
        def __init__(self, number: int) -> None:
            self.number = number
            super().__init__("tool", T)

    was_set: list[str] = []
    first, second = Watched(SQUARE), Watched(SQUARE)
    assert settings(first) != settings(second)
    assert was_set[: len(was_set) // 2] == was_set[len(was_set) // 2 :] != []
    assert [Named(k).number for k in range(3)] == [0, 1, 2]


def test_what_a_base_class_knows_is_not_all() -> None:
    class Lifted(PositionTask):
        __module__ = PositionTask.__module__  # as one of our own

        def __init__(self, height: float) -> None:
            self.height = height
            super().__init__("tool", P)

    assert [Lifted(height).height for height in (1.0, 2.0)] == [1.0, 2.0]
    axes = [AxisTask("tool", axis, Z).axis.tolist() for axis in ((0, 1, 0), (1, 0, 0), (0, 1, 0))]
    assert axes == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]


def test_settings_are_not_kept_for_ever() -> None:
    from robokin_addon.solvers import fixed_arrays

    for k in range(2 * MOST_KNOWN):
        PoseTask(f"link {k}", T)
    assert 0 < fixed_arrays._settings_of.cache_info().currsize <= MOST_KNOWN


def test_planes_with_the_same_numbers_are_one() -> None:
    plane = Plane(P, [0, 0, 2])
    assert plane == Plane(P.tolist(), Z)
    assert hash(plane) == hash(Plane(P, Z))
    assert plane != Plane(P, [0, 1, 0])
    assert plane != (P, Z)
    with pytest.raises(AttributeError):
        plane.point = P  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        plane.normal[0] = 1.0


def test_what_says_the_same() -> None:
    assert content(Curve(LINE)) == content(Curve(LINE))
    assert content(Curve(LINE)) != content(Curve(LINE[::-1]))
    assert content(np.zeros(3)) != content(np.zeros((3, 1)))
    assert content(np.float64(0.5)) == content(0.5)
    assert content(len) == content(len)
    assert content(lambda: 1) != content(lambda: 1)
    assert frozen([1, 2.0]) == frozen([1.0, 2]) != frozen([1, 3.0])
    assert frozen(np.zeros(2)) == frozen(np.zeros(2)) != frozen(np.zeros((2, 1)))
    assert hash(frozen({"a": 1.0})) == hash(frozen({"a": 1.0}))
    assert all(map(is_plain, ("a", 1, None, (1, 2.0), frozen([1]), frozen({"a": 1}), frozen(T), Plane(P, Z))))
    assert not any(map(is_plain, ([1], [[1]], {}, (1, True), len, Curve(LINE), frozen([[1]]))))
    many = MOST_NUMBERS + 1
    assert not any(map(is_plain, (frozen(np.zeros(many)), frozen([0] * many), (0,) * many)))
    assert not is_plain(frozen(dict.fromkeys(range(many), 0)))


def test_criteria_refuse_a_target_each_time() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="target"):
            JointSprings(target=1.0)  # type: ignore[call-arg]


def test_directions_alike_to_the_last_bit_share_one_array_that_nobody_changes() -> None:
    down, other = axis_to_z(np.array((0.0, 0.0, -1.0))), axis_to_z(np.array((0.0, -0.0, -1.0)))
    assert axis_to_z((0, 0, -1)) is down  # type: ignore[arg-type]
    assert other is not down  # a history of calls changes no sign of a zero
    with pytest.raises(ValueError, match="read-only"):
        down[0, 0] = 2.0
