"""Plain shapes, bodies put together, and what no body can be; against MuJoCo, Pinocchio and integration by points."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import FileFormatError, Link, ModelError, inertia, load_urdf, random_configuration
from robokin_addon.robokin.model.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from robokin_addon.robokin.spatial.se3 import placement
from robokin_addon.robokin.spatial.so3 import exp
from support.oracles.pinocchio_oracle import Oracle
from support.robots import all_urdfs, robot

GEOMS = {
    "sphere": (inertia.sphere(0.3), "0.3"),
    "ellipsoid": (inertia.ellipsoid((0.1, 0.2, 0.4)), "0.1 0.2 0.4"),
    "box": (inertia.box((0.2, 0.4, 0.8)), "0.1 0.2 0.4"),
    "cylinder": (inertia.cylinder(0.1, 0.6), "0.1 0.3"),
    "capsule": (inertia.capsule(0.1, 0.6), "0.1 0.3"),
}


@pytest.mark.parametrize("kind", GEOMS)
def test_shapes_are_those_of_mujoco(kind: str) -> None:
    body, size = GEOMS[kind]
    xml = f'<mujoco><worldbody><body><geom type="{kind}" size="{size}" density="1"/></body></worldbody></mujoco>'
    oracle = mujoco.MjModel.from_xml_string(xml)
    assert body.mass == pytest.approx(oracle.body_mass[1], rel=1e-12)
    assert sorted(np.diag(body.inertia)) == pytest.approx(sorted(oracle.body_inertia[1]), rel=1e-9)


def test_shapes_that_mujoco_does_not_have() -> None:
    u = (np.arange(200) + 0.5) / 200
    x, y, z = np.meshgrid(2 * u - 1, 2 * u - 1, 2 * u - 1, indexing="ij", sparse=True)
    r, far = np.sqrt(x**2 + y**2), np.sqrt(x**2 + y**2 + z**2)
    for body, inside, scale in (
        (inertia.cone(0.5, 2.0), r <= (1 - z) / 2, (0.5, 0.5, 1.0)),
        (inertia.hollow_sphere(1.0, 0.7), (far <= 1) & (far >= 0.7), (1.0, 1.0, 1.0)),
    ):
        points = np.argwhere(inside) / 100 - 0.995
        points = points * scale
        assert body.mass == pytest.approx(len(points) * 1e-6 * np.prod(scale), rel=2e-3)
        assert body.com == pytest.approx(points.mean(axis=0), abs=2e-3)
        second = np.cov(points.T, bias=True)
        assert body.inertia / body.mass == pytest.approx(np.trace(second) * np.eye(3) - second, abs=3e-3)
    thin = inertia.hollow_sphere(1.0, 1.0 - 1e-12).of_mass(3.0)
    assert np.diag(thin.inertia) == pytest.approx([2.0] * 3, rel=1e-11)  # 2/3 m r^2


def test_lengths_must_be_positive() -> None:
    for make in (
        lambda: inertia.box((1, 0, 1)),
        lambda: inertia.sphere(-1.0),
        lambda: inertia.hollow_sphere(1.0, 1.0),
        lambda: inertia.cylinder(1.0, float("nan")),
    ):
        with pytest.raises(ModelError, match="positive lengths"):
            make()
    for ask in (inertia.sphere(1.0).times, inertia.sphere(1.0).of_mass):
        with pytest.raises(ModelError, match="positive number"):
            ask(0.0)


def test_shapes_of_links() -> None:
    for shape, body in (
        (Box((1, 2, 3)), inertia.box((1, 2, 3))),
        (Sphere(2.0), inertia.sphere(2.0)),
        (Cylinder(1.0, 2.0), inertia.cylinder(1.0, 2.0)),
        (Capsule(1.0, 2.0), inertia.capsule(1.0, 2.0)),
    ):
        assert np.array_equal(inertia.shape_body(shape).inertia, body.inertia)
    with pytest.raises(ModelError, match=r"x\.stl"):
        inertia.shape_body(Mesh("x.stl"))


def test_bodies_moved_and_combined_are_pinocchios() -> None:
    rng = np.random.default_rng(4)
    bodies, oracle = [], pin.Inertia.Zero()
    for _ in range(5):
        own = inertia.box(rng.uniform(0.1, 1.0, 3)).times(rng.uniform(100, 5000))
        T = placement(exp(rng.normal(size=3)), rng.normal(size=3))
        bodies.append(own.moved(T))
        oracle = oracle + pin.SE3(T[:3, :3], T[:3, 3]).act(pin.Inertia(own.mass, own.com.copy(), own.inertia.copy()))
    found = inertia.combined(bodies)
    assert found.mass == pytest.approx(oracle.mass, rel=1e-13)
    assert found.com == pytest.approx(oracle.lever, abs=1e-13)
    assert found.inertia == pytest.approx(oracle.inertia, rel=1e-12)
    assert inertia.combined([]).mass == 0.0


@pytest.mark.parametrize("name", ["panda", "talos_full_v2", "pr2"])
def test_the_whole_robot_is_pinocchios(name: str) -> None:
    model = load_urdf(robot(name), root="floating")  # Pinocchio leaves out what is fixed to the world
    q = random_configuration(model, np.random.default_rng(2))
    found = inertia.total_body(model, q)
    oracle = Oracle.from_urdf(model, robot(name))
    pin.ccrba(oracle.pin_model, oracle.data, oracle.q(q), np.zeros(oracle.pin_model.nv))
    wanted = oracle.data.Ig
    assert found.mass == pytest.approx(wanted.mass, rel=1e-12)
    assert found.com == pytest.approx(oracle.data.com[0], abs=1e-10)
    assert found.inertia == pytest.approx(wanted.inertia, abs=1e-9 * abs(wanted.inertia).max())


@pytest.mark.parametrize(
    "mass, moments, words",
    [
        (1.0, (1.0, 1.0, 2.1), "more than the sum"),
        (1.0, (-0.1, 1.0, 1.0), "positive"),
        (1.0, (0.0, 1.0, 1.0), "positive"),
        (0.0, (1.0, 1.0, 1.0), "no mass"),
        (-1.0, (1.0, 1.0, 1.0), "negative"),
        (1.0, (0.0, 0.0, 0.0), "one point"),
        (1.0, (np.nan, 1.0, 1.0), "finite"),
    ],
)
def test_what_no_body_can_be_is_reported(mass: float, moments: tuple, words: str) -> None:
    R = exp([0.3, -0.5, 0.8])
    tensor = np.diag(moments) if np.isnan(moments).any() else R @ np.diag(moments) @ R.T
    assert words in " ".join(inertia.implausible_inertia(mass, tensor))


def test_what_a_body_can_be_is_not_complained_of() -> None:
    assert inertia.implausible_inertia(0.0, np.zeros((3, 3))) == []  # a frame
    rng = np.random.default_rng(0)
    for scale in (1e-9, 1.0, 1e6):
        for _ in range(200):
            points = rng.normal(size=(3, 3)) * scale  # three points: a flat body, on the edge of what can be
            points -= points.mean(axis=0)
            tensor = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)
            written = np.array([[float(f"{x:.6g}") for x in row] for row in tensor])
            assert inertia.implausible_inertia(1.0, written) == []
    skew = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert "symmetric" in inertia.implausible_inertia(1.0, skew)[0]


def test_of_real_robots_the_worst_are_named() -> None:
    """MuJoCo refuses the same inertias: its compiler checks moments and their sums."""
    seen = 0
    for path in all_urdfs()[::6]:
        try:
            model = load_urdf(path)
        except FileFormatError:
            assert path.name == "ur3.urdf", path  # which holds a comment and no robot
            continue
        found = inertia.implausible_links(model)
        for link in model.links:
            if not link.mass or "one point" in " ".join(found.get(link.name, [])):
                continue
            full = " ".join(f"{link.inertia[i, j]!r}" for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
            full = full.replace("np.float64(", "").replace(")", "")
            xml = (
                f'<mujoco><worldbody><body><inertial pos="0 0 0" mass="{link.mass}" fullinertia="{full}"/></body>'
                "</worldbody></mujoco>"
            )
            try:
                mujoco.MjModel.from_xml_string(xml)
                accepted = True
            except ValueError:
                accepted = False
            assert accepted == (link.name not in found), (path.name, link.name, found.get(link.name))
            seen += 1
    assert seen > 100


def test_links_take_bodies() -> None:
    body = inertia.link_body(Link("a", 2.0, (0, 0, 1), np.eye(3)))
    assert (body.mass, body.com[2], body.inertia[0, 0]) == (2.0, 1.0, 1.0)
