"""Reports: JSON for machines, a few lines for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..robokin import clamp
from ..robokin.arrays import Array
from ..robokin.errors import FileFormatError
from ..robokin.files.text_file import read_text, written
from ..robokin.model.robot import RobotModel
from .errors import UsageError
from .interrupts import check_interrupt
from .terminal import out

STANDARD_OUTPUT = "-"
ROUNDING = 1e-9  # [rad, m] of joint values that are typed


def write_report(report: dict, target: str | None, summary: str) -> None:
    """Write `report` as JSON to the file `target`, or to standard output for "-"; else print `summary`."""
    with kept_report(report, target):
        pass
    show_report(report, target, summary)


@contextmanager
def kept_report(report: dict, target: str | None) -> Iterator[None]:
    """The file of `write_report`: there when the block ends, but a disk without room for it is found before the block
    does what the report says. `show_report` does the rest. Raises FileFormatError, and KeyboardInterrupt after Ctrl+C:
    what was stopped reports nothing."""
    check_interrupt()
    if target in (None, STANDARD_OUTPUT):
        yield
    else:
        with written(target, _json(report, ensure_ascii=False) + "\n"):
            yield


def show_report(report: dict, target: str | None, summary: str, *written: str) -> None:
    """written: files that the command has written besides."""
    if target == STANDARD_OUTPUT:
        out(_json(report, ensure_ascii=True), *written)
    else:
        out(summary, *written, *filter(None, [target]))


def _json(report: dict, ensure_ascii: bool) -> str:
    return json.dumps(_plain(report), indent=1, ensure_ascii=ensure_ascii, allow_nan=False)


def _plain(value: object) -> object:
    """JSON has no infinity: an absent limit is null."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def frame_rows(record: dict, *more: str) -> list[dict]:
    """The frames of a bake or a check, with what the two have in common, and more keys that were asked for."""
    keys = ("frame", "status", "residuals", "q", "costs", *more)
    return [{key: row[key] for key in keys if key in row} for row in record["frames"]]


def read_joint_values(text: str, option: str) -> dict:
    """Joint values from JSON text, or from the JSON file that `text` names. Raises UsageError."""
    source = option
    if not text.lstrip().startswith("{"):
        source = f"{option} {text}"
        try:
            text = read_text(text, "joint values")
        except FileFormatError:
            raise UsageError(f'{source}: neither JSON like {{"joint": value}} nor a readable file') from None
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f'{source}: not JSON like {{"joint": value}}: {error}') from None
    except (ValueError, RecursionError):
        raise UsageError(f"{source}: a number of thousands of digits, or lists in lists too deep to read") from None
    if not isinstance(values, dict):
        raise UsageError(f'{source}: must be an object like {{"joint": value}}')
    return values


def read_start(model: RobotModel, text: str, option: str) -> Array:
    """(nq,) of joint values, see `read_joint_values`; joints not named are as near to neutral as their limits let them.
    Raises UsageError for a value outside the limits."""
    values = read_joint_values(text, option)
    given = model.configuration(values)
    q = clamp(model, given)
    for name, value in values.items():
        own = model.slot(name).q
        i = own.start + int(np.argmax(abs(q[own] - given[own])))
        if abs(q[i] - given[i]) > ROUNDING:
            low, high = model.lower[i], model.upper[i]
            where = f"its limits {low:g} .. {high:g}" if np.isfinite((low, high)).any() else "its cone"
            raise UsageError(f"{option}: joint {name!r} is at {value}, outside {where}")
    return q
