"""docs/python.md: what its examples take and make has the shapes that its tables state."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from robokin_addon import robokin, solvers
from robokin_addon.robokin import RobotModel, collision
from robokin_addon.solvers import Task, criteria
from support.python_page import BLOCKS, ROWS, lined

MODULES = (robokin, collision, solvers, criteria)
KINDS = {name: getattr(module, name) for module in MODULES for name in module.__all__}
SHAPE = r"\(((?:\d[^,()]*|[A-Za-z]|n[qv]|frames|links|tasks),[^(){}:;]*)\)"  # "(nq,)", "(frames, tasks, 4, 4)"
SHAPES = rf"{SHAPE}(?:,? or {SHAPE})?"
# "`q`, `v` and `a` (F, nv)"
STATED = re.compile(
    rf"((?:(?:`\.?\w+`, )*`\.?\w+` and )?`\.?\w+`)(?:,| is)? {SHAPES}(,? or )?"
)  # "`q`, `v` and `a` (F, nv)"
RESULT = re.compile(rf"{SHAPES}(,? or )?(?: \w+ and {SHAPE})?")  # "(nv, nv) H and (nv,) g"
MOST = 100  # calls of a function that are looked at
HEADS = re.compile(r"`(?:(model|motion)\.)?(\w+)(?:\.(\w+))?(?:\([\w, ]*\))?`")


class Stated:
    """A shape in a row of the page, or one of several. what: the argument or attribute; "" for the result, or a number
    for one of several.   others: whether it may be something without a shape."""

    def __init__(self, head: str, what: str, shapes: tuple[str, ...], others: str = "") -> None:
        self.head, self.what, self.others = head, what, bool(others)
        self.shapes = [[each.strip() for each in text.split(",") if each.strip()] for text in shapes if text]
        self.text = f"{head}: {what} {self.shapes}"

    def fits(self, value: object, known: dict[str, int]) -> bool:
        """Whether a value has it. known: sizes by their names, to which those are added that it shows."""
        try:
            shape = np.shape(value[int(self.what)] if self.what.isdigit() else value)  # type: ignore[index,arg-type]
        except ValueError:  # of parts of several lengths
            return self.others
        if self.others and (not shape or np.asarray(value).dtype == object):
            return True
        return any(
            len(shape) == len(own) and all(_fits(size, each, known) for size, each in zip(shape, own, strict=True))
            for own in self.shapes
        )


def _fits(size: int, stated: str, known: dict[str, int]) -> bool:
    product = re.sub(r"(\d) (\w)", r"\1 * \2", stated)
    try:
        names = {node.id for node in ast.walk(ast.parse(product, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return True  # words: "3 per wheeled base"
    if names <= known.keys():
        return size == eval(product, {}, known)
    known |= {product: size} if product in names else {}
    return True


def stated() -> Iterator[Stated]:
    for row in ROWS:
        heads, _, text = row.strip("| ").partition(" | ")
        for at, match in enumerate(HEADS.finditer(heads)):
            head = ".".join(filter(None, match.groups()))
            result = None if at else RESULT.match(text)
            if result and result[4]:
                yield from (Stated(head, str(i), (each,)) for i, each in enumerate((result[1], result[4])))
            elif result:
                is_task = isinstance(KINDS.get(head), type) and issubclass(KINDS[head], Task)
                yield Stated(head, "target" if is_task else "", result.groups()[:2], result[3])
            for names, first, second, others in STATED.findall(text):
                for each in re.findall(r"`\.?(\w+)`", names):
                    yield Stated(head, each, (first, second), others)


class Page:
    """What the page's code called, and what it made."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[dict[str, Any], Any]]] = {}
        self.objects: dict[int, Any] = {}

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            given, result = signature.bind(*args, **options).arguments, function(*args, **options)
            calls = self.calls.setdefault(name, [])
            calls += [(given, result)] if len(calls) < MOST else []
            return result

        return call

    def keep(self, value: Any) -> None:
        """Remember our own objects in a value, and those in them."""
        if isinstance(value, (list, tuple, dict)):
            for each in value.values() if isinstance(value, dict) else value:
                self.keep(each)
        elif type(value).__module__.startswith("robokin_addon") and not isinstance(value, type):
            if id(value) not in self.objects:
                self.objects[id(value)] = value
                self.keep(dict(getattr(value, "__dict__", {})))

    def values(self, shape: Stated) -> Iterator[tuple[int, Any, object]]:
        """(the whole, the model that its sizes are of, the value) of what a row states a shape of."""
        for given, result in self.calls.get(shape.head, []):
            is_result = not shape.what or shape.what.isdigit()
            value = result if is_result else given.get(shape.what, getattr(result, shape.what, None))
            yield id(given), given.get("model", given.get("self")), value
        kind = KINDS.get(shape.head.split(".")[0])
        for each in self.objects.values() if isinstance(kind, type) and not issubclass(kind, Task) else []:
            if isinstance(each, kind):
                model = each if isinstance(each, RobotModel) else getattr(each, "model", None)
                yield id(each), model, getattr(each, shape.what, None)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    found, namespace = Page(), {"__name__": "page"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        for module in MODULES:
            for name in module.__all__:
                own = getattr(module, name)
                if inspect.isfunction(own):
                    patch.setattr(module, name, found.watched(name, own))
                elif isinstance(own, type) and inspect.isfunction(own.__init__):
                    patch.setattr(own, "__init__", found.watched(name, own.__init__))
        for name in ("configuration", "joint_values"):
            patch.setattr(RobotModel, name, found.watched(f"model.{name}", getattr(RobotModel, name)))
        exec(compile(lined(BLOCKS), "docs/python.md", "exec"), namespace)
        found.keep(namespace)
        found.keep([result for calls in found.calls.values() for _, result in calls])
    return found


def test_shapes_are_as_stated(page: Page) -> None:
    wrong, unseen, sizes, count = [], [], {}, 0
    for shape in stated():
        count += 1
        found = [(whole, model, value) for whole, model, value in page.values(shape) if value is not None]
        unseen += [] if found else [shape.text]
        for whole, model, value in found:
            known = sizes.setdefault((shape.head, whole), {})
            known |= {name: getattr(model, name) for name in ("nq", "nv") if isinstance(model, RobotModel)}
            if not shape.fits(value, known):
                wrong.append(f"{shape.text}: {np.shape(value)}")
    assert not wrong, "\n".join(wrong)
    assert count > 90 and not unseen, "\n".join(unseen)
