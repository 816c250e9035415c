"""Which names of bones or links are the parts of a body: of humanoid robots and of captured motions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# The words for each part, better ones first. A limb's own word stands for the last of its numbers: leg_left_6_link.
WORDS = {
    "pelvis": ("pelvis", "hips", "hip", "base", "trunk", "root"),
    "foot": ("foot", "paw", "ankle", "sole", "leg"),
    "hand": ("hand", "wrist", "gripper", "palm", "arm"),
    "head": ("head", "neck"),
}
LIMBS = {"leg", "arm"}
FINGERS = {"thumb", "index", "middle", "ring", "little", "pinky", "pinkie", "finger", "fingers"}
_PAIRED = "foot", "hand"
CENTRAL = {"pelvis", "head"}
SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}
ENDS = {"front": "front", "fore": "front", "hind": "hind", "rear": "hind", "back": "hind"}
# Legs of four: FL_hip, LF_FOOT, hl.paw. Only where there is one in front on the left: else lh is a left hand.
CORNERS = {"fl", "fr", "rl", "rr", "hl", "hr", "lf", "rf", "lh", "rh", "lr"}
FIRST_CORNERS = {"fl", "lf"}
PLACES = {"left", "right", "front", "hind"}
_LETTERS = {"f": "front", "h": "hind"}
_SIDED = re.compile(r"([lr])((?:foot|toe|ankle|hand|wrist|arm|leg|hip|palm|sole).*)")  # lfoot, rhipjoint
_SIDED_LAST = re.compile(r"(foot|hand|arm|leg)([lr])")  # legl
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words_of(name: str) -> list[str]:
    """["left", "foot"] of LeftFoot, left_foot, lFoot, lfoot, footl, mixamorig:LeftFoot and foot.L."""
    found: list[str] = []
    for word in _WORD.findall(name.rpartition(":")[2].strip()):
        sided = _SIDED.fullmatch(word.lower()) or _SIDED_LAST.fullmatch(word.lower())
        found += sided.groups() if sided else (word.lower(),)
    numbers = [k for k, word in enumerate(found[:-1]) if word in ("l", "r") and found[k + 1].isdigit()]
    links = {k for k in numbers if any(word in SIDES for word in found[:k])}  # R_arm_l8 is the eighth link on the right
    return [SIDES.get(word, ENDS.get(word, word)) for k, word in enumerate(found) if k not in links]


def body_parts(parents: Mapping[str, str | None]) -> dict[str, str]:
    """{"pelvis", "head", "left foot", "right foot", "left hand", "right hand": name} of what is found; of four legs
    "front left foot" to "hind right foot". parents: of each name that above it, None of a root. Of several names for a
    part the one with fewest words is taken, and of these the last of the chain; of a limb's own word the last number
    alone counts, and no finger is a hand. A pelvis without a name is what both feet are on, a head the end of the
    longest chain without a side on what both hands are on."""
    words = {name: words_of(name) for name in parents}
    if any(FIRST_CORNERS & set(own) for own in words.values()):
        words = {name: [each for word in own for each in _cornered(word)] for name, own in words.items()}
    is_on_four = any({"front", "left"} <= set(own) and set(WORDS["foot"]) & set(own) for own in words.values())
    found = {}
    for part, choices in WORDS.items():
        for side in _places(part, is_on_four):
            own = [name for name in parents if PLACES & set(words[name]) == set(side.split())]
            for choice in choices:
                fitting = [name for name in own if _fits(choice, words[name])]
                if fitting:
                    brevity = {name: 0 if choice in LIMBS else -len(words[name]) for name in fitting}
                    ranks = [(brevity[name], _depth(name, parents)) for name in fitting]
                    found[f"{side} {part}".strip()] = fitting[ranks.index(max(ranks))]
                    break
    feet, hands = (_shared([found.get(f"{side} {part}") for side in ("left", "right")], parents) for part in _PAIRED)
    if "pelvis" not in found and feet:
        found["pelvis"] = feet
    if "head" not in found and hands:
        above = [name for name in parents if hands in _chain(name, parents)[1:] and not PLACES & set(words[name])]
        own = [name for name in above if words[name][:1] == words[hands][:1]] or above  # spine.006 on spine.003
        if own:
            found["head"] = max(own, key=lambda name: _depth(name, parents))
    return found


def limb(name: str, other: str, parents: Mapping[str, str | None]) -> tuple[list[str], str | None]:
    """The names from one up to the last that another of its kind has not above it too, and the first that both have."""
    shared, own = _shared([name, other], parents), _chain(name, parents)
    return own[: own.index(shared)] if shared is not None else own, shared


def _fits(choice: str, words: Sequence[str]) -> bool:
    """An arm is no hand (LeftArm begins at the shoulder), but for the last of several."""
    is_numbered = choice not in LIMBS or any(word.isdigit() for word in words)
    is_finger = choice in WORDS["hand"] and FINGERS.intersection(words)
    return choice in words and is_numbered and not is_finger


def _shared(names: list[str | None], parents: Mapping[str, str | None]) -> str | None:
    """The last of what all of two names are on; None where one is missing."""
    if None in names:
        return None
    first, second = (_chain(str(name), parents) for name in names)
    return next((name for name in first if name in second), None)


def _chain(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """The name and those above it, up to a root."""
    found, above = [name], parents[name]
    while above is not None:
        found.append(above)
        above = parents.get(above)
    return found


def _places(part: str, is_on_four: bool) -> tuple[str, ...]:
    if part in CENTRAL:
        return ("",)
    sides = "left", "right"
    if part == "foot" and is_on_four:
        return tuple(f"{end} {side}" for end in ("front", "hind") for side in sides)
    return sides


def _cornered(word: str) -> list[str]:
    """["front", "left"] of fl and lf; of rl and rr the r that is no side is the rear."""
    if word not in CORNERS:
        return [word]
    end = next((_LETTERS[letter] for letter in word if letter in _LETTERS), "hind")
    side = word[1] if word[0] in "fhr" and word[1] in "lr" else word[0]
    return [end, SIDES[side]]


def _depth(name: str, parents: Mapping[str, str | None]) -> int:
    return len(_chain(name, parents))
