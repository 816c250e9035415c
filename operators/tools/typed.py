"""A number typed during a gesture, as Blender takes it."""

from __future__ import annotations

import math

import bpy

_DIGITS = "0123456789."


class TypedNumber:
    """text: what was typed, without its sign.   value: the number; None while nothing was typed."""

    def __init__(self) -> None:
        self.text, self._is_negative = "", False

    def take(self, kind: str, character: str) -> bool:
        """Whether a key, by Blender's name of it and its character, belongs to a number. A minus turns the sign
        round."""
        if kind == "BACK_SPACE":
            self.text, self._is_negative = self.text[:-1], self._is_negative and len(self.text) > 1
            return True
        if kind in ("MINUS", "NUMPAD_MINUS"):
            self._is_negative = not self._is_negative
            return True
        if kind == "NUMPAD_PERIOD" or character == ",":
            character = "."
        elif kind.startswith("NUMPAD_") and kind[7:].isdigit():
            character = kind[7:]
        if len(character) != 1 or character not in _DIGITS or (character == "." and "." in self.text):
            return False
        self.text += character
        return True

    def angle(self, scene: bpy.types.Scene) -> float | None:
        """[rad] of a number that is typed in the unit of angles that the scene shows."""
        is_radians = scene.unit_settings.system_rotation == "RADIANS"
        return self.value if self.value is None or is_radians else math.radians(self.value)

    def length(self, scene: bpy.types.Scene) -> float | None:
        """[Blender units] of a number that is typed in the unit of lengths of the scene, as Blender takes it."""
        units = scene.unit_settings
        if self.value is None or units.system == "NONE":
            return self.value
        one = bpy.utils.units.to_value(units.system, "LENGTH", "1", str_ref_unit=units.length_unit)
        return self.value * one / units.scale_length

    @property
    def value(self) -> float | None:
        if not self.text.strip("."):
            return None
        return -float(self.text) if self._is_negative else float(self.text)
