"""Reports: JSON for machines, a few lines for people."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from .errors import UsageError

STANDARD_OUTPUT = "-"


def write_report(report: dict, target: str | None, summary: str) -> None:
    """Write `report` as JSON to the file `target`, or to standard output for "-"; else print `summary`."""
    if target == STANDARD_OUTPUT:
        print(_json(report, ensure_ascii=True))
        return
    if target is not None:
        try:
            Path(target).write_text(_json(report, ensure_ascii=False) + "\n", "utf-8")
        except OSError as error:
            raise UsageError(f"{target}: the report cannot be written ({error.strerror})") from None
    print(summary)


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


def frame_rows(told: dict) -> list[dict]:
    """The frames of a bake or a check, with what the two have in common."""
    keys = ("frame", "status", "residuals", "q", "costs")
    return [{key: row[key] for key in keys if key in row} for row in told["frames"]]


def read_joint_values(text: str, option: str) -> dict:
    """Joint values from JSON text, or from the JSON file that `text` names. Raises UsageError."""
    source = option
    if not text.lstrip().startswith("{"):
        source = f"{option} {text}"
        try:
            text = Path(text).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            raise UsageError(f'{source}: neither JSON like {{"joint": value}} nor a readable file') from None
    try:
        values = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f'{source}: not JSON like {{"joint": value}}: {error}') from None
    if not isinstance(values, dict):
        raise UsageError(f'{source}: must be an object like {{"joint": value}}')
    return values


def say(line: str) -> None:
    """A remark for the person at the terminal; standard output is for the report."""
    print(f"robokin: {line}", file=sys.stderr)
