"""Names as short as a list is narrow: without what they all begin with."""

from __future__ import annotations

import re
from collections.abc import Collection

_SIDES = {"left": "L", "right": "R"}  # as Blender writes them
LEAST = 2  # letters of a word


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


def abbreviated(name: str, count: int) -> str:
    """A name of at most so many letters that still differs from others of its kind: the sides become L and R, then
    words lose letters before their numbers, the longest first; of one word, or what is longer still, the middle."""
    if len(name) <= count:
        return name
    words = [_SIDES.get(word.lower(), word) for word in re.split(r"([_\-./ :])", name)]  # with what is between them
    stems = [len(word.rstrip("0123456789")) for word in words]
    over = sum(map(len, words)) - count
    while over > 0 and len(words) > 1 and (most := max(stems)) > LEAST:
        at = stems.index(most)
        words[at] = words[at][: most - 1] + words[at][most:]
        stems[at], over = most - 1, over - 1
    return "".join(words) if over <= 0 else clipped(name, count)


def clipped(text: str, count: int) -> str:
    """`text` with its middle left out where it has more letters: names of joints differ at their ends."""
    if len(text) <= count:
        return text
    tail = (count + 1) // 2
    return f"{text[: count - tail - 1]}\u2026{text[-tail:]}"
