"""Names as short as a list is narrow: without what they all begin with."""

from __future__ import annotations

from collections.abc import Collection


def short_names(names: Collection[str]) -> dict[str, str]:
    """{name: by what it differs from the others}: without the words that all begin with, and the ending "_joint"."""
    common = common_start(names)
    short = {name: name[common:].removesuffix("_joint") or name for name in names}
    return short if len(set(short.values())) == len(short) else {name: name[common:] for name in names}


def common_start(names: Collection[str]) -> int:
    """How many letters all names begin with, in whole words: what says nothing in a list of them."""
    first, last = min(names, default=""), max(names, default="")
    alike = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    return max(first[:alike].rfind(mark) for mark in "_-./ :") + 1
