"""Distances of convex shapes: closed forms, coal, and what proves a distance without knowing how it was found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from robokin_addon.robokin.collision import Box, Capsule, Cylinder, Hull, Sphere, distance
from robokin_addon.robokin.collision.core import core
from robokin_addon.robokin.collision.pairs import distances
from robokin_addon.robokin.collision.reference.distances import FAR, FOUND
from robokin_addon.robokin.errors import ModelError
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from support.oracles.coal_oracle import coal, coal_distance, coal_shape
from support.problems.shapes import at, random_pair, random_shape, reach

BACKENDS = ("native", "numpy")
CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("a", "b", "place", "value"),
    [
        (Sphere(1.0), Sphere(2.0), at(4.0), 1.0),
        (Sphere(1.0), Sphere(2.0), at(), -3.0),
        (Capsule(0.5, 2.0), Sphere(0.25), at(0.0, 3.0, 4.0), np.hypot(3.0, 3.0) - 0.75),
        (Capsule(0.5, 2.0), Capsule(0.5, 2.0), at(), -1.0),
        (Capsule(0.5, 2.0), Capsule(0.25, 4.0), at(1.0, 0.0, 0.5), 0.25),
        (Capsule(0.1, 2.0), Capsule(0.2, 2.0), at(0.0, 0.0, 0.0, turn="x"), -0.3),
        (Box((2.0, 2.0, 2.0)), Box((2.0, 2.0, 2.0)), at(2.5, 2.5, 2.5), np.sqrt(0.75)),
        (Box((2.0, 2.0, 2.0)), Box((2.0, 2.0, 2.0)), at(1.5), -0.5),
        *((Box((1.0, 1.0, 1.0)), Box((1.0, 1.0, 1.0)), at(x), x - 1.0) for x in (0.0, 0.99, 1.01, 2.0)),  # coal #147
        (Box((2.0, 2.0, 2.0), 0.1), Box((2.0, 2.0, 2.0), 0.2), at(2.0), -0.3),
        (Box((2.0, 4.0, 6.0)), Box((2.0, 4.0, 6.0)), at(), -2.0),
        (Cylinder(1.0, 2.0), Cylinder(1.0, 2.0), at(3.0, 4.0), 3.0),
        (Cylinder(1.0, 2.0), Cylinder(1.0, 4.0), at(), -2.0),
        (Cylinder(1.0, 2.0), Cylinder(1.0, 4.0), at(1e-3), -1.999),
        (Cylinder(1.0, 2.0), Sphere(0.5), at(4.0, 0.0, 5.0), 4.5),
        (Cylinder(1.0, 2.0), Sphere(0.5), at(0.0, 0.2, 0.0), -1.3),
        (Cylinder(1.0, 2.0), Cylinder(1.0, 2.0), at(0.0, 0.0, 2.5, turn="x"), 0.5),
        (Hull(CUBE), Hull(CUBE, 0.5), at(0.0, 3.0, 0.0), 0.5),
        (Hull(CUBE[:1]), Hull(CUBE[-1:]), at(0.0, 0.0, 1.0), np.sqrt(17.0)),
        (Hull(CUBE[:4]), Hull(CUBE[:4]), at(), 0.0),  # flat, in one another
        (Hull(1e-6 * CUBE), Hull(1e3 * CUBE), at(1000.5), 0.5 - 1e-6),
        (Sphere(0.0), Sphere(0.0), at(), 0.0),
    ],
)
def test_closed_forms(backend: str, a: object, b: object, place: np.ndarray, value: float) -> None:
    found = distance(a, np.eye(4), b, place, backend=backend)
    size = core(a).bound + core(b).bound + np.linalg.norm(place[:3, 3])
    assert found.value == pytest.approx(value, abs=1e-12 * size)
    assert abs(found.point_b - found.point_a - found.value * found.normal).max() <= 1e-9 * size
    assert np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-14)


def proven(a: object, Ta: np.ndarray, b: object, Tb: np.ndarray, found: object) -> None:
    """A slab between two convex shapes and two points of theirs that are as far apart as it is thick leave no doubt."""
    ca, cb = core(a), core(b)
    shift = Tb[:3, 3] - Ta[:3, 3]
    size = ca.bound + cb.bound + sum(np.linalg.norm(x) for x in (shift, ca.centre, cb.centre))
    n = found.normal
    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
    overlap = reach(ca, Ta, n) + reach(cb, Tb, -n) - shift @ n
    assert found.value == pytest.approx(-overlap, abs=1e-9 * size)
    assert np.linalg.norm(found.point_b - found.point_a - found.value * n) <= 1e-9 * size
    for core_, T, point in ((ca, Ta, found.point_a), (cb, Tb, found.point_b)):
        directions = np.vstack((np.random.default_rng(0).normal(size=(64, 3)), n, -n))
        for d in directions / np.linalg.norm(directions, axis=1)[:, None]:
            assert (point - T[:3, 3]) @ d <= reach(core_, T, d) + 1e-9 * size


@pytest.mark.parametrize("seed", range(4))
def test_random_pairs(seed: int) -> None:
    """Also at the places where they just touch."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        a, Ta, b, Tb = random_pair(rng)
        found = distance(a, Ta, b, Tb)
        proven(a, Ta, b, Tb, found)
        touching = Tb.copy()
        touching[:3, 3] -= found.value * found.normal
        proven(a, Ta, b, touching, distance(a, Ta, b, touching))


