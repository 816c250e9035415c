"""docs/python.md: its code runs, it has every public name, and the arguments that it names exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from robokin_addon import robokin, solvers
from robokin_addon.robokin import collision
from robokin_addon.solvers import criteria
from support.few import rest_slow
from support.python_page import BLOCKS, PAGE, ROWS, lined

MODULES = (robokin, collision, solvers, criteria)
PUBLIC = sorted({(module.__name__, name) for module in MODULES for name in module.__all__})
SIGNATURES = re.findall(
    r"`(?:(model|motion)\.)?(\w+)(?:\.(\w+))?\(([\w, ]*)\)`", "\n".join(row.split(" | ")[0] for row in ROWS)
)
OPTIONS = {"criterion": {"options"}}  # keywords of any name


@pytest.mark.parametrize("backend", rest_slow(["native", "numpy"]))
def test_the_code_runs(backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROBOKIN_BACKEND", backend)
    assert len(BLOCKS) > 10
    exec(compile(lined(BLOCKS), str(PAGE), "exec"), {"__name__": "page"})


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_every_public_name_has_a_row_and_is_used(module: str, name: str) -> None:
    firsts = " ".join(row.split(" | ")[0] for row in ROWS)
    assert re.search(rf"`{name}[`(.]", firsts), f"{module}.{name} has no row"
    assert any(re.search(rf"\b{name}\b", block) for block in BLOCKS), f"{module}.{name} is in no example"


def test_arguments_exist() -> None:
    objects = {name: getattr(module, name) for module in MODULES for name in module.__all__}
    owners = {"model": robokin.RobotModel, "motion": solvers.Motion}
    assert len(SIGNATURES) > 80
    for owner, name, method, arguments in SIGNATURES:
        found = getattr(owners[owner], name) if owner else objects[name]
        found = getattr(found, method) if method else found
        given = {word for word in arguments.split(", ") if word} - OPTIONS.get(name, set())
        assert given <= set(inspect.signature(found).parameters), f"{name}({arguments})"
