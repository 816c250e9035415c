"""The C kernel equals its NumPy twin, field by field: every joint type, mimic joints, real robots, batches, threads."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from robokin_addon.robokin import ConfigurationError, Joint, Link, RobotModel, load_urdf
from robokin_addon.robokin.backend import Reference, get_backend, parallel
from robokin_addon.robokin.backend import native as native_module
from robokin_addon.robokin.backend.library import model_struct
from robokin_addon.robokin.model.joint_types import JOINT_TYPES, Elementary, JointType, MotionPrimitive
from support.few import rest_slow
from support.random_problems.random_trees import ALL_TYPES, random_robot
from support.robots import robot

TOLERANCE = 1e-12
CHUNK = 32  # configurations at once, here
REAL = ("panda", "ur5_robot", "talos_full_v2", "tiago_dual", "anymal", "romeo", "pr2", "iris")


@pytest.fixture(scope="module")
def native():
    return get_backend("native")


@pytest.fixture(scope="module")
def twin():
    return get_backend("numpy")


@pytest.fixture
def every_motion(monkeypatch) -> tuple[str, ...]:
    """The joint types, with helper ones for the elementary motions that they do not use."""
    helpers = {
        "helper helical": (MotionPrimitive.HELICAL, lambda j: (Elementary(MotionPrimitive.HELICAL, j.axis, j.pitch),)),
        "helper ball": (MotionPrimitive.BALL, lambda j: (Elementary(MotionPrimitive.BALL, j.axis),)),
    }
    for name, (motion, decompose) in helpers.items():
        monkeypatch.setitem(JOINT_TYPES, name, JointType(name, name, (motion,), decompose, bounded=False))
    return (*ALL_TYPES, *helpers)


def random_configurations(model: RobotModel, rng: np.random.Generator, *lead: int) -> np.ndarray:
    q = rng.uniform(-3.0, 3.0, (*lead, model.nq))
    for start in model.tree.quaternions:
        w = rng.normal(size=(*lead, 4))
        q[..., start : start + 4] = w / np.linalg.norm(w, axis=-1, keepdims=True)
    return q


def results(backend, model: RobotModel, q, q1, v, a) -> dict[str, np.ndarray]:
    """Everything that a backend says."""
    tree = model.tree
    fields = {
        "node_placements": backend.node_placements(tree, q),
        "frame_placements": backend.frame_placements(tree, q),
        "mass_matrix": backend.mass_matrix(tree, q),
        "inverse_dynamics": backend.inverse_dynamics(tree, q, v, a),
        "inverse_dynamics, gravity askew": backend.inverse_dynamics(tree, q, v, a, np.array([1.0, -2.0, 3.0])),
        "effort_derivatives": backend.effort_derivatives(tree, q, v, a, v - a, np.array([1.0, -2.0, 3.0])),
        "integrate": backend.integrate(tree, q, v),
        "difference": backend.difference(tree, q, q1),
    }
    if model.total_mass > 0:
        fields["center_of_mass"] = backend.center_of_mass(tree, q)
        fields["center_of_mass_jacobian"] = backend.center_of_mass_jacobian(tree, q)
    for frame in range(tree.n_frames):
        for reference in Reference:
            fields[f"frame_jacobian {frame} {reference.name}"] = backend.frame_jacobian(tree, q, frame, reference)
    return fields


def assert_equal_fields(native, twin, model: RobotModel, rng: np.random.Generator, *lead: int) -> None:
    q, q1 = random_configurations(model, rng, *lead), random_configurations(model, rng, *lead)
    v, a = rng.normal(size=(2, *lead, model.nv))
    expected = results(twin, model, q, q1, v, a)
    for field, value in results(native, model, q, q1, v, a).items():
        assert value.shape == expected[field].shape, field
        assert value.dtype == np.float64, field
        scale = max(1.0, abs(expected[field]).max(initial=0.0))
        assert abs(value - expected[field]).max(initial=0.0) <= TOLERANCE * scale, field


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
@pytest.mark.parametrize("seed", rest_slow(range(8), 4))
def test_random_trees(native, twin, every_motion, seed, root):
    model = random_robot(seed, joints=14, root=root, types=every_motion)
    assert {MotionPrimitive(m) for m in model.tree.motion} == set(MotionPrimitive)
    rng = np.random.default_rng(seed)
    assert_equal_fields(native, twin, model, rng)
    assert_equal_fields(native, twin, model, rng, 5)


@pytest.mark.parametrize("types", [("fixed",), ("revolute",), ("floating",), ("helper ball",), ("helper helical",)])
@pytest.mark.parametrize("joints", [0, 1, 2])
def test_small_trees(native, twin, every_motion, types, joints):
    for root in ("fixed", "floating", "planar"):
        model = random_robot(1, joints=joints, root=root, types=types, massless=0.0)
        assert_equal_fields(native, twin, model, np.random.default_rng(joints))


@pytest.mark.parametrize("root", ["fixed", "floating"])
@pytest.mark.parametrize("name", REAL)
def test_real_robots(native, twin, name, root):
    model = load_urdf(robot(name), root=root)
    rng = np.random.default_rng(3)
    assert_equal_fields(native, twin, model, rng)
    assert_equal_fields(native, twin, model, rng, 3)


def test_a_robot_far_from_its_root_frame_keeps_its_digits(native):
    model = random_robot(5, joints=20, root="floating")
    q = random_configurations(model, np.random.default_rng(5))
    near = native.mass_matrix(model.tree, q)
    q[:3] += 1e4
    assert abs(native.mass_matrix(model.tree, q) - near).max() < 1e-10 * abs(near).max()


@pytest.mark.parametrize("name", ["native", "numpy"])
def test_what_is_far_away_costs_no_digits(name):
    """An arm of 1 + 50 * 1^2 kg m^2 beside a light slider that is far away, and on a light carriage that is."""
    backend = get_backend(name)
    links = [Link("base"), Link("arm", 50.0, [1.0, 0.0, 0.0], np.eye(3)), Link("slider", 1e-3)]
    for carrier, q in (("base", [0.3, 1e6]), ("slider", [1e6, 0.3])):
        slide = Joint("slide", "prismatic", "base", "slider", axis=[1.0, 0.0, 0.0])
        turn = Joint("turn", "revolute", carrier, "arm")
        model = RobotModel("far", links, [turn, slide])
        v = model.slot("turn").v.start
        a = np.eye(2)[v]
        assert backend.mass_matrix(model.tree, np.array(q))[v, v] == pytest.approx(51.0, rel=1e-12)
        tau = backend.inverse_dynamics(model.tree, np.array(q), np.zeros(2), a)
        assert tau[v] == pytest.approx(51.0, rel=1e-12)


@pytest.mark.parametrize("lead", [(0,), (1,), (2 * CHUNK + 7,), (2, 0, 3), (4, CHUNK)])
def test_batches(native, twin, lead, monkeypatch):
    monkeypatch.setattr(native_module, "CHUNK", CHUNK)
    model = random_robot(7, joints=6, root="floating")
    assert_equal_fields(native, twin, model, np.random.default_rng(7), *lead)


def test_batches_spread_single_rows_and_other_layouts(native, twin):
    model = random_robot(8, joints=8)
    rng = np.random.default_rng(8)
    q = random_configurations(model, rng, 6)
    v = rng.normal(size=model.nv)
    for backend in (native, twin):
        moved = backend.integrate(model.tree, q, v)
        assert moved.shape == q.shape
        assert (moved[3] == backend.integrate(model.tree, q[3], v)).all()
    every_second = np.repeat(q, 2, axis=0)[::2]
    assert not every_second.flags.c_contiguous
    assert (native.mass_matrix(model.tree, every_second) == native.mass_matrix(model.tree, q)).all()
    column_order = np.asfortranarray(q)
    assert (native.frame_placements(model.tree, column_order) == native.frame_placements(model.tree, q)).all()


def test_repeated_runs_batches_and_threads_give_the_same_bits(native, monkeypatch):
    model = load_urdf(robot("talos_full_v2"), root="floating")
    rng = np.random.default_rng(9)
    count = 3 * CHUNK + 5
    monkeypatch.setattr(native_module, "CHUNK", CHUNK)
    q, q1 = random_configurations(model, rng, count), random_configurations(model, rng, count)
    v, a = rng.normal(size=(2, count, model.nv))
    runs = {}
    for threads in (1, 4):
        monkeypatch.setattr(parallel, "thread_count", lambda threads=threads: threads)
        runs[threads] = results(native, model, q, q1, v, a)
    for field, value in runs[1].items():
        assert value.tobytes() == runs[4][field].tobytes(), field
    for i in (0, CHUNK, count - 1):
        for _ in range(2):
            for field, value in results(native, model, q[i], q1[i], v[i], a[i]).items():
                assert value.tobytes() == runs[1][field][i].tobytes(), field


def test_threads_may_share_a_tree(native):
    model = load_urdf(robot("panda"))
    q = random_configurations(model, np.random.default_rng(10), 400)
    expected = native.frame_placements(model.tree, q)

    def one(i: int) -> bool:
        return all((native.frame_placements(model.tree, q[i]) == expected[i]).all() for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(one, range(len(q))))


def test_results_are_not_overwritten_by_later_calls(native):
    model = load_urdf(robot("panda"))
    q = random_configurations(model, np.random.default_rng(11), 2)
    first = native.mass_matrix(model.tree, q[0])
    kept = first.copy()
    native.mass_matrix(model.tree, q[1])
    assert (first == kept).all()


def test_wrong_sizes_never_reach_the_kernel(native):
    model = load_urdf(robot("panda"))
    tree, q = model.tree, model.neutral()
    for wrong in (q[:-1], np.zeros(0), np.zeros((3, model.nq + 1)), np.float64(1.0), np.zeros((model.nq, 1))):
        with pytest.raises(ConfigurationError, match=f"must be {model.nq}"):
            native.frame_placements(tree, wrong)
        with pytest.raises(ConfigurationError, match=f"must be {model.nv}"):
            native.inverse_dynamics(tree, q, q, wrong)
    for frame in (-1, tree.n_frames):
        with pytest.raises(IndexError, match=f"frame {frame}"):
            native.frame_jacobian(tree, q, frame, Reference.LOCAL)


def test_a_tree_is_not_kept_alive(native):
    model = random_robot(12)
    native.mass_matrix(model.tree, random_configurations(model, np.random.default_rng(12)))
    tree, struct = weakref.ref(model.tree), weakref.ref(model_struct(model.tree))
    del model
    gc.collect()
    assert tree() is None
    assert struct() is None
