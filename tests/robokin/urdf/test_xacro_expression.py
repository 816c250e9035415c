"""Expressions of xacro against Python itself, which evaluates what we may; and that nothing else is reached."""

from __future__ import annotations

import math
import random
import sys
import time

import pytest
from robokin_addon.robokin.errors import ModelError
from robokin_addon.robokin.urdf.xacro.expression import Evaluator
from robokin_addon.robokin.urdf.xacro.functions import FUNCTIONS
from robokin_addon.robokin.urdf.xacro.grammar import MAX_DEPTH
from robokin_addon.robokin.urdf.xacro.values import Budget

NAMES = {"a": 2, "b": 0.5, "word": "left_arm", "xyz": "1 2.5 -3", "list_": [3, 1, 2], "config": {"mass": 4, "x y": [1]}}


def evaluate(text: str, budget: Budget | None = None) -> object:
    def lookup(name: str) -> object:
        if name in NAMES:
            return NAMES[name]
        if name in FUNCTIONS:
            return FUNCTIONS[name]
        raise ModelError(f"name {name!r} is not defined")

    return Evaluator(budget or Budget()).evaluate(text, lookup)


SAME_AS_PYTHON = """
1 + 2 * 3 - 4 / 5
-2 ** 2
2 ** -1
2 ** 3 ** 2
(-2) ** 2
7 // 2 + -7 // 2 + 7 % 3 + -7 % 3
1.5e-3 + .5 + 1. + 0x1F
1./12 * a * (3 * b**2 + b**2)
a + b == 2.5 and not a < b or False
1 < a < 3 != 4
a if b > 1 else word
1 if a else 2 if b else 3
'arm' in word and 'x' not in word
a is None or a is not None
word + '_' + str(a)
word * 2 + 2 * word
"double \\" quote" + 'single \\' quote' + 'back\\\\slash\\n'
xyz.split(' ')[0]
float(xyz.split()[1]) * 2
list(map(float, xyz.split()))
[x * 2 for x in list_ if x > 1]
[k for k, v in config.items()]
sum(x for x in list_)
sorted(list_) + [len(list_), min(list_), max(4, a)]
list_[0] + list_[-1]
list_[1:]
list_[::-1]
word[:4] + word[-3:]
config['mass'] * 2 + config['x y'][0]
'mass' in config and 'length' not in config
dict(x=1, y=[2])['y'][0]
{'a': 1, 2: 'b'}[2]
(1, 2) + (3,)
()
[]
{}
range(1, 4)[1]
round(2.675, 2) + abs(-3) + int('7') + float('1e3')
sin(pi / 4) ** 2 + math.cos(math.pi / 3) + radians(180) + degrees(1) + atan2(1, 2) + hypot(3, 4)
floor(2.7) + ceil(2.1) + sqrt(2) + pow(2, 3) + copysign(2, -1) + fmod(7, 4)
word.upper().replace('_', '-').startswith('LEFT')
'_'.join(['a', 'b']) + word.strip('l')
'%s_%d %.3f%%' % (word, a, b)
'{}_{:.2f}_{name}'.format(word, b, name='n')
isinf(inf) and not isnan(inf)
bool(word) and not bool('')
any([0, a]) and all((1, b))
enumerate(['a'])
zip([1, 2], [3, 4])
1, 2
True + True
""".strip().splitlines()


@pytest.mark.parametrize("text", SAME_AS_PYTHON)
def test_same_as_python(text):
    names = {**vars(math), "math": math, **NAMES}
    wanted = eval(text, names)
    found = evaluate(text)
    if isinstance(wanted, (map, enumerate, zip)):
        wanted = list(wanted)
    assert found == wanted and type(found) is type(wanted)


def test_keys_after_a_dot_and_libraries():
    assert evaluate("config.mass") == 4
    assert evaluate("dict(origin=dict(xyz='0 0 1')).origin.xyz") == "0 0 1"
    assert evaluate("python.sorted(list_)") == [1, 2, 3]
    with pytest.raises(ModelError, match="the dictionary has no 'length'"):
        evaluate("config.length")


