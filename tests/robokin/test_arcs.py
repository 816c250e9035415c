"""Arcs between two limit angles, against the definition on the circle itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from robokin_addon.robokin import ModelError, arc_limits

TURN = 2.0 * math.pi
# Ends of turns and what is next to them, which are drawn as often as any others.
SPECIAL = (-50.0, -TURN, -math.pi, 0.0, 5e-324, 1e-3, 0.5 * math.pi, math.pi, np.nextafter(TURN, 0.0), TURN, 3.0, 50.0)


def triples() -> list[list[float]]:
    rng = np.random.default_rng(0)
    drawn = np.where(rng.random((500, 3)) < 0.5, rng.choice(SPECIAL, (500, 3)), rng.uniform(-50.0, 50.0, (500, 3)))
    return drawn.tolist()


def degrees(*angles: float) -> list[float]:
    return np.degrees(arc_limits(*np.radians(angles))).tolist()


@pytest.mark.parametrize(
    ("angles", "expected"),
    [
        ((-90, 90, 0), (-90, 90)),
        ((90, -90, 0), (-90, 90)),
        ((270, 90, 0), (-90, 90)),  # a multiple of a turn away
        ((-90, 90, 180), (90, 270)),  # the other arc
        ((170, -170, 200), (190, 530)),
        ((170, -170, 180), (170, 190)),
        ((170, -170, -180), (-190, -170)),
        ((0, 180, 90), (0, 180)),
        ((0, 180, -90), (-180, 0)),
        ((0, 90, 720), (720, 810)),  # in the turn where the joint stands
        ((-180, 180, 0), (-180, 180)),  # one place: the whole turn
        ((0, 360, 200), (0, 360)),
        ((30, 30, 0), (-330, 30)),
        ((0, 90, 0), (0, 90)),  # at an end: from the smaller number up to the larger
        ((90, 0, 90), (0, 90)),
        ((-90, 0, 0), (-90, 0)),
        ((0, 270, 0), (0, 270)),
        ((10, 350, 350), (10, 350)),
    ],
)
def test_arcs(angles: tuple[float, float, float], expected: tuple[float, float]) -> None:
    assert degrees(*angles) == pytest.approx(expected, abs=1e-12)


def on_circle(angle: float) -> complex:
    return complex(math.cos(angle), math.sin(angle))


def test_the_definition() -> None:
    turns = np.random.default_rng(1).integers(-3, 4, (500, 2))
    for angles, (some, more) in zip(triples(), turns.tolist(), strict=True):
        is_the_arc(*angles, some, more)


def is_the_arc(first: float, second: float, start: float, some: int, more: int) -> None:
    lower, upper = arc_limits(first, second, start)
    assert lower <= start <= upper
    assert 0.0 <= upper - lower <= TURN + 2e-6
    ends = {min((first, second), key=lambda a: abs(on_circle(a) - on_circle(end))) for end in (lower, upper)}
    for end in (lower, upper):
        assert min(abs(on_circle(end) - on_circle(a)) for a in (first, second)) < 2e-6
    if abs(on_circle(first) - on_circle(second)) > 1e-3:
        assert ends == {first, second}
        # Nothing between the limits is a limit angle: it is one arc, not more.
        angles = np.linspace(lower, upper, 50)
        between = np.exp(1j * angles[np.minimum(angles - lower, upper - angles) > 1e-3])
        for a in (first, second):
            assert (abs(between - on_circle(a)) > 1e-4).all()
    if min(abs(on_circle(start) - on_circle(a)) for a in (first, second)) > 1e-5:
        assert arc_limits(second, first, start) == (lower, upper)
        again = arc_limits(first + some * TURN, second + more * TURN, start)
        assert again == pytest.approx((lower, upper), abs=1e-12)


def test_in_single_precision() -> None:
    """A joint that stands at its limit as Blender rounds it does not jump to the other arc."""
    tried = 0
    for first, second, _ in triples():
        low, high = sorted((first, second))
        at = float(np.float32(low))
        if 1e-3 < (high - low) % TURN < TURN - 1e-3 and abs(at - low) < 1e-7:
            lower, upper = arc_limits(first, second, at)
            assert upper - lower == pytest.approx((high - low) % TURN, abs=1e-5)
            tried += 1
    assert tried > 100


@pytest.mark.parametrize("wrong", [math.nan, math.inf, "90", None])
def test_what_is_no_angle(wrong: object) -> None:
    for place in range(3):
        angles: list = [0.1, 0.2, 0.3]
        angles[place] = wrong
        with pytest.raises(ModelError, match=f"the {('first', 'second', 'start')[place]} angle must be"):
            arc_limits(*angles)
