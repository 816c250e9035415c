"""Damaged xacro and YAML files, another set in each run: a robot or one line of what is wrong, nothing else.

ROBOKIN_FUZZ_SEED=5 takes the seed 5; the head of a run has its own.
"""

from __future__ import annotations

import random
import shutil
import time
import tracemalloc
from pathlib import Path

import pytest
from robokin_addon.robokin import RobokinError, load_urdf
from support.hostile.fuzzing import SEED
from support.hostile.mutations import mutated
from support.hostile.xacro_styles import HEAD, STYLES

ARM = Path(__file__).resolve().parents[2] / "data" / "xacro_robot" / "urdf" / "arm.urdf.xacro"
FILES = 2000
SECONDS = 20.0  # the machine may be busy
BYTES = 400e6
# What expressions are made of.
PIECES = """a b pi e name inf nan True None 0 1 2.5 -1 9 1e308 'x' "y" 'a b' [ ] ( ) { } , : . + - * / // % **
== != < > <= >= and or not in is if else for x lambda len( str( range( list( map( float, max( sum( sorted( dict(
xacro. python. math. sin( sqrt( .split( .join( .format( .__class__ .items() .get( [0] [-1] [1:] ${ } $( load_yaml(
10**9 'a'*10**6 range(10**6)""".split()


def load(path: Path) -> str:
    """ "read" or "refused"."""
    before = time.process_time()
    try:
        load_urdf(path)
    except RobokinError as fault:
        assert "\n" not in str(fault) and len(str(fault)) < 1500
        return "refused"
    finally:
        assert time.process_time() - before < SECONDS
    return "read"


@pytest.mark.slow
def test_damaged_files(tmp_path):
    random_ = random.Random(f"xacro {SEED}")
    shutil.copytree(ARM.parent.parent, tmp_path / "robot")
    parts = [p for p in (tmp_path / "robot").rglob("*") if p.suffix in (".xacro", ".yaml")]
    whole = {part: part.read_bytes() for part in parts}
    styles = [f"{HEAD}{text}</robot>".encode() for text in STYLES.values()]
    found = {"read": 0, "refused": 0}
    tracemalloc.start()
    try:
        for _ in range(FILES):
            if random_.random() < 0.5:
                path = tmp_path / "style.xacro"
                path.write_bytes(mutated(random_.choice(styles), random_))
                found[load(path)] += 1
                continue
            part = random_.choice(parts)
            part.write_bytes(mutated(whole[part], random_))
            found[load(tmp_path / "robot" / "urdf" / ARM.name)] += 1
            part.write_bytes(whole[part])
        assert tracemalloc.get_traced_memory()[1] < BYTES
    finally:
        tracemalloc.stop()
    assert min(found.values()) > FILES // 20, found


@pytest.mark.slow
def test_random_expressions(tmp_path):
    random_ = random.Random(f"expressions {SEED}")
    path = tmp_path / "robot.xacro"
    found = {"read": 0, "refused": 0}
    for _ in range(FILES):
        texts = [" ".join(random_.choice(PIECES) for _ in range(random_.randrange(1, 12))) for _ in range(3)]
        a, b, c = (t.replace("<", "&lt;").replace('"', "&quot;") for t in texts)
        path.write_text(
            f'{HEAD}<xacro:property name="a" value="${{{a}}}"/><xacro:property name="b" value="{b}"/>'
            f'<xacro:if value="${{{c}}}"><link name="x"/></xacro:if><link name="l${{b}}"/></robot>'
        )
        found[load(path)] += 1
    assert found["refused"] > FILES // 20, found
