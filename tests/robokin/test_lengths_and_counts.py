"""Lengths and counts as people read them."""

import pytest
from robokin_addon.robokin.units import counted, small_length


@pytest.mark.parametrize(
    ("length", "text"), [(0.0, "0 mm"), (0.00042, "0.42 mm"), (0.9994, "999 mm"), (1.0, "1 m"), (27.34, "27.3 m")]
)
def test_millimetres_below_a_metre_and_metres_above(length: float, text: str) -> None:
    assert small_length(length) == text


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (1, ("frame",), "1 frame"),
        (0, ("frame",), "0 frames"),
        (1, ("mesh", "meshes"), "1 mesh"),
        (2, ("misses a task", "miss a task"), "2 miss a task"),
    ],
)
def test_one_thing_and_several(number: int, words: tuple[str, ...], text: str) -> None:
    assert counted(number, *words) == text