def random_expression(random_: random.Random, depth: int = 0) -> str:
    def inner() -> str:
        return random_expression(random_, depth + 1)

    if depth > 4 or random_.random() < 0.15:
        return random_.choice(["a", "b", "1", "2.5", "0", "'x'", "word", "list_", "None", "True", "config"])
    kind = random_.randrange(9)
    if kind == 0:
        return f"({inner()})"
    if kind == 1:
        return f"{random_.choice(['-', '+', 'not '])}{inner()}"
    if kind == 2:
        return f"{inner()} if {inner()} else {inner()}"
    if kind == 3:
        return f"{inner()} {random_.choice(['and', 'or'])} {inner()}"
    if kind == 4:
        return f"{inner()} {random_.choice(['<', '<=', '==', '!=', '>', '>=', 'in', 'not in'])} {inner()}"
    if kind == 5:
        return f"[{inner()}, {inner()}][{random_.choice(['0', '-1', 'a', '1:', inner()])}]"
    if kind == 6:
        return f"{random_.choice(['len', 'str', 'float', 'abs', 'bool', 'max', 'sqrt'])}({inner()})"
    return f"{inner()}{random_.choice(['+', ' - ', '*', ' / ', '//', '%', '**'])}{inner()}"


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_random_expressions_are_as_python_evaluates_them():
    random_ = random.Random(5)
    names = {**vars(math), **NAMES}
    compared = 0
    for _ in range(4000):
        text = random_expression(random_)
        try:
            found = evaluate(text)
        except ModelError:
            found = ModelError
        try:
            wanted = eval(text, names)
        except (SyntaxError, TypeError, ValueError, ArithmeticError, LookupError):
            assert found is ModelError, text
            continue
        if found is not ModelError:
            assert (found == wanted or found != found) and type(found) is type(wanted), text
            compared += 1
    assert compared > 1000


CLOSED = """
().__class__
().__class__.__bases__[0].__subclasses__()
''.__init__.__globals__
config.__init__
config.get.__self__
word.format.__globals__
'{0.__class__}'.format(a)
'{a.__class__}'.format(a=1)
'%(a)s' % config.get
__import__('os').system('true')
open('/etc/passwd')
eval('1')
exec('1')
getattr(a, 'real')
type(a)
vars()
globals()
lambda: 1
(lambda: 1)()
[x.__class__ for x in list_]
[y for y in list_ for x in list_]
(x := 1)
f'{a}'
yield a
await a
a; b
a = 1
import os
*list_
{**config}
len(*list_)
max(list_, key=len)
a @ b
~a
a << 2
a & b
1_000
1j
b'bytes'
...
math.factorial(5)
math.__loader__
python.open
xyz.encode()
word.translate(config)
list_.append(1)
config.update(a=1)
sorted
len
""".strip().splitlines()


@pytest.mark.parametrize("text", CLOSED)
def test_nothing_else_is_reached(text):
    with pytest.raises(ModelError) as fault:
        evaluate(text)
    assert "\n" not in str(fault.value) and len(str(fault.value)) < 300


TOO_LARGE = """
9**9**9
9**9**9**9
2**400
10**101
10**60 * 10**60
-10**100 - 1
'a' * 10**9
10**9 * 'a'
[1] * 10**9
(1,) * 70000
range(10**9)
list(range(20000))
[x for x in range(9000)] * 3
'a' * 60000 + 'a' * 60000
('a' * 60000).replace('', 'b' * 60000)
('b' * 60000).join(['a'] * 9000)
'%s%s' % ('a' * 60000, 'a' * 60000)
'{}{}'.format('a' * 60000, 'a' * 60000)
'%999d' % 1
'%*d' % (10**9, 1)
'{:999}'.format(1)
'{:{}}'.format(1, 10**9)
int('9' * 4000)
int('9' * 5000)
floor(1e308)
round(1, -10**9)
map(range, [9000] * 9000)
[range(9000) for x in range(9000)]
zip(range(9000), range(9000), range(9000))
enumerate(range(9000))
str(range(10000)) + str(range(10000))
sum([[1] * 9000] * 9000, [])
(-1) ** 0.5
floor(1e308 * 10)
""".strip().splitlines()


TOO_LARGE += [
    "-" * 5000 + "1",
    "(" * 1000,
    "[" * 200 + "]" * 200,
    "not " * 500 + "1",
    "1" * 5000,
    "1" + "+1" * 2000,
    "2" + "**1" * 1000,
    "a" + "[0]" * 2000,
    "a" + ".b" * 2000,
    "x" * 10_000,
    "'" + "a" * 8000,
    "1 if 1 else " * 300 + "1",
]


@pytest.mark.parametrize("text", TOO_LARGE, ids=lambda text: text[:40])
def test_what_is_too_large_ends_at_once(text):
    before = time.process_time()
    with pytest.raises(ModelError) as fault:
        evaluate(text)
    assert time.process_time() - before < 1.0
    assert "\n" not in str(fault.value) and len(str(fault.value)) < 300


def test_the_steps_of_a_file_are_bounded():
    budget = Budget()
    before = time.process_time()
    with pytest.raises(ModelError, match="steps"):
        for _ in range(10_000):
            evaluate("[str(range(1000)) == x for x in range(1000)]", budget)
    assert time.process_time() - before < 10.0


def test_the_deepest_expression_leaves_room_on_pythons_stack():
    text = "1" + "+1" * (MAX_DEPTH - 2)
    assert evaluate(text) == MAX_DEPTH - 1
    frame, used = sys._getframe(), 0
    while frame := frame.f_back:
        used += 1

    def deeper(levels: int) -> object:
        return deeper(levels - 1) if levels else evaluate(text)

    # What calls us may stand on two thirds of it.
    assert deeper(sys.getrecursionlimit() * 2 // 3 - used) == MAX_DEPTH - 1
