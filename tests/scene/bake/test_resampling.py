"""What is said of limits that samples break."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from robokin_addon.scene.bake.resampling import broken_limits


@pytest.mark.parametrize(
    ("frames", "broken", "where"),
    [
        ([1, 2, 3, 4, 5], [0, 1, 2, 4], "1 to 3, 5"),
        ([1, 3, 5, 7, 9], [0, 1, 2, 3, 4], "1 to 9"),
        ([1, 3, 5, 7, 9], [0, 2, 3], "1, 5 to 7"),
        ([1, 1.2, 1.4, 1.6, 1.8, 2, 3, 4], [1, 2, 3, 7], "1 to 2, 4"),
        ([*range(1, 20, 2)], [0, 2, 4, 6, 8], "1, 5, 9 and 2 more"),
    ],
)
def test_samples_one_after_the_other_are_one_span(frames: Sequence[float], broken: Sequence[int], where: str) -> None:
    found = [SimpleNamespace(frame=i, sentence=lambda: "speed") for i in broken]
    assert broken_limits(found, frames, "mend it") == [f"limits are broken at frame {where}, first the speed: mend it"]
