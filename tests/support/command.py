"""Running the command line inside the test process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from robokin_addon.cli import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def refused(self, *words: str) -> bool:
        """Bad input, said in one line that holds `words`."""
        line = self.err.rstrip("\n")
        assert (self.code, self.out) == (2, ""), self
        assert line.startswith("robokin: ") and "\n" not in line, line
        assert all(word in line for word in words), line
        return True


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Outcome:
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return Outcome(code, *capsys.readouterr())


def report(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: object, code: int = 0) -> dict:
    """The JSON report of a command that must end with `code`, and say nothing but that limits mean none."""
    target = folder / "report.json"
    outcome = run(capsys, *arguments, "--json", target)
    remarks = [line for line in outcome.err.splitlines() if not line.endswith("taken as none")]
    assert (outcome.code, remarks) == (code, []), outcome
    return json.loads(target.read_text("utf-8"))
