"""Results in words for people, and numbers in the units of the scene."""

from __future__ import annotations

import pytest
from robokin_addon.properties.results.result_text import in_scene_units, named_first, scaled_lengths, status_words
from robokin_addon.properties.results.stored_results import store_failures
from robokin_addon.scene.check.rows import limit_rows
from robokin_addon.solvers import Status
from robokin_addon.solvers.ik.diagnosis import LOST_MOTION
from robokin_addon.solvers.motion.violation import Violation
from support.blender.panels import draw
from support.blender.scene_robots import add_robot


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("hand is off by 9.54 m and 1.42 rad", "hand is off by 9.54 m and 81.4°"),
        ("hand is off by 1.2e-05 m and 2.8e-07 rad", "hand is off by 0.012 mm and 0°"),
        ("hand is off by 0.02663 m, 0.2089 m away", "hand is off by 26.63 mm, 0.2089 m away"),
        ("joint4 moves at 8 rad/s, allowed 2.5 m/s", "joint4 moves at 458°/s, allowed 2.5 m/s"),
        ("a at 3.1415927 rad/s\u00b2", "a at 180°/s\u00b2"),
        ("3 frames; 2 miss a task, the first 1 (MAX_ITERATIONS)", "3 frames; 2 miss a task, the first 1 (not reached)"),
        ("link_2 m is 3 mm, R2 radius", "link_2 m is 3 mm, R2 radius"),
    ],
)
def test_numbers_are_in_the_units_of_the_scene(scene, sentence, said):
    scene.unit_settings.system, scene.unit_settings.length_unit = "METRIC", "METERS"
    assert in_scene_units(scene, sentence) == said


def test_millimetres_of_a_sentence_are_in_the_unit_of_the_scene_too(scene):
    scene.unit_settings.system, scene.unit_settings.length_unit = "METRIC", "CENTIMETERS"
    assert in_scene_units(scene, "up to 25 mm, slips at 3 mm/s") == "up to 2.5 cm, slips at 0.3 cm/s"
    assert scaled_lengths("up to 25 mm", 2.0) == "up to 50 mm"


def test_no_status_is_reported_by_its_code():
    assert all(status_words(status) != str(status) for status in Status)
    assert status_words("LIMIT", "too fast for the velocity limits of a") == "Too fast"
    assert status_words("LIMIT", "the limits of a hold it") == "Held by joint limits"
    alone = "its position alone can be met, and its orientation alone, no pose was found for both: a"
    assert status_words("TASK_CONFLICT", alone) == "A task contradicts itself"
    both = "each alone can be met, no pose was found for all: a, b"
    assert status_words("TASK_CONFLICT", both) == "Tasks contradict each other"


def test_a_bake_that_is_too_fast_says_so_once_and_alike(scene):
    settings = add_robot().robokin.solver
    reason = "too fast for the velocity or acceleration limits of panda_joint4"
    settings.bake_status, settings.bake_reason = "LIMIT", f"frames 5-12: {reason} (4 CONVERGED, 8 LIMIT)"
    store_failures(settings.bake_failures, [(5, 12, Status.LIMIT, reason)])
    shown = " ".join(draw()["ROBOKIN_PT_bake"]["labels"])
    assert shown.lower().count("too fast") == 2  # the title and the row
    assert "Too fast for the velocity" in shown and "joint limits" not in shown
    assert in_scene_units(scene, settings.bake_reason).endswith("(4 reached, 8 held by limits)")


@pytest.mark.parametrize("name", ["elbow", "Upper Arm.L", "arm/x", "needs_grease"])
def test_a_sentence_names_its_joint_or_task_whatever_it_is_called(name):
    for kind, unit in (("velocity", "rad/s"), ("jerk", "rad/s\u00b3"), ("lower", "rad"), ("effort", "N m")):
        (row,) = limit_rows(range(10), [Violation(3, name, kind, 2.0, 1.0, unit)], 1.0)
        assert named_first(row.reason) == name
    assert named_first(f"too fast for the velocity limits of {name}, other") == name
    assert named_first(f"{name} is off by 3 mm; other is off by 2 mm") == name
    for first in (f"{LOST_MOTION} (least singular value 1e-07)", "not met after 1 attempt"):
        assert named_first(f"{first}; task {name!r} is off by 17.3 mm and 0.215\u00b0") == name
    assert named_first("the robot tips: its zero-moment point is 0.1 m outside of what it stands on") == ""