@pytest.mark.parametrize(("kind", "seed"), [("cylinders", 5), ("hull", 46)])
def test_the_deepest_points_of_a_disc_are_along_the_normal(kind: str, seed: int) -> None:
    """Around the least depth, directions that differ by the root of the rounding have depths that are the same."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        a, b = (Cylinder(*rng.uniform(0.05, 1.0, 2)) for _ in range(2))
        b = Hull(rng.normal(size=(rng.integers(4, 40), 3))) if kind == "hull" else b
        T = at(*rng.normal(scale=0.3, size=3), turn=rng)
        proven(a, np.eye(4), b, T, distance(a, np.eye(4), b, T))


@pytest.mark.parametrize("seed", range(3))
def test_the_depth_of_a_disc_is_the_least_of_all_directions(seed: int) -> None:
    """By a search over the sphere that knows no prism: from the best of many directions, downwards."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(400, 3))
    for number in range(6):
        a, b = Cylinder(*rng.uniform(0.05, 1.0, 2)), Cylinder(*rng.uniform(0.05, 1.0, 2))
        T = at(*rng.normal(scale=0.03, size=3), turn=rng)
        T[:3, :3] = Rotation.from_rotvec(rng.normal(scale=1e-3, size=3)).as_matrix() if number % 3 == 0 else T[:3, :3]

        def depth(n: np.ndarray, a: Cylinder = a, b: Cylinder = b, T: np.ndarray = T) -> float:
            n = n / np.linalg.norm(n)
            return reach(core(a), np.eye(4), n) + reach(core(b), T, -n) - float(n @ T[:3, 3])

        best = sorted(directions, key=depth)[:8]
        exact = {"xatol": 1e-10, "fatol": 1e-13}
        least = min(float(minimize(depth, n, method="Nelder-Mead", options=exact).fun) for n in best)
        assert distance(a, np.eye(4), b, T).value == pytest.approx(-least, abs=1e-8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_thin_ones_that_nearly_touch(backend: str) -> None:
    """The normal shows the distance, however short the way between the nearest points."""
    rng = np.random.default_rng(1)
    for _ in range(25 if backend == "numpy" else 100):
        thin = rng.normal(size=(9, 3)) * [1e-3, 1e-3, 1e-13]
        a, b, T = Hull(thin), Hull(rng.normal(size=(2, 3)) * [1, 1, 0]), at(*(rng.normal(size=2) * 0.5))
        found = distance(a, np.eye(4), b, T, backend=backend)
        T[:3, 3] += (10.0 ** rng.uniform(-10, -8) - found.value) * found.normal
        proven(a, np.eye(4), b, T, distance(a, np.eye(4), b, T, backend=backend))


def test_the_twins_agree() -> None:
    rng = np.random.default_rng(7)
    for _ in range(12):
        a, Ta, b, Tb = random_pair(rng)
        native, numpy = (distance(a, Ta, b, Tb, backend=name) for name in BACKENDS)
        size = core(a).bound + core(b).bound + np.linalg.norm(Tb[:3, 3] - Ta[:3, 3])
        assert native.value == pytest.approx(numpy.value, abs=1e-9 * size)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_far_is_not_looked_for(backend: str) -> None:
    """A pair that is farther apart than asked is said to be; what is said is a lower bound, and no point or normal."""
    rng, seen = np.random.default_rng(7), set()
    for _ in range(10 if backend == "numpy" else 100):
        a, Ta, b, Tb = random_pair(rng)
        found = distance(a, Ta, b, Tb)
        whole = rng.uniform(0.1, 0.5)
        Tb[:3, 3] += (whole - found.value) * found.normal
        within = whole + 0.05 * rng.normal()
        out, status = distances((core(a), core(b)), np.stack((Ta, Tb))[None], np.array([[0, 1]]), within, backend)
        seen.add(int(status[0, 0]))
        assert status == (FAR if whole > within else FOUND)
        assert out[0, 0, 0] <= whole + 1e-9
        assert out[0, 0, 0] >= (within if status == FAR else whole - 1e-9)
        assert status == FOUND or not out[0, 0, 1:].any()
    assert seen == {FOUND, FAR}


@pytest.mark.parametrize("backend", BACKENDS)
def test_how_deep_a_pair_is_is_not_looked_for_where_it_is_not_as_deep_as_asked(backend: str) -> None:
    rng, seen = np.random.default_rng(8), set()
    for k in range(6 if backend == "numpy" else 100):
        a, Ta, b, Tb = random_pair(rng)
        a = Cylinder(*rng.uniform(0.1, 1.0, 2)) if k % 2 else a
        Tb[:3, 3] = Ta[:3, :3] @ core(a).centre + Ta[:3, 3] - Tb[:3, :3] @ core(b).centre
        Tb[:3, 3] += 0.05 * core(a).bound * rng.normal(size=3)
        whole = distance(a, Ta, b, Tb).value
        within = whole * rng.uniform(0.8, 1.2)
        out, status = distances((core(a), core(b)), np.stack((Ta, Tb))[None], np.array([[0, 1]]), within, backend)
        seen.add(int(status[0, 0]))
        assert status == (FAR if whole > within else FOUND)
        assert within <= out[0, 0, 0] <= whole + 1e-9 if status == FAR else out[0, 0, 0] == pytest.approx(whole)
    assert seen == {FOUND, FAR}


def depth_of_hulls(a: np.ndarray, b: np.ndarray) -> float:
    """Depth of two hulls of few points, by all the planes through three points of their difference."""
    M = (a[:, None] - b[None]).reshape(-1, 3)
    i, j, k = np.array(list(itertools.combinations(range(len(M)), 3))).T
    normals = np.cross(M[j] - M[i], M[k] - M[i])
    length = np.linalg.norm(normals, axis=1)
    normals = normals[length > 1e-9] / length[length > 1e-9, None]
    normals = np.concatenate((normals, -normals))
    reaches = (normals @ M.T).max(axis=1)
    return float(reaches.min())


@pytest.mark.parametrize("seed", range(8))
def test_depth_of_hulls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(6, 3)), rng.normal(size=(5, 3))
    if seed % 2:
        a, b = np.round(a), np.round(b)  # coplanar and collinear points
    b += a.mean(axis=0) - b.mean(axis=0)
    depth = depth_of_hulls(a, b)
    found = distance(Hull(a), np.eye(4), Hull(b), np.eye(4))
    assert found.value == pytest.approx(-depth, abs=1e-12) if depth > 0 else found.value >= -1e-12


