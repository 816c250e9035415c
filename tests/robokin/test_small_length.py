"""Lengths as people read them."""

import pytest
from robokin_addon.robokin.units import small_length


@pytest.mark.parametrize(
    ("length", "text"), [(0.0, "0 mm"), (0.00042, "0.42 mm"), (0.9994, "999 mm"), (1.0, "1 m"), (27.34, "27.3 m")]
)
def test_millimetres_below_a_metre_and_metres_above(length: float, text: str) -> None:
    assert small_length(length) == text
