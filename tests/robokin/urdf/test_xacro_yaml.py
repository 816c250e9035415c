"""Our reading of robots' YAML files against PyYAML, and what it refuses."""

from __future__ import annotations

import math
import random
import time
from contextlib import suppress

import pytest
import yaml
from robokin_addon.robokin import FileFormatError
from robokin_addon.robokin.urdf.xacro.expression import Evaluator
from robokin_addon.robokin.urdf.xacro.values import Budget
from robokin_addon.robokin.urdf.xacro.yaml import parse_yaml
from support.hostile.fuzzing import bounded


def read(text: str | bytes) -> object:
    data = text if isinstance(text, bytes) else text.encode()
    return parse_yaml(data, "it.yaml", Evaluator(Budget()))


SAMPLES = [
    "",
    "# nothing\n\n",
    "---\na: 1\n...\n",
    "%YAML 1.1\n---\na: 1\n",
    "a: 1\nb: 2.5\nc: -3\nd: +4\ne: .5\nf: 5.\ng: 1.5e-3\nh: 1.0e+5\n",
    "a: text of words\nb: 'it''s'\nc: \"tab\\t \\\"x\\\" \\u00e9\"\nd: true\n",
    "d: true\ne: False\nf: no\ng: ~\nh: null\ni:\nj: on\n",
    "a: .inf\nb: -.INF\nc: 12e\nd: v1.2\ne: 1 2 3\ng: a-b\nh: 0.1.2\n",
    "link0:\n  origin:\n    xyz: -0.04 -1e-4 0.05\n    rpy: 0 0 0\n  m: 0.6  # kg\n  inertia:\n  inertia:\n    xx: 1\n",
    "package: package://a/b.dae\npath: /a/b#c\nurl: http://x:80/y\n'quoted key': 1\n\"other\": 2\n3: three\n",
    "a:\n- 1\n- 2\nb:\n  - x: 1\n    y: 2\n  - x: 3\n  -\n    z: 4\n  - - 1\n    - 2\n",
    "- a\n- b: 1\n- [1, 2.5, 'x', [], {}]\n- {a: 1, b: [1, 2], c: {d: e}, f}\n",
    "a: [1,\n  2,  # two\n  3]\nb: {x: 1,\n    y: 2}\nc: 1\n",
    "a: {x: '# no comment', y: \"a, b\"}\nb: '# none' # one\nc: a#b\n",
    "a: []\nb: {}\nc: ''\nd: \"\"\n",
    "a: {visual: package://x/y.dae, 'b c': 1, d: }\n",
    "\ufeffa: 1\r\nb: 2\r\n",
    "a: 1\n  # further in\n # and out\nb: 2\n",
    "deep:\n a:\n  b:\n   c:\n    - d:\n       e: 1\n",
    "just a text",
    "[1, 2]",
]


@pytest.mark.parametrize("text", SAMPLES)
def test_same_as_pyyaml(text):
    assert read(text) == yaml.safe_load(text.encode())


def random_value(random_: random.Random, depth: int = 0) -> object:
    kind = random_.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return random_.randrange(-1000, 1000)
    if kind == 1:
        return random_.choice([0.1, -2.5e-7, 1e30, 3.0, float("inf")])
    if kind == 2:
        return random_.choice([True, False, None])
    if kind <= 5:
        letters = "abc XYZ_-./:#'\"{}[],&*!|>%@?=~0123456789é"
        return "".join(random_.choice(letters) for _ in range(random_.randrange(12)))
    if kind == 6:
        return [random_value(random_, depth + 1) for _ in range(random_.randrange(4))]
    return {f"k{random_.randrange(99)}": random_value(random_, depth + 1) for _ in range(random_.randrange(4))}


@pytest.mark.parametrize("flow", [False, True, None])
def test_what_pyyaml_writes_is_read(flow):
    random_ = random.Random(7)
    for _ in range(300):
        value = random_value(random_)
        text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True, width=10_000)
        assert read(text) == value, text


def test_units_and_numbers_that_yaml_1_1_takes_for_texts():
    found = read("a: !degrees 180\nb: !radians pi / 2\nc: !millimeters 5\nd: !degrees -2 * 45\ne: 1e-5\n")
    wanted = {"a": math.pi, "b": math.pi / 2, "c": 0.005, "d": -math.pi / 2, "e": 1e-5}
    assert found == pytest.approx(wanted, rel=1e-15)
    assert read("a: !!str 5") == {"a": "5"}


REFUSED = {
    "a: 1\n\tb: 2": (2, "tab"),
    "a: &x 1\nb: *x": (1, "not supported"),
    "a: 1\nb: *x": (2, "not supported"),
    "a: |\n  text": (1, "not supported"),
    "a: >\n  text": (1, "not supported"),
    "a: 1\n<<: {b: 2}": (2, "merging"),
    "a: 1\n---\nb: 2": (2, "several documents"),
    "a: !!python/object/apply:os.system ['true']": (1, "tag"),
    "a: !degrees 9**9**9": (1, "power"),
    "a: !degrees open": (1, "not defined"),
    "a: !degrees [1]": (1, ""),
    "a: !degrees": (1, ""),
    "a: [1, 2": (1, "not closed"),
    "a: {b: 1\nc: 2": (1, "not closed"),
    "a: [1] 2": (1, "after the end"),
    "a: 'open": (1, "not closed"),
    "a: 1\n b: 2": (2, "several lines"),
    "a:\n    b: 1\n  c: 2": (3, "indentation"),
    "- a\nb: 1": (2, "indentation"),
    "a: b\nc": (2, "not `key: value`"),
    "[" * 100 + "]" * 100: (1, "nested"),
    "\n".join(" " * i + "a:" for i in range(100)): (31, "nested"),
    "- " * 100 + "1": (1, "nested"),
    "a: [" + "1," * 20_000 + "]": (1, "entries"),
    "a: " + "x" * 100_000: (1, "characters"),
    b"a: \xff": (None, "UTF-8"),
    b"a" * 2_000_000: (None, "larger"),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:30]))
def test_refused(text):
    line, words = REFUSED[text]
    with pytest.raises(FileFormatError) as fault:
        read(text)
    assert fault.value.line == line and words in fault.value.problem and len(str(fault.value)) < 400


LONG = {
    "spaces": "a: " + " " * 500_000 + "x",
    "quotes": "'" * 500_000,
    "colons": ":" * 500_000,
    "keys": "a:\n" * 250_000,
    "dashes": "- " * 250_000,
    "brackets": "[{" * 100_000,
    "a list of lines": "a: [\n" + "1,\n" * 100_000,
    "quotes in brackets": "a: {" + "'" * 300_000,
    "backslashes": "a: " + "\\" * 500_000,
    "a long key": "x" * 500_000 + ": 1",
    "a comment": "#" * 500_000,
    "digits": "a: " + "1" * 500_000 + "x",
    "digits and a point": f"- {'1' * 250_000}.{'1' * 250_000}x",
    "closed too often": "a: [[[[" + "]" * 900_000,
}


@pytest.mark.parametrize("case", LONG)
def test_any_text_ends_in_time(case):
    before = time.process_time()
    with bounded(60, case), suppress(FileFormatError):
        read(LONG[case])
    assert time.process_time() - before < 5.0
