"""Plots: what an SVG file shows is read back with the numbers at its axes."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from robokin_addon.robokin import load_urdf
from robokin_addon.solvers import Motion, write_motion
from robokin_addon.solvers.motion.dynamics import motion_efforts
from robokin_addon.solvers.motion.plot import HEIGHT, MOST, kept, ticks, write_plot
from support.problems.motions import wandering
from support.robots import robot

SVG = "{http://www.w3.org/2000/svg}"
G = (0.0, 0.0, -9.81)


def shown(path):
    """[(title, the values of each curve)] of the diagrams, by the labels of their axes."""
    root = ElementTree.parse(path).getroot()
    texts = [(float(t.get("x")), float(t.get("y")), t) for t in root.iter(f"{SVG}text")]
    found = []
    for title in [(y, t.text) for _, y, t in texts if t.get("font-weight") == "bold"]:
        top = title[0] // HEIGHT * HEIGHT
        labels = [
            (y - 4.0, float(t.text))
            for x, y, t in texts
            if t.get("text-anchor") == "end" and y // HEIGHT * HEIGHT == top
        ]
        scale = np.polyfit(*np.array(labels).T, 1)
        rows = []
        for line in root.iter(f"{SVG}polyline"):
            points = np.array([pair.split(",") for pair in line.get("points").split()], float)
            if top <= points[0, 1] < top + HEIGHT:
                rows.append(np.polyval(scale, points[:, 1]))
        found.append((title[1], rows))
    return found


def test_a_plot_shows_the_motion(tmp_path):
    model = load_urdf(robot("panda"))
    motion = Motion.of(model, np.arange(30) / 24.0, wandering(model, 30))
    efforts = motion_efforts(motion, np.array(G))
    graphs = dict(shown(write_plot(motion, tmp_path / "m.svg", efforts)))
    turning = [i for i in range(model.nv) if not model.is_length[i]]
    sliding = [i for i in range(model.nv) if model.is_length[i]]
    expected = {
        "position [rad]": motion.q[:, turning],
        "position [m]": motion.q[:, sliding],
        "velocity [rad/s]": motion.v[:, turning],
        "acceleration [m/s\u00b2]": motion.a[:, sliding],
        "effort [N m]": efforts[:, turning],
    }
    for title, values in expected.items():
        np.testing.assert_allclose(
            np.transpose(graphs[title]), values, atol=1e-3 * np.ptp(values) + 1e-12, err_msg=title
        )
    assert [title for title, _ in shown(write_motion(motion, tmp_path / "n.svg"))] == list(graphs)[:6]


def test_one_sample_is_drawn_where_it_is(tmp_path):
    model = load_urdf(robot("panda"))
    q = model.neutral() + 0.1 * np.arange(model.nq)
    graphs = dict(shown(write_plot(Motion.of(model, [3.0], [q]), tmp_path / "m.svg")))
    turning = np.flatnonzero(~np.asarray(model.is_length))
    np.testing.assert_allclose(np.concatenate(graphs["position [rad]"]), q[turning], atol=1e-3)
    np.testing.assert_allclose(np.concatenate(graphs["velocity [rad/s]"]), 0.0, atol=1e-7)


def test_a_long_motion_shows_its_extremes(tmp_path):
    model = load_urdf(robot("panda"))
    q = np.tile(model.limits.middle(model.neutral()), (5 * MOST, 1))
    q[[123, 5432], 1] += 0.5, -0.7
    drawn = dict(shown(write_plot(Motion.of(model, 0.01 * np.arange(len(q)), q), tmp_path / "m.svg")))["position [rad]"]
    assert len(drawn[1]) <= MOST + 2
    assert [drawn[1].min(), drawn[1].max()] == pytest.approx([q[:, 1].min(), q[:, 1].max()], abs=2e-3)


def test_no_two_curves_of_a_diagram_look_alike(tmp_path):
    """And the line beside a name is as its curve."""
    model = load_urdf(robot("talos_reduced"))
    motion = Motion.of(model, np.arange(4) / 24.0, wandering(model, 4))
    root = ElementTree.parse(write_plot(motion, tmp_path / "m.svg")).getroot()

    def looks(tag):
        lines = [line for line in root.iter(f"{SVG}{tag}") if line.get("stroke-width")]
        return [(line.get("stroke"), line.get("stroke-dasharray")) for line in lines]

    assert looks("polyline") == looks("path") and len(looks("path")) == 3 * model.nv
    assert len(set(looks("polyline")[: model.nv])) == model.nv > 30


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 7.1), (1e-9, 2e-9), (-4e5, 1.0)])
def test_ticks_are_round_and_inside(low, high):
    found = ticks(low, high)
    assert 3 <= len(found) <= 7 and low <= found[0] and found[-1] <= high * (1.0 + 1e-12)


def test_a_long_motion_keeps_its_extremes_and_its_end():
    values = np.sin(np.arange(50_000) / 3000.0)
    values[[12_345, 33_333]] = 7.0, -7.0
    at = kept(values)
    assert {0, 12_345, 33_333, 49_999} <= set(at.tolist()) and len(at) <= MOST + 2 and (np.diff(at) > 0).all()


def test_names_of_many_joints_do_not_lie_over_each_other(tmp_path):
    model = load_urdf(robot("talos_reduced"))
    motion = Motion.of(model, np.arange(4) / 24.0, wandering(model, 4))
    root = ElementTree.parse(write_plot(motion, tmp_path / "m.svg")).getroot()
    own = sorted(
        float(t.get("y"))
        for t in root.iter(f"{SVG}text")
        if (t.get("fill") or "").startswith("#") and t.get("text-anchor") is None
    )
    assert len(own) > 3 * 20 and min(np.diff(own)) >= 11.0 and own[-1] < float(root.get("height"))
