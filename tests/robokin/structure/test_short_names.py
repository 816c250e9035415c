"""Names in lists: what all begin with is left out, and long ones are abbreviated so that they still differ."""

from __future__ import annotations

import pytest
from robokin_addon.robokin.structure.short_names import abbreviated, clipped, short_names


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


def test_clipped_names_keep_their_ends():
    names = [f"arm_{side}_{i}_joint" for side in ("left", "right") for i in range(1, 8)]
    short = [clipped(name, 13) for name in names]
    assert len(set(short)) == len(names)
    assert all(text.endswith(name[-7:]) for name, text in zip(names, short, strict=True))
    assert clipped("right_shoulder", 14) == "right_shoulder"
    assert clipped("right_shoulder_pitch", 16) == "right_s\u2026er_pitch"
