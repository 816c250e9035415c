"""Display values of colours (sRGB, IEC 61966-2-1) and linear ones, both from 0 to 1."""

from __future__ import annotations


def to_linear(value: float) -> float:
    value = min(max(value, 0.0), 1.0)
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def to_display(value: float) -> float:
    """Rounded to what single precision knows."""
    value = min(max(value, 0.0), 1.0)
    return round(12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055, 6)
