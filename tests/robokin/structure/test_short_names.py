"""Names in lists: what all begin with is left out, and long ones are abbreviated so that they still differ."""

from __future__ import annotations

import pytest
from robokin_addon.robokin.structure.short_names import abbreviated, short_names


def test_what_all_begin_with_says_nothing():
    assert short_names(["panda_joint1", "panda_hand_joint"]) == {"panda_joint1": "joint1", "panda_hand_joint": "hand"}


@pytest.mark.parametrize("count", range(8, 20))
def test_abbreviated_names_fit_and_differ(count):
    sides, parts, turns = ("left", "right"), ("hip", "ankle", "wrist", "finger11", "finger12"), ("roll", "pitch", "yaw")
    names = [f"{side}_{part}_{turn}" for side in sides for part in parts for turn in turns]
    short = [abbreviated(name, count) for name in names]
    assert max(map(len, short)) <= count
    assert len(set(short)) == len(names) or count < 11


@pytest.mark.parametrize(
    ("name", "count", "found"),
    [
        ("left_knee", 9, "left_knee"),
        ("left_hip_pitch", 12, "L_hip_pitch"),
        ("Right-Ankle-Pitch", 12, "R-Ankl-Pitch"),
        ("finger12_middle", 11, "fing12_midd"),
        ("upperarmrotation", 9, "upp\u2026ation"),
        ("a_b_c_d_e_f_g_h_i", 8, "a_b…_h_i"),
    ],
)
def test_abbreviations(name, count, found):
    assert abbreviated(name, count) == found
