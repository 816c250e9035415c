"""Mass properties of meshes, against MuJoCo's compiler, closed forms and what the same body gives in other clothes."""

from __future__ import annotations

from itertools import combinations

import mujoco
import numpy as np
import pytest
from robokin_addon.robokin import ModelError
from robokin_addon.robokin.inertia import Body, Solidity, box, combined, convex_body, mesh_body
from robokin_addon.robokin.spatial.so3 import exp

CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
FACES = np.array([corner for a, b, c, d in SIDES for corner in ((a, b, c), (a, c, d))])


def hull_faces(points: np.ndarray) -> np.ndarray:
    """(m, 3) of points in general position, facing out: those of all triples with everything on one side."""
    triples = np.array(list(combinations(range(len(points)), 3)))
    a, b, c = np.moveaxis(points[triples], 1, 0)
    normals = np.cross(b - a, c - a)
    heights = normals @ points.T - np.einsum("ni,ni->n", normals, a)[:, None]
    heights[np.arange(len(triples))[:, None], triples] = 0.0
    below, above = (heights <= 0).all(axis=1), (heights >= 0).all(axis=1)
    return np.concatenate([triples[below], triples[above][:, ::-1]])


def block(size=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0)) -> np.ndarray:
    """(12, 3, 3) of a box whose lowest corner is `at`."""
    return (CUBE * size + at)[FACES]


