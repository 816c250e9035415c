"""Work in steps: generators that yield the share of it done (0..1) now and then, and return its result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

Report = TypeVar("Report")
Result = TypeVar("Result")
Shown = TypeVar("Shown")
Arguments = ParamSpec("Arguments")


def finish(steps: Generator[object, None, Result]) -> Result:
    """Run the steps to their end and return what they return."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def at_once(
    steps: Callable[Arguments, Generator[object, None, Result]], result: type[Result]
) -> Callable[Arguments, Result]:
    """The function with the arguments and text of `steps`, named without its `_steps`, that runs them to their end."""

    @wraps(steps)
    def run(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        return finish(steps(*arguments, **named))

    run.__name__ = run.__qualname__ = steps.__name__.removesuffix("_steps")
    run.__signature__ = signature(steps).replace(return_annotation=result)  # type: ignore[attr-defined]
    return run


def scaled(steps: Generator[float, None, Result], low: float, high: float) -> Generator[float, None, Result]:
    """Steps of which 0..1 is shown as low..high."""
    return mapped(steps, lambda share: low + share * (high - low))


def mapped(
    steps: Generator[Report, None, Result], function: Callable[[Report], Shown]
) -> Generator[Shown, None, Result]:
    """Steps that yield `function` of what other steps yield. Ended early, they end those."""
    try:
        while True:
            try:
                report = next(steps)
            except StopIteration as done:
                return done.value
            yield function(report)
    finally:
        steps.close()
