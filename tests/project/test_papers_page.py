"""The page of papers has a row for each section, figure and equation of the five texts, as they number or name them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = "robokin", "solvers", "properties", "scene", "operators", "panels", "cli"


def _numbered(kind: str, last: int) -> list[str]:
    return [f"{kind} {number}" for number in range(1, last + 1)]


# By the heading that each text has on the page: numbers, and beginnings of what has none.
NUMBERS = {
    "Bruyninckx": [
        *("1", "2", "2.1", "2.2", "3", "3.1", "4", "5"),
        *_numbered("figure", 3),
        *_numbered("Eq.", 15),
        *_numbered("criterion", 8),
    ],
    "Breen": ["1", "2", "3", "4", "4.1", "4.2", *_numbered("figure", 3), *_numbered("Eq.", 12), "algorithm 1"],
    "Sukesh": [
        *("1", "1.1", "1.2", "1.2.1", "1.2.2", "1.2.3", "1.3", "1.3.1", "1.3.2", "1.4", "1.4.1", "1.4.2", "1.4.3"),
        *("2", "2.1", "2.2", "2.2.1", "2.2.2", "2.3", "2.3.1", "2.3.2", "2.4", "2.4.1", "2.4.2", "2.4.3", "2.4.4"),
        *_numbered("figure", 6),
    ],
    "The lecture": ["Eq. 3.1a", "Eq. 3.2", "Eq. 3.36", "table 3.1", "section 3.14"],
}
NAMES = {
    "Inverse kinematics in RoboComp": """
        what inverse kinematics is
        what the inverse kinematics does
        previous concepts
        kinematic chains
        reference systems and transformations
        problems to solve
        inverse kinematics in robocomp
        pose6d
        advanceaxis
        alignaxis
        levenberg-marquardt
        weight matrix
        motors lock
        a target executed more than once
        the arm first, with a stiff wrist
        a small planner
        gaps of the robot
    """,
    "Sukesh": """
        r = rz ry rx
        [v]; rodrigues
        the transform
        t' of a child
        ξ = [ω; v]; ξ = s θ; [ξ]
        v = -ω × q; [s_n]
        t' = exp([ξ]) t; exp([ξ]); j(θ)
        ad_t
        m = p v, clip space, screen; v and its axes; p
        f(θ)
        g(θ) = 0
        j of f; x = j† b; j†
        j_i = ad_ci s_i; c_i; j_s
        j_b
        [ξ] = log(f⁻¹ t_d); θ = α + j_b† ξ
    """,
    "The lecture": """
        basic principles
        end effector, with eq. 3.1a
        end effector, with eq. 3.2
        end effector: the state vector
        forward kinematics
        inverse kinematics: f = s - s_g = 0; taylor series
        the regular case
        the over-determined case
        the under-determined case
        computing jacobians: the matrix
        computing jacobians by denavit
    """,
}


@cache
def rows(text: str) -> list[tuple[str, str]]:
    """What each row of a text's tables is of, and where that is; numbers of equations with "Eq." before them."""
    page = (ROOT / "docs" / "papers.md").read_text("utf-8")
    (own,) = (part for part in page.split("\n## ") if part.startswith(text))
    found, of_equations = [], False
    for line in own.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[-1] == "where":
            of_equations = cells[0] == "equation"
        elif line.startswith("| "):
            found.append(("Eq. " * of_equations + cells[0], cells[1]))
    return found


def numbers(cell: str) -> set[str]:
    """The sections, figures, equations ... of a first cell."""
    found = set(re.findall(r"(?:^|; )(\d[\d.]*)(?=[:,])", cell))
    for kind, first, how, last in re.findall(
        r"(figure|Eq\.|criterion|algorithm|table|section)s? ([\d.]*\da?)(?:( to |, )(\d+))?", cell
    ):
        ends = (int(first), int(last)) if last else ()
        own = range(ends[0], ends[1] + 1) if how == " to " else ends
        found |= {f"{kind} {number}" for number in (*own, first)}
    return found


@pytest.mark.parametrize("text", NUMBERS)
def test_what_a_text_numbers_has_a_row(text: str) -> None:
    found = set().union(*(numbers(cell) for cell, _ in rows(text)))
    assert set(NUMBERS[text]) - found == set()


@pytest.mark.parametrize("text", NAMES)
def test_what_a_text_does_not_number_has_a_row(text: str) -> None:
    cells = [cell.removeprefix("Eq. ").lower() for cell, _ in rows(text)]
    names = NAMES[text].strip().splitlines()
    assert [name for name in names if not any(cell.startswith(name.strip()) for cell in cells)] == []


@pytest.mark.parametrize("text", sorted({*NUMBERS, *NAMES}))
def test_each_row_says_where_that_is(text: str) -> None:
    """By a link, code, a name in the interface, Blender itself, the part below; or that it is not there."""
    assert [
        cell for cell, where in rows(text) if not re.search(r"\]\(|`|\*|Blender|above|below|not there", where)
    ] == []


@pytest.mark.parametrize("text", sorted({*NUMBERS, *NAMES}))
def test_the_code_that_rows_name_is_there(text: str) -> None:
    sources = " ".join(path.read_text("utf-8") for part in CODE for path in (ROOT / part).rglob("*.py"))
    named = {name for _, where in rows(text) for name in re.findall(r"`([\w.]+)[`(]", where)}
    assert named and [name for name in named if not re.search(rf"\b{name.split('.')[-1]}\b", sources)] == []
