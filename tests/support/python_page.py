"""docs/python.md: its blocks of code and the rows of its tables."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"
TEXT = PAGE.read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, flags=re.MULTILINE | re.DOTALL)
ROWS = [line for line in TEXT.splitlines() if line.startswith("| `")]


def lined(blocks: list[str]) -> str:
    """The code at the lines where it stands in the page."""
    lines = [""] * TEXT.count("\n")
    for block in blocks:
        at = TEXT[: TEXT.index(block)].count("\n")
        own = block.splitlines()
        lines[at : at + len(own)] = own
    return "\n".join(lines)
