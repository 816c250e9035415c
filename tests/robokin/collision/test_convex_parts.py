"""Meshes as convex parts: all of the mesh is in them, and what they have beside it is told. Oracle: inside or not by
the winding number, and the volumes of shapes that are known."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin.collision import Hull, Sphere, distance
from robokin_addon.robokin.collision.convex_parts import convex_parts
from robokin_addon.robokin.spatial import so3
from robokin_addon.solvers.progress import finish

QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def box(half, is_hollow=False):
    """Corners and triangles that look outwards, or inwards."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    triangles = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])
    return signs * half, triangles[:, ::-1] if is_hollow else triangles


def torus(major, minor, n=40, m=16):
    u, w = np.meshgrid(np.arange(n) * 2 * np.pi / n, np.arange(m) * 2 * np.pi / m, indexing="ij")
    away = major + minor * np.cos(w)
    points = np.stack((away * np.cos(u), away * np.sin(u), minor * np.sin(w)), axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    a, b = i * m + j, (i + 1) % n * m + j
    c, d = (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m
    return points, np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])


def together(*meshes):
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    triangles = [t + start for (_, t), start in zip(meshes, starts, strict=False)]
    return np.concatenate([points for points, _ in meshes]), np.concatenate(triangles)


def parts_of(points, triangles):
    return finish(convex_parts(points, triangles))


def hulls(found):
    return [Hull(part) for part in found.parts]


def clearance(parts, point):
    """How far a point is from the nearest of some hulls; negative inside."""
    T = np.eye(4)
    T[:3, 3] = point
    return min(distance(part, np.eye(4), Sphere(0.0), T).value for part in parts)


def test_a_convex_mesh_is_one_part():
    points, triangles = box(np.array([1.0, 2.0, 3.0]))
    found = parts_of(points, triangles)
    assert len(found.parts) == 1 and found.excess < 1e-12


def test_a_room_is_its_walls_exactly():
    """A robot may stand in it; also where two walls meet all is wall."""
    found = parts_of(*together(box(np.array([2.0, 1.5, 1.25])), box(np.array([1.9, 1.4, 1.15]), True)))
    parts = hulls(found)
    assert len(found.parts) == 6 and found.excess < 1e-9
    assert clearance(parts, np.zeros(3)) == pytest.approx(1.15)
    for place in ([1.95, 0, 0], [1.95, 1.45, 1.2], [-1.95, 1.45, 0.3], [0.1, 0.2, -1.2]):
        assert clearance(parts, place) < 0.0
    without_walls = hulls(parts_of(*box(np.array([1.9, 1.4, 1.15]), True)))  # faces that look inwards, alone
    assert clearance(without_walls, np.zeros(3)) == pytest.approx(1.15, abs=1e-5)


def test_what_is_solid_between_cuts_is_covered():
    """Four hollows in a cube, aside of one another: pieces have corners that are on no face of the mesh."""
    cube, (corners, inwards) = box(np.ones(3)), box(np.full(3, 0.1), True)
    places = np.array([(-0.5, -0.5, -0.5), (0.5, 0.5, -0.6), (0.6, -0.5, 0.5), (-0.4, 0.6, 0.4)])
    parts = hulls(parts_of(*together(cube, *((corners + at, inwards) for at in places))))
    for point in np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3)):
        if (abs(point - places).max(axis=1) > 0.11).all():
            assert clearance(parts, point) < 0.0
    assert all(clearance(parts, at) > 0.09 for at in places)


@pytest.mark.parametrize(("most", "beyond"), [(1, 1.5), (64, 0.0)])
def test_a_slot_is_reported_by_how_far_a_part_is_beyond_its_walls(most, beyond):
    """A block 2 m wide with a slot of 1 m, the far side of which is 1.5 m beyond the near wall."""
    rim = np.array([(-1, -1), (1, -1), (1, 1), (0.5, 1), (0.5, 0), (-0.5, 0), (-0.5, 1), (-1, 1)], float)
    points = np.concatenate([np.column_stack((rim, np.full(8, z))) for z in (-0.2, 0.2)])
    i, j = np.arange(8), (np.arange(8) + 1) % 8
    end = np.array([(0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7)])
    faces = np.concatenate(
        (np.stack((i, j, j + 8), axis=1), np.stack((i, j + 8, i + 8), axis=1), end + 8, end[:, ::-1])
    )
    found = finish(convex_parts(points, faces, most=most))
    assert found.excess == pytest.approx(beyond, abs=1e-9)
    assert (clearance(hulls(found), [0.0, 0.5, 0.0]) < 0.0) == (most == 1)


def test_loose_parts_count_for_themselves():
    """Two rings, of which one cut is allowed; and of too many none is looked into."""
    ring = torus(1.0, 0.3, 12, 6)
    other = ring[0] + np.array([4.0, 0.0, 0.0]), ring[1]
    assert len(finish(convex_parts(*together(ring, other), most=3)).parts) == 4
    boxes = together(*((box(np.full(3, 0.1))[0] + [k, 0, 0], box(np.ones(3))[1]) for k in range(1025)))
    found = parts_of(*boxes)
    assert len(found.parts) == 1 and found.excess == pytest.approx(1024.2)


def test_parts_reach_beyond_the_mesh_as_far_as_allowed():
    one, other = (finish(convex_parts(*torus(1.0, 0.3), share=share)) for share in (0.1, 0.02))
    assert len(one.parts) < len(other.parts) and 0.02 * 2.6 < one.excess <= 0.1 * 2.6
    assert other.excess <= 0.02 * 2.6


