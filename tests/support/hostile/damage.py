"""Damage to the JSON texts that lie on bones: named kinds of it, and random ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

DEEP = "[" * 100_000


def _put(*path: Any, value: Any) -> Callable[[dict], Any]:
    def change(data: dict) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return change


def _drop(name: str) -> Callable[[dict], Any]:
    def change(data: dict) -> None:
        del data[name]

    return change


# What is done to a record, and the words that tell of it.
RECORDS: dict[str, tuple[Callable[[dict], Any], str]] = {
    "not JSON": (lambda data: "{", "not JSON"),
    "no text": (lambda data: 3, "must be a text, not 3"),
    "a group": (lambda data: {"version": 2}, "must be a text"),
    "nested without end": (lambda data: DEEP, "nested too deeply"),
    "nested inside": (lambda data: json.dumps(data).replace('"pitch": 0.0', f'"pitch": {DEEP}'), "nested too deeply"),
    "a list": (lambda data: "[]", "must be an object"),
    "version 0": (_put("version", value=0), "version must be a whole number of 1 to 4, not 0"),
    "version -1": (_put("version", value=-1), "version"),
    "version text": (_put("version", value="2"), "version"),
    "version true": (_put("version", value=True), "version"),
    "version infinite": (lambda data: json.dumps(data | {"version": float("inf")}), "Infinity"),
    "version 99": (_put("version", value=99), "version 99"),
    "version 10^400": (_put("version", value=10**400), "version"),
    "no joint": (_drop("joint"), "joint is missing"),
    "joint null": (_put("joint", value=None), "joint must be an object, not null"),
    "joint of another": (_put("joint", "colour", value=1), "'colour'"),
    "placement singular": (_put("joint", "placement", value=[0.0] * 12), "placement"),
    "placement null": (_put("joint", "placement", value=None), "placement"),
    "placement of 3": (_put("joint", "placement", value=[1, 2, 3]), "placement must be a list of 12"),
    "placement of texts": (_put("joint", "placement", value=["a"] * 12), r"placement\[0\]"),
    "axis zero": (_put("joint", "axis", value=[0, 0, 0]), "axis"),
    "axis an object": (_put("joint", "axis", value={}), "axis must be a list"),
    "lower an object": (_put("joint", "lower", value={}), "lower"),
    "lower of an object": (_put("joint", "lower", value=[{}]), r"lower\[0\]"),
    "lower of a list": (_put("joint", "lower", value=[[1.0]]), r"lower\[0\]"),
    "lower above upper": (_put("joint", "lower", value=[4.0]), "above upper"),
    "too many limits": (_put("joint", "upper", value=[1.0, 2.0]), "upper"),
    "damping null": (_put("joint", "damping", value=None), "damping"),
    "pitch of 10^400": (_put("joint", "pitch", value=10**400), "pitch"),
    "pitch true": (_put("joint", "pitch", value=True), "pitch"),
    "type a list": (_put("joint", "type", value=["revolute"]), "type"),
    "type unknown": (_put("joint", "type", value="elastic"), "elastic"),
    "name a number": (_put("joint", "name", value=7), "joint.name must be a text, not 7"),
    "name that is no text": (_put("joint", "name", value="\ud800"), "joint.name"),
    "name with an end": (_put("joint", "name", value="a\0b"), "joint.name"),
    "mimic a list": (_put("joint", "mimic", value=[]), "mimic"),
    "mimic of nothing": (_put("joint", "mimic", value={}), "mimic"),
    "drive of a hinge": (
        _put("joint", "drive", value={"left": "a", "right": "b", "radius": 1, "separation": 1}),
        "drive",
    ),
    "axes of a hinge": (_put("joint", "axes", value=[[1, 0, 0]]), "axes"),
    "order null": (_put("joint", "order", value=None), "order"),
    "rest position a text": (_put("joint", "rest_position", value="0"), "rest_position"),
    "link a text": (_put("link", value="a"), "link must be an object, not 'a'"),
    "mass a list": (_put("link", "mass", value=[1]), "mass"),
    "mass negative": (_put("link", "mass", value=-1.0), "mass"),
    "inertia of 3": (_put("link", "inertia", value=[1, 1, 1]), "inertia"),
    "inertia skew": (_put("link", "inertia", value=[1, 1, 0, 0, 1, 0, 0, 0, 1]), "inertia"),
    "visuals null": (_put("link", "visuals", value=None), "visuals must be a list"),
    "visuals of nothing": (_put("link", "visuals", value=[None]), r"visuals\[0\] must be an object"),
    "shape unknown": (
        _put("link", "visuals", value=[{"shape": {"type": "cone"}, "placement": [], "material": None, "name": ""}]),
        "cone",
    ),
    "frame singular": (_put("frame", value=[0.0] * 9), "frame"),
    "frame of 8": (_put("frame", value=[0.0] * 8), "frame must be a list of 9"),
    "rest singular": (_put("rest", value=[0.0] * 16), "rest"),
    "rest an object": (_put("rest", value={"a": 1}), "rest"),
    "index a text": (_put("index", value="3"), "index"),
    "index infinite": (lambda data: json.dumps(data | {"index": float("inf")}), "Infinity"),
    "index negative": (_put("index", value=-2), "index"),
    "bone null": (_put("bone", value=None), "bone must be a text"),
}

ROBOTS: dict[str, tuple[Callable[[dict], Any], str]] = {
    "not JSON": (lambda data: "nothing", "not JSON"),
    "no text": (lambda data: 1.5, "must be a text"),
    "unit 0": (_put("metres_per_unit", value=0.0), "metres_per_unit"),
    "unit 0, whole": (_put("metres_per_unit", value=0), "metres_per_unit"),
    "unit negative": (_put("metres_per_unit", value=-1.0), "metres_per_unit"),
    "unit tiny": (_put("metres_per_unit", value=1e-300), "metres_per_unit"),
    "unit null": (_put("metres_per_unit", value=None), "metres_per_unit"),
    "unit NaN": (lambda data: json.dumps(data | {"metres_per_unit": float("nan")}), "NaN"),
    "name a list": (_put("name", value=[]), "name"),
    "version 0": (_put("version", value=0), "version"),
}

HELPERS: dict[str, tuple[Callable[[dict], Any], str]] = {
    "not JSON": (lambda data: "", "not JSON"),
    "no text": (lambda data: [1, 2], "must be a text"),
    "count negative": (_put("count", value=-1), "count"),
    "count of half": (_put("count", value=0.5), "count"),
    "of a number": (_put("of", value=3), "of must be a text"),
    "frame singular": (_put("frame", value=[0] * 9), "frame"),
    "frame null": (_put("frame", value=None), "frame"),
}


def damaged(text: str, change: Callable[[dict], Any]) -> Any:
    """What lies in the place of the JSON `text` then; `change` alters its data, or returns what is there instead."""
    data = json.loads(text)
    instead = change(data)
    return json.dumps(data) if instead is None else instead


_HOSTILE = (
    *(None, True, False, "", "x", "\ud800", "a\0b", "nan", [], [[]], {}, {"a": 1}, [1, 2, 3], [None] * 12, ["x"] * 9),
    *(0, -1, 1, 2, 0.5, -0.0, 1e-320, 1e-9, 1e9, 1e38, -1e45, 1e99, 1e155, 1.7e308, -1.7e308, 10**400, 1 << 64),
    *(float("nan"), float("inf"), float("-inf")),
)
_CHARACTERS = '{}[]",:0-9.eEnull\\ \0ü'


def mutated(rng: np.random.Generator, text: str) -> Any:
    """A random other thing in the place of a record: its data, its text, or its type changed in one or more places."""
    way = rng.integers(20)
    if way == 0:
        return [3, 0.5, True, [1, 2], {"version": 2}, b"bytes", ""][rng.integers(7)]
    if way <= 3:
        return _spoiled_text(rng, text)
    data = json.loads(text)
    for _ in range(rng.integers(1, 4)):
        _spoil(rng, data)
    return json.dumps(data)


def _spoiled_text(rng: np.random.Generator, text: str) -> str:
    at, end = sorted(rng.integers(len(text), size=2).tolist())
    other = "".join(_CHARACTERS[i] for i in rng.integers(len(_CHARACTERS), size=rng.integers(1, 6)))
    return [text[:at], text[:at] + text[end:], text[:at] + other + text[at:], text[:at] + DEEP + text[at:]][
        rng.integers(4)
    ]


def _spoil(rng: np.random.Generator, data: dict) -> None:
    """Change one place of the data, at any depth."""
    owner: Any = data
    while True:
        keys = list(owner) if isinstance(owner, dict) else list(range(len(owner)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        inner = owner[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            owner = inner
            continue
        break
    way = rng.integers(8)
    if way == 0:
        del owner[key]
    elif way == 1 and isinstance(owner, list):
        owner.insert(key, deepcopy(inner))
    elif way == 2 and isinstance(inner, float):
        owner[key] = inner * float(rng.choice([-1.0, 1e-300, 1e-3, 1.5, 1e3, 1e30, 1e99]))
    elif way == 3 and isinstance(owner, dict):
        owner["other"] = deepcopy(inner)
    else:
        owner[key] = deepcopy(_HOSTILE[rng.integers(len(_HOSTILE))])
