"""Which cases of a test run each time, and which only in the slow tests."""

from __future__ import annotations

from collections.abc import Iterable

import pytest


def rest_slow(cases: Iterable[object], quick: int = 1) -> list[object]:
    """Cases for `parametrize`: the first `quick` as they are, the others marked slow. A tuple is several arguments."""
    cases = list(cases)
    others = [case if isinstance(case, tuple) else (case,) for case in cases[quick:]]
    return [*cases[:quick], *(pytest.param(*case, marks=pytest.mark.slow) for case in others)]


def these_slow(cases: Iterable[object], *slow: object) -> list[object]:
    """Cases for `parametrize`: those of `slow` marked so, the others as they are."""
    return [pytest.param(case, marks=pytest.mark.slow) if case in slow else case for case in cases]
