"""Where labels are drawn."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from robokin_addon.panels.overlays import drawing
from robokin_addon.panels.overlays.scene_view import PARTS, SceneOverlays
from support.blender.scene_robots import add_robot


def region(kind, alignment, x, y, width, height):
    return SimpleNamespace(type=kind, x=x, y=y, width=width, height=height, alignment=alignment)


@pytest.mark.parametrize(
    ("others", "low", "high"),
    [
        ([("TOOLS", "LEFT", 0, 0, 60, 800), ("UI", "RIGHT", 900, 0, 300, 800)], (60.0, 0.0), (850.0, 800.0)),
        ([("TOOLS", "LEFT", 0, 0, 1, 800), ("UI", "RIGHT", 1199, 0, 1, 800)], (0.0, 0.0), (1150.0, 800.0)),
        ([("UI", "LEFT", 0, 0, 300, 800)], (300.0, 0.0), (1150.0, 800.0)),
        ([("UI", "RIGHT", 1200, 0, 300, 800)], (0.0, 0.0), (1150.0, 800.0)),  # beside it: regions do not overlap
        (
            [("HEADER", "TOP", 0, 774, 1200, 26), ("TOOL_HEADER", "TOP", 0, 748, 1200, 26)],
            (0.0, 0.0),
            (1150.0, 748.0),
        ),
        (
            [("HEADER", "BOTTOM", 0, 0, 1200, 26), ("TOOL_HEADER", "TOP", 0, 800, 1200, 26)],
            (0.0, 26.0),
            (1150.0, 800.0),
        ),
    ],
)
def test_labels_keep_out_of_what_lies_over_the_region(scene, others, low, high):
    own = region("WINDOW", "NONE", 0, 0, 1200, 800)
    context = SimpleNamespace(
        region=own,
        area=SimpleNamespace(regions=[own, *(region(*other) for other in others)]),
        preferences=SimpleNamespace(view=SimpleNamespace(show_navigate_ui=True), system=SimpleNamespace(ui_scale=1.0)),
        space_data=SimpleNamespace(show_gizmo_navigate=True),
    )
    assert drawing._uncovered(context) == (low, high)


def points_between(first, last):
    return first + np.linspace(0.0, 1.0, 400)[:, None] * (last - first)


def lies_over(place, size, first, last):
    """Whether a segment touches the rectangle of a label with its plate."""
    at = points_between(first, last)
    low, high = np.array(place) - 4.0, np.array(place) + size + 4.0
    return bool(((at > low) & (at < high)).all(axis=1).any())


def test_a_label_lies_beside_its_arrow_and_never_on_it():
    """Also where the arrow leaves the view, or ends at its edge."""
    rng, low, high, size = np.random.default_rng(5), np.array((60.0, 0.0)), np.array((850.0, 700.0)), (160.0, 11.0)
    away, apart = 0, []
    for _ in range(3000):
        tail, at = rng.uniform(low - 50.0, high + 50.0), rng.uniform(low - 600.0, high + 600.0)
        is_inside = (at > low).all() and (at < high).all()
        place = drawing.label_place([Vector(at), Vector(tail)], size, Vector(low), Vector(high), 8.0)
        if place is None:
            assert not is_inside
            continue
        assert (np.array(place) > low).all() and (np.array(place) + size < high).all()
        assert not lies_over(place, size, tail, at)
        away += not is_inside
        nearest = np.clip(arrow := points_between(tail, at), place, np.array(place) + size)
        apart.append(np.linalg.norm(nearest - arrow, axis=1).min())
    assert len(apart) > 2000 and away > 1000
    assert np.median(apart) < 12.0 and max(apart) < 100.0


def test_labels_of_what_is_not_seen_are_not_drawn():
    """They lay at the edges of the view."""
    low, high = Vector((60.0, 0.0)), Vector((850.0, 700.0))
    assert drawing.label_place([], (160.0, 11.0), low, high, 8.0) is None
    assert drawing.label_place([Vector((-5.0, 300.0))], (160.0, 11.0), low, high, 8.0) is None
    assert drawing.label_place([Vector((300.0, 300.0))], (160.0, 11.0), low, high, 8.0) == (308.0, 294.5)


def test_labels_that_are_all_behind_the_view_have_no_plates(scene, monkeypatch):
    """A buffer of no points is refused."""
    context = SimpleNamespace(preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)))
    monkeypatch.setattr(drawing, "bpy", SimpleNamespace(context=context))
    monkeypatch.setattr(drawing, "_begun", {"is_light": False})
    monkeypatch.setattr(drawing._shown, "labels", [drawing.Label("text", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0))])
    monkeypatch.setattr(drawing, "_placed", lambda *arguments: [])
    drawn = []
    monkeypatch.setattr(drawing, "_draw_plates", lambda *arguments: drawn.append(arguments))
    drawing._draw_labels()
    assert drawing._begun == {} and drawn == []


def test_a_label_is_moved_past_all_that_it_would_lie_on():
    """Upwards, or downwards where it would leave the view."""
    rng, downwards = np.random.default_rng(11), 0
    for _ in range(50):
        taken, placed, height, top = [], [], rng.uniform(5.0, 40.0), 250.0
        for x, y, width in rng.uniform((0.0, 0.0, 10.0), (300.0, 200.0, 120.0), (25, 3)).tolist():
            found = drawing._free(x, y, width, height, top, taken)
            wanted = y
            for at, left, right in sorted(placed):
                if left < x + width and x < right and abs(at - wanted) < height:
                    wanted = at + height
            if wanted + height > top:
                downwards += 1
                assert found[0] == x and found[1] <= y
                for at, left, right in placed:
                    assert right <= x or left >= x + width or abs(at - found[1]) >= height - 1e-9
            else:
                assert found == (x, wanted)
            placed.append((found[1], x, x + width))
        assert taken == sorted(placed)
    assert downwards > 20


@pytest.mark.parametrize("how", ["show", "axes", "hidden", "object", "armature"])
def test_nothing_is_kept_of_what_is_no_longer_shown(scene, monkeypatch, how):
    obj, settings = add_robot(), scene.robokin.overlays
    settings.show = settings.axes = True
    for name in set(PARTS) - {"axes"}:
        setattr(settings, name, False)
    overlay, done = SimpleNamespace(show_overlays=True), lambda *arguments: None
    context = SimpleNamespace(
        scene=scene, view_layer=bpy.context.view_layer, space_data=SimpleNamespace(overlay=overlay)
    )
    state = SimpleNamespace(blend_set=done, depth_test_set=done)
    fakes = {
        "bpy": SimpleNamespace(context=context, data=bpy.data),
        "gpu": SimpleNamespace(shader=SimpleNamespace(from_builtin=done), state=state),
        "_shown": SceneOverlays(),
        "_batches": {"version": -1, "is_light": False},
        "_begun": {},
        "_is_light": lambda context: False,
        "_draw_batches": done,
        "batch_of": lambda *arguments: arguments,
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(drawing, name, fake)
    bpy.context.view_layer.update()
    drawing._draw_shapes()
    assert "lines" in drawing._batches
    if how in ("show", "axes"):
        setattr(settings, how, False)
    elif how == "hidden":
        obj.hide_set(True)
    elif how == "object":
        bpy.data.objects.remove(obj)
    else:
        bpy.data.armatures.remove(obj.data)
    bpy.context.view_layer.update()
    drawing._draw_shapes()
    assert drawing._batches == {"version": -1, "is_light": False} and drawing._shown.lines is None
    if how in ("show", "axes"):
        setattr(settings, how, True)
        drawing._draw_shapes()
        assert "lines" in drawing._batches
