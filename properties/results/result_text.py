"""Results in words for people: statuses, and numbers in the units of the scene."""

from __future__ import annotations

import math
import re

import bpy
from bpy.utils.units import to_string

STATUS_WORDS = {
    "CONVERGED": "Reached",
    "OUT_OF_REACH": "Out of reach",
    "LIMIT": "Held by joint limits",
    "TASK_CONFLICT": "Tasks contradict each other",
    "SINGULAR": "Singular pose",
    "COLLISION": "Collision",
    "MAX_ITERATIONS": "Not reached",
    "EMPTY": "No task",
}
TOO_FAST = "Too fast"
_OF_ITSELF = "A task contradicts itself"
_NUMBER = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"
_QUANTITY = re.compile(rf"(?<![\w.])({_NUMBER}) (rad|mm|m)(/s\u00b2|/s)?(?![\w/])")
_ABOUT = re.compile(
    r"(?:^|; )(?:too \w+: )?(?:task ')?([^;]+?)'? (?:moves at|accelerates at|jerks by|is at|is off by|needs) "
    r"|(?:velocity|acceleration) limits of ([^,]+)"
)
_STATUS = re.compile(rf"\b({'|'.join(STATUS_WORDS)})\b")


def status_words(status: str, reason: str = "") -> str:
    """A status as a title; limits on positions and limits on speeds have titles of their own, and so have conflicts of
    several tasks and those of one with itself."""
    if status == "LIMIT" and "too fast" in reason:
        return TOO_FAST
    if status == "LIMIT" and "a pose that moves" in reason:
        return "Held by locked joints"
    if status == "TASK_CONFLICT" and "its position alone" in reason:
        return _OF_ITSELF
    return STATUS_WORDS.get(status, status)


def named_first(reason: str) -> str:
    """The first joint or task that a sentence of Check or Bake says something about; "" where it names none."""
    found = _ABOUT.search(reason)
    return found[1] or found[2] if found else ""


def in_scene_units(scene: bpy.types.Scene, sentence: str) -> str:
    """A solver's sentence with its lengths and angles (SI) in the units of the scene, and its statuses in words."""

    def shown(found: re.Match[str]) -> str:
        kind = "ROTATION" if found[2] == "rad" else "LENGTH"
        value = float(found[1]) * (1e-3 if found[2] == "mm" else 1.0)
        return quantity_text(scene, kind, value) + (found[3] or "")

    words = STATUS_WORDS | {"LIMIT": "Held by limits"}  # of positions or of speeds: a sentence may count both
    return _STATUS.sub(lambda found: words[found[1]].lower(), _QUANTITY.sub(shown, sentence))


def scaled_lengths(sentence: str, factor: float) -> str:
    """A solver's sentence with its lengths [m] times a factor, as of a robot whose object is scaled."""
    if abs(factor - 1.0) < 1e-6:
        return sentence

    def scaled(found: re.Match[str]) -> str:
        return found[0] if found[2] == "rad" else found[0].replace(found[1], f"{factor * float(found[1]):.3g}", 1)

    return _QUANTITY.sub(scaled, sentence)


def unitless(scene: bpy.types.Scene) -> bool:
    """Whether Blender shows lengths and masses as bare numbers: our labels then say the unit."""
    return scene.unit_settings.system == "NONE"


SMALL = 0.1  # [m] what is shorter is shown in millimetres

# Units that a scene may have chosen, in metres and kilograms; with "ADAPTIVE" Blender chooses by the size.
_UNITS = {
    "KILOMETERS": (1e3, "km"),
    "METERS": (1.0, "m"),
    "CENTIMETERS": (1e-2, "cm"),
    "MILLIMETERS": (1e-3, "mm"),
    "MICROMETERS": (1e-6, "µm"),
    "MILES": (1609.344, "mi"),
    "FEET": (0.3048, "ft"),
    "INCHES": (0.0254, "in"),
    "THOU": (0.0000254, "thou"),
    "TONNES": (1e3, "t"),
    "KILOGRAMS": (1.0, "kg"),
    "GRAMS": (1e-3, "g"),
    "POUNDS": (0.45359237, "lb"),
    "OUNCES": (0.028349523125, "oz"),
}


def quantity_text(scene: bpy.types.Scene, kind: str, value: float) -> str:
    """A "LENGTH" [m], "MASS" [kg] or "ROTATION" [rad] in the units of the scene."""
    units = scene.unit_settings
    if kind == "ROTATION":
        radians = units.system_rotation == "RADIANS"
        shown = round(value, 5) + 0.0 if radians else round(math.degrees(value), 3) + 0.0  # less is noise
        digits = f"{shown:.3g}" if abs(shown) < 1e3 else f"{shown:.0f}"  # never 3.45e+03
        return f"{digits} rad" if radians else f"{digits}°"
    chosen = units.length_unit if kind == "LENGTH" else units.mass_unit
    if unitless(scene):
        chosen = "METERS" if kind == "LENGTH" else "KILOGRAMS"
    if chosen == "METERS" and 0.0 < abs(value) < SMALL:
        return f"{round(1e3 * value, 4):.4g} mm"
    if chosen in _UNITS:
        size, name = _UNITS[chosen]
        return f"{value / size:.4g} {name}"
    return to_string(units.system, kind, value, precision=3, split_unit=False).strip()