def polyhedron(seed: int) -> np.ndarray:
    """A star-shaped body, not convex, with its centre far from the origin, and every triangle facing out."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(60, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    faces = hull_faces(directions)
    points = directions * rng.uniform(0.2, 1.0, 60)[:, None] * rng.uniform(0.05, 2.0, 3)
    return (points @ exp(rng.normal(size=3)).T + rng.normal(size=3))[faces]


def same(found: Body, wanted: Body, tolerance: float) -> None:
    length = np.sqrt(np.trace(wanted.inertia) / wanted.mass)
    assert found.mass == pytest.approx(wanted.mass, rel=tolerance)
    assert found.com == pytest.approx(wanted.com, abs=tolerance * (length + abs(wanted.com).max()))
    assert found.inertia == pytest.approx(wanted.inertia, abs=tolerance * abs(wanted.inertia).max())


@pytest.mark.parametrize("seed", range(12))
def test_bodies_are_those_of_mujocos_compiler(seed: int) -> None:
    triangles = polyhedron(seed)
    points, faces = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="m", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT)
    mesh.uservert, mesh.userface = points.ravel().tolist(), faces.ravel().tolist()
    spec.worldbody.add_body(name="b").add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="m", density=1.0)
    model = spec.compile()
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    R = R.reshape(3, 3)
    oracle = Body(float(model.body_mass[1]), model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T)
    found = mesh_body(triangles)
    assert found.solidity is Solidity.CLOSED and found.notes == ()
    same(found.body, oracle, 2e-6)  # MuJoCo keeps the vertices of a mesh in single precision


@pytest.mark.parametrize("far", [0.0, 1e3])
def test_a_box_is_exact_however_it_is_cut_and_wherever_it_is(far: float) -> None:
    found = mesh_body(block((0.2, 0.3, 0.5), (far, -far, far))).body
    middle = np.array([0.1 + far, 0.15 - far, 0.25 + far])
    same(found, Body(0.03, middle, box((0.2, 0.3, 0.5)).inertia), 1e-14 if far == 0.0 else 1e-11)


def test_which_side_is_out_is_found_out() -> None:
    right = polyhedron(3)
    wanted = mesh_body(right).body
    inverted = mesh_body(right[:, ::-1])
    same(inverted.body, wanted, 1e-13)
    assert "inside out" in " ".join(inverted.notes)
    mixed = right.copy()
    turned = np.random.default_rng(0).random(len(right)) < 0.4
    mixed[turned] = mixed[turned, ::-1]
    found = mesh_body(mixed)
    same(found.body, wanted, 1e-13)
    assert found.solidity is Solidity.CLOSED and "faced the other way" in " ".join(found.notes)


def test_degenerate_triangles_and_order_do_not_matter() -> None:
    right = polyhedron(5)
    spikes = np.repeat(right[:4, :1], 3, axis=1)
    shuffled = np.random.default_rng(1).permutation(np.concatenate([right, spikes]))
    same(mesh_body(shuffled).body, mesh_body(right).body, 1e-12)


def test_shells_side_by_side_hollow_and_filled_again() -> None:
    outer, hole, core = block((3, 3, 3)), block((2, 2, 2), (0.5, 0.5, 0.5)), block((1, 1, 1), (0.7, 1.0, 1.0))
    aside = block((1, 2, 3), (5, 5, 5))
    apart = mesh_body(np.concatenate([outer, aside[:, ::-1]]))  # one of two is inside out
    same(apart.body, combined([mesh_body(outer).body, mesh_body(aside).body]), 1e-13)
    hollow = mesh_body(np.concatenate([outer, hole[:, ::-1], core]))
    assert hollow.body.mass == pytest.approx(27 - 8 + 1) and hollow.notes == ()
    same(hollow.body, mesh_body(np.concatenate([outer, hole[:, ::-1], core])[:, ::-1]).body, 1e-13)
    minus = mesh_body(hole).body
    taken = Body(-minus.mass, minus.com, -minus.inertia)
    same(hollow.body, combined([mesh_body(outer).body, taken, mesh_body(core).body]), 1e-12)
    filled = mesh_body(np.concatenate([outer, hole]))
    assert filled.body.mass == pytest.approx(27 + 8) and "1 of its 2 parts lies inside others" in filled.notes[0]


def test_shells_that_touch_along_an_edge_are_two() -> None:
    found = mesh_body(np.concatenate([block(), block((1, 1, 1), (1, 1, 0))[:, ::-1]]))
    assert found.solidity is Solidity.CLOSED and found.body.mass == pytest.approx(2.0)


def test_what_is_open_has_its_hull_and_says_so() -> None:
    open_box = block((1, 2, 3))[2:]
    found = mesh_body(open_box)
    assert found.solidity is Solidity.HULL
    assert found.notes == ("not closed (4 of 17 edges are open): its convex hull was taken",)
    same(found.body, mesh_body(block((1, 2, 3))).body, 1e-13)


def test_the_hull_of_any_points() -> None:
    points = np.random.default_rng(1).normal(size=(30, 3))
    whole = convex_body(points)
    same(whole, mesh_body(points[hull_faces(points)]).body, 1e-14)
    with pytest.raises(ModelError, match="flat"):
        convex_body(CUBE * [1.0, 1.0, 1e-9])


def test_one_sided_surfaces_have_no_inside() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    tube = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    u, v = np.meshgrid(turns, tube, indexing="ij")
    radius = 2.0 + np.cos(u / 2) * np.sin(v) - np.sin(u / 2) * np.sin(2 * v)  # the "figure 8" Klein bottle
    height = np.sin(u / 2) * np.sin(v) + np.cos(u / 2) * np.sin(2 * v)
    points = np.stack([radius * np.cos(u), radius * np.sin(u), height], axis=-1)
    points[abs(points) < 1e-12] = 0.0

    def corner(i: int, j: int) -> np.ndarray:
        return points[i, j % 16] if i < 24 else points[0, -j % 16]

    faces = [
        face
        for i in range(24)
        for j in range(16)
        for face in (
            (corner(i, j), corner(i + 1, j), corner(i + 1, j + 1)),
            (corner(i, j), corner(i + 1, j + 1), corner(i, j + 1)),
        )
    ]
    found = mesh_body(np.array(faces))
    assert found.solidity is Solidity.HULL and "only one side" in found.notes[0]


@pytest.mark.parametrize(
    "bad, words",
    [
        (np.zeros((0, 3, 3)), "no faces"),
        (np.zeros((4, 3)), "shape"),
        (np.full((4, 3, 3), np.nan), "finite"),
        (np.zeros((5, 3, 3)), "flat"),
        (np.concatenate([block((1, 1, 0))]), "flat|without area|one way"),
    ],
)
def test_what_has_no_volume_is_an_error(bad: np.ndarray, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        mesh_body(bad)


def test_a_large_mesh_is_exact_too() -> None:
    n = 150
    theta, phi = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, 2 * n)[:-1], indexing="ij")
    points = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1)
    points[0], points[-1] = (0, 0, 1), (0, 0, -1)
    after = np.roll(points, -1, axis=1)
    quads = points[:-1], points[1:], after[1:], after[:-1]
    triangles = np.concatenate(
        [np.stack(quads[:3], axis=2).reshape(-1, 3, 3), np.stack((quads[0], *quads[2:]), axis=2).reshape(-1, 3, 3)]
    )
    body = mesh_body(triangles).body
    assert body.mass == pytest.approx(4.0 / 3.0 * np.pi, rel=1e-3) and abs(body.com).max() < 1e-13
    assert body.inertia / body.mass == pytest.approx(0.4 * np.eye(3), rel=1e-3, abs=1e-12)
