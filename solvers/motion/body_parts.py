"""Which names of bones or links are the parts of a body: of humanoid robots and of captured motions."""

from __future__ import annotations

import re
from collections.abc import Mapping

# The words for each part, better ones first. A limb's own word stands for the last of its names: leg_left_6_link.
WORDS = {
    "pelvis": ("pelvis", "hips", "hip", "base", "root"),
    "foot": ("foot", "ankle", "sole", "leg"),
    "hand": ("hand", "wrist", "gripper", "palm", "arm"),
    "head": ("head", "neck"),
}
LIMBS = {"leg", "arm"}
CENTRAL = {"pelvis", "head"}
SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of(name: str) -> list[str]:
    """["left", "foot"] of LeftFoot, left_foot, lFoot, mixamorig:LeftFoot and foot.L."""
    found = [word.lower() for word in _WORD.findall(name.rpartition(":")[2])]
    return [SIDES.get(word, word) for word in found]


def body_parts(parents: Mapping[str, str | None]) -> dict[str, str]:
    """{"pelvis", "head", "left foot", "right foot", "left hand", "right hand": name} of what is found. parents: of each
    name that above it, None of a root. Of several names for a part the one with fewest words is taken, and of these
    the last of the chain; of a limb's own word the last alone counts."""
    words = {name: words_of(name) for name in parents}
    found = {}
    for part, choices in WORDS.items():
        for side in ("",) if part in CENTRAL else ("left", "right"):
            own = [name for name in parents if {"left", "right"} & set(words[name]) == ({side} if side else set())]
            for choice in choices:
                fitting = [name for name in own if choice in words[name]]
                if fitting:
                    brevity = {name: 0 if choice in LIMBS else -len(words[name]) for name in fitting}
                    ranks = [(brevity[name], _depth(name, parents)) for name in fitting]
                    found[f"{side} {part}".strip()] = fitting[ranks.index(max(ranks))]
                    break
    return found


def _depth(name: str, parents: Mapping[str, str | None]) -> int:
    count, above = 0, parents[name]
    while above is not None:
        count, above = count + 1, parents.get(above)
    return count