@pytest.mark.parametrize("form", ["round", "grid", "flat", "ball"])
def test_depth_of_hulls_with_many_edges(form: str) -> None:
    """The kernel lets a polytope grow; its twin looks at every face and every crossing of two edges."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        a, b = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
        if form == "grid":
            a, b = np.round(a), np.round(b)
        elif form == "flat":
            a[:, 2] *= 1e-6
        elif form == "ball":
            a /= np.linalg.norm(a, axis=1)[:, None]
        T = np.eye(4)
        T[:3, 3] = 0.3 * rng.normal(size=3)
        native, numpy = (distance(Hull(a), np.eye(4), Hull(b), T, backend=name) for name in BACKENDS)
        assert native.value < -1e-7
        assert native.value == pytest.approx(numpy.value, abs=1e-12)
        np.testing.assert_allclose(native.point_b - native.point_a, native.value * native.normal, atol=1e-12)


def test_against_coal() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        shapes = [random_shape(rng, kinds=4, scale=1.0, rounded=False) for _ in range(2)]
        T = [at(*rng.normal(size=3), turn=rng) for _ in range(2)]
        placed = [x for shape, P in zip(shapes, T, strict=True) for x in (coal_shape(shape), P)]
        expected = coal_distance(*placed)
        found = distance(shapes[0], T[0], shapes[1], T[1])
        if coal.__name__ == "coal":
            assert found.value == pytest.approx(expected, abs=2e-5), shapes
        else:  # of shapes that meet it tells no depth
            assert max(found.value, 0.0) == pytest.approx(max(expected, 0.0), abs=2e-5), shapes


def turned(w: float, x: float, y: float, z: float, *p: float) -> np.ndarray:
    """A placement by a quaternion, which is made a unit one, and a point."""
    T = at(*p)
    T[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
    return T


def columns(*rows: float) -> np.ndarray:
    """A placement by nine numbers of a rotation, which is made one, and a point."""
    U, _, Vt = np.linalg.svd(np.reshape(rows[:9], (3, 3)))
    T = at(*rows[9:])
    T[:3, :3] = U @ Vt
    return T


TILTED = (
    *(0.96193976625564348026, 0.15401279915737359216, 0.22572537250328919556),
    *(-0.19134171618254486313, 0.96936494951283913579, 0.15401279915737359216),
    *(-0.19509032201612822033, -0.19134171618254486313, 0.96193976625564348026),
)
PRISM = np.array(
    [
        [0.5, 0.5, -(0.75**0.5)],
        [0.5, -0.5, -(0.75**0.5)],
        [0.5, 1, 0],
        [0.5, -1, 0],
        [0.5, 0.5, 0.75**0.5],
        [0.5, -0.5, 0.75**0.5],
    ]
)
ARROW = np.array(
    [[44.2764, 42.3867, 18.239], [46.0659, 38.6251, 16.3637], [50.0397, 38.4649, 19.9843], [47.1963, 40.4563, 19.1057]]
)
KNOWN = {
    # a cylinder that nearly touches a flat box: GJK does not converge (coal #37)
    "coal 37": (
        Cylinder(0.029, 0.1),
        turned(
            0.5279170511703305,
            -0.50981118132505521,
            -0.67596178682051911,
            0.0668715876735793,
            0.041218354748013122,
            1.2022554710435607,
            0.77338855025700015,
        ),
        Box((1.6, 0.6, 0.025)),
        turned(0.70738826916719977, 0, 0, 0.70682518110536596, -0.29936284351096382, 0.80023864435868775, 0.7175),
    ),
    # boxes whose faces are nearly parallel, close together: the distance is wrong (coal #604)
    "coal 604": (
        Box((0.363, 0.277, 0.363)),
        columns(
            0.9999195703,
            0.01021849413,
            0.007512347878,
            -0.01021878248,
            0.9999477869,
            -3.329855922e-17,
            -0.007511955635,
            -7.676704888e-05,
            0.9999717819,
            1.503354966,
            -0.8531707835,
            0.7700092418,
        ),
        Box((0.363, 0.363, 0.277)),
        columns(
            0.9998670967,
            -0.01297708324,
            0.009868343982,
            0.01297771517,
            0.9999157859,
            5.255670031e-17,
            -0.009867512928,
            0.0001280685574,
            0.9999513067,
            1.48838308,
            -1.102020834,
            0.4497073799,
        ),
    ),
    # two hulls of meshes deep in each other: points of some triangles in place of the deepest ones (coal #823)
    "coal 823": (
        Hull(np.vstack((PRISM, -PRISM))),
        at(0.1, 0.2, 0.05),
        Hull(np.vstack((PRISM, -PRISM)) * [1, 0.4, 2]),
        turned(0.9, 0.1, 0.3, 0.2, 0.3, 0.1, 0.0),
    ),
    # unit boxes face to face: the polytope fails, and they are said to be free (coal #147, seen in Pinocchio's boxes)
    "coal 147": (Box((1.0, 1.0, 1.0)), at(), Box((1.0, 1.0, 1.0)), at(0.99)),
    # a sphere in a cylinder's side by a thousandth of its size: doubted to collide (coal #351)
    "coal 351": (
        Sphere(55.0),
        at(140.834, -45.449, 905.432),
        Cylinder(136.0, 100.0),
        columns(0.0, 1.0, 0.0, 0.0, 0.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 776.5),
    ),
    # a thin box beside a cylinder: the polytope is said to touch where it does not (fcl #319)
    "fcl 319": (
        Box((0.05, 0.39, 1.47)),
        turned(0.707107, 0.0, 0.0, 0.707107, 0.8, -0.385, 0.735),
        Cylinder(0.18, 0.18),
        turned(0.991445, 0.0, 0.0, -0.130526, 0.4, -0.4, 0.93),
    ),
    # boxes with one rotation that meet in a corner (fcl #493)
    "fcl 493": (
        Box((0.5, 0.5, 0.5)),
        columns(*TILTED, 2.0770063995786869349, 0.48468247475641951239, 1.1543291419087275962),
        Box((0.5, 0.5, 0.5)),
        columns(*TILTED, 2.0, 0.0, 1.25),
    ),
    # a point beside a thin hull: no end of the search (dolfinx #3653)
    "thin": (Hull(np.array([[44.2919, 39.7508, 18.8208]])), at(), Hull(ARROW), at()),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_others_are_known_to_fail_at(name: str) -> None:
    """Touching, too, and with faces that are parallel."""
    a, Ta, b, Tb = KNOWN[name]
    found = distance(a, Ta, b, Tb)
    proven(a, Ta, b, Tb, found)
    assert (found.value < -1e-12) == (name in ("coal 147", "coal 823", "coal 351"))
    for gap in (0.0, 1e-9, 1e-7, -1e-9, -1e-7):
        near = Tb.copy()
        near[:3, 3] += (gap - found.value) * found.normal
        proven(a, Ta, b, near, distance(a, Ta, b, near))
    parallel = Tb.copy()
    parallel[:3, :3] = Ta[:3, :3]
    proven(a, Ta, b, parallel, distance(a, Ta, b, parallel))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Sphere(-1.0), Sphere(1.0)),
        (Sphere(np.nan), Sphere(1.0)),
        (Sphere(1e40), Sphere(1.0)),
        ("box", Sphere(1.0)),
    ],
)
def test_what_is_no_shape_is_refused(a: object, b: object) -> None:
    with pytest.raises((ModelError, Exception), match=r"sphere|Sphere|box"):
        distance(a, np.eye(4), b, np.eye(4))


@pytest.mark.parametrize("points", [np.empty((0, 3)), np.zeros((2, 2)), "points", [[0.0, 0.0, np.inf]]])
def test_what_is_no_hull_is_refused(points: object) -> None:
    with pytest.raises(Exception, match="hull"):
        Hull(points)


def test_a_placement_that_is_none_is_refused() -> None:
    with pytest.raises(ModelError, match="T_world_b"):
        distance(Sphere(1.0), np.eye(4), Sphere(1.0), 2.0 * np.eye(4))