def test_a_crate_that_is_open_above_is_a_skin():
    points, triangles = box(np.array([0.3, 0.2, 0.1]))
    centres = points[triangles].mean(axis=1)
    crate = triangles[centres[:, 2] < 0.09]
    found = parts_of(points, crate)
    parts = hulls(found)
    assert clearance(parts, [0.0, 0.0, 0.05]) == pytest.approx(0.15, abs=1e-5)
    assert clearance(parts, [0.0, 0.0, 0.3]) > 0.2
    assert clearance(parts, [0.3, 0.0, 0.0]) < 1e-6


def test_a_flat_wall_keeps_its_window():
    """A ring of faces in one plane, and a square with a square hole, turned."""
    for n, turned in ((24, 0.0), (4, 0.7)):
        t = np.arange(n) * 2 * np.pi / n
        rim = np.stack((np.cos(t), np.cos(turned) * np.sin(t), np.sin(turned) * np.sin(t)), axis=1)
        i, j = np.arange(n), (np.arange(n) + 1) % n
        faces = np.concatenate((np.stack((i, n + i, n + j), axis=1), np.stack((i, n + j, j), axis=1)))
        found = parts_of(np.concatenate((rim, 2.0 * rim)), faces)
        parts = hulls(found)
        assert found.excess <= 0.04 and clearance(parts, np.zeros(3)) > 0.6
        assert all(clearance(parts, 1.5 * (rim[k] + rim[k - 1]) / 2) < 1e-6 for k in range(n))


def test_a_flat_ring_keeps_its_window_however_it_lies():
    """Which of the edges is the worst is rounding: cuts across one went on until the parts ran out."""
    rng, n = np.random.default_rng(3), 24
    t, i, j = np.arange(n) * 2 * np.pi / n, np.arange(n), (np.arange(n) + 1) % n
    rim = np.stack((np.cos(t), np.sin(t), 0.0 * t), axis=1)
    faces = np.concatenate((np.stack((i, n + i, n + j), axis=1), np.stack((i, n + j, j), axis=1)))
    for _ in range(12):
        turned = np.concatenate((rim, 2.0 * rim)) @ so3.exp(rng.normal(size=3)).T
        found = parts_of(turned, faces)
        assert found.excess <= 0.01 * np.ptp(turned, axis=0).max() and len(found.parts) < 2 * n


def test_a_ring_is_covered_and_has_its_hole():
    points, triangles = torus(1.0, 0.25)
    found = parts_of(points, triangles)
    parts = hulls(found)
    assert found.excess <= 0.03
    rng = np.random.default_rng(0)
    for _ in range(60):
        u, w, r = rng.uniform([0, 0, 0.3], [2 * np.pi, 2 * np.pi, 0.97])
        away = 1.0 + 0.25 * r * np.cos(w)
        place = np.array([away * np.cos(u), away * np.sin(u), 0.25 * r * np.sin(w)])
        inside = clearance(parts, place)
        assert inside < 1e-6 if r < 0.9 else inside < 0.02
        outside = 1.0 + (0.25 + 0.03) * np.cos(w)
        beyond = np.array([outside * np.cos(u), outside * np.sin(u), 0.28 * np.sin(w)])
        assert clearance(parts, beyond) > 0.03 - found.excess - 1e-9
    assert clearance(parts, np.zeros(3)) > 0.72


def turned(profile, sides):
    """A solid of revolution about z: profile (k, 2) of radius and height, closed, counter-clockwise."""
    t = np.arange(sides) * 2 * np.pi / sides
    around = np.stack((np.cos(t), np.sin(t)), axis=1)
    points = np.concatenate([np.column_stack((r * around, np.full(sides, z))) for r, z in profile])
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    rings = [(k * sides, (k + 1) % len(profile) * sides) for k in range(len(profile))]
    return points, np.concatenate(
        [np.stack(three, axis=1) for a, b in rings for three in ((a + i, a + j, b + j), (a + i, b + j, b + i))]
    )


def test_what_is_round_is_not_cut_facet_by_facet():
    """A tube and a bowl of so many facets that cuts along them do not get around."""
    tube = parts_of(*turned([(1.0, 0.0), (1.0, 2.0), (0.9, 2.0), (0.9, 0.0)], 48))
    assert tube.excess < 0.03
    assert clearance(hulls(tube), np.array([0.0, 0.0, 1.0])) > 0.87
    down = np.linspace(0.02, np.pi / 2, 9)
    arc = np.stack((np.sin(down), -np.cos(down)), axis=1)
    bowl = parts_of(*turned(np.concatenate((arc, 0.95 * arc[::-1])), 16))
    assert bowl.excess < 0.3
    assert clearance(hulls(bowl), np.array([0.0, 0.0, -0.2])) > 0.5


def test_points_wires_and_flat_things_are_parts():
    assert len(parts_of(np.eye(3), np.empty((0, 3), int)).parts) == 1
    wires = np.array([[0, 1, 1], [1, 2, 2]])
    assert len(parts_of(np.eye(3), wires).parts) == 1
    assert parts_of(np.ones((4, 3)), np.array([[0, 1, 2]])).excess == 0.0


@pytest.mark.parametrize("most", [1, 5])
def test_there_are_no_more_parts_than_allowed(most):
    found = finish(convex_parts(*torus(1.0, 0.3), most=most))
    assert len(found.parts) == most and found.excess > 0.0
