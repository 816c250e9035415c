"""The documents: what they link to is there, what they name exists, the Python in them runs."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import shutil
import tomllib
from functools import cache
from pathlib import Path

import pytest
from robokin_addon.cli.main import COMMANDS
from robokin_addon.cli.text.tasks import KINDS
from robokin_addon.properties.task_kinds import KINDS as TASK_KINDS
from robokin_addon.solvers import Status
from support.robots import robot
from support.sources import parsed

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".", "docs", "examples", "benchmarks", "kernel")
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))
COMMAND_WORDS = {*COMMANDS, "COMMAND", "SUB", "..."}
OPERATOR = re.compile(r"(?<![\w.\"])(?:bpy\.ops\.)?robokin\.([a-z_]+)(?=[(`\s,)])")
SOURCES = (
    "cli",
    "operators",
    "panels",
    "properties",
    "robokin",
    "scene",
    "solvers",
    "kernel",
    "tests",
    "tools",
    "examples",
    "benchmarks",
)
MAX_IMAGE = 300_000
MAX_WORDS = 120  # of a paragraph


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def prose(page: Path) -> str:
    """Without fenced code."""
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def code(page: Path) -> list[str]:
    """Lines of fenced code, and code inside sentences."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [line for block in fenced for line in block.splitlines()] + re.findall(r"`([^`]+)`", prose(page))


def paragraphs(page: Path) -> list[str]:
    """Of the prose: paragraphs, items of lists and cells of tables."""
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)|\n(?=#)", prose(page))
    return [cell for block in blocks for cell in (block.split(" | ") if block.startswith("|") else [block])]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    titles = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def sources(part: str) -> list[ast.Module]:
    return [parsed(path) for path in sorted((ROOT / part).rglob("*.py"))]


@cache
def operators() -> set[str]:
    """Names of the operators, from their `bl_idname`."""
    found = set()
    for tree in sources("operators"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bl_idname":
                assert isinstance(node.value, ast.Constant)
                found.add(str(node.value.value).removeprefix("robokin."))
    return {name for name in found if name.islower()}


def properties(module: str, group: str) -> set[str]:
    """The properties of a PropertyGroup; those of a joint's second and third degree of freedom
    as of its first, its axes as one."""
    fields = getattr(importlib.import_module(f"robokin_addon.properties.{module}"), group).__annotations__
    return {re.sub(r"_[123](?=_|$)", "", name) for name in fields}


def test_there_are_pages() -> None:
    names = {page.name for page in PAGES}
    assert {
        "README.md",
        "CONTRIBUTING.md",
        "user-guide.md",
        "architecture.md",
        "property-keys.md",
        "formats.md",
    } <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page.name}: {target}"
        assert ROOT in file.parents, f"{page.name}: {target} leaves the project"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target} names no heading"


def test_every_page_can_be_found() -> None:
    """From the read me on, link by link."""
    found, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        targets = re.findall(r"\]\(([^)\s#]+\.md)", prose(page))
        waiting += {(page.parent / target).resolve() for target in targets if "://" not in target} - found
    assert set(PAGES) - found == set()


def test_pictures_are_shown_and_small() -> None:
    pictures = sorted(ROOT.glob("docs/images/*"))
    shown = {Path(target).name for page in PAGES for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", prose(page))}
    assert shown == {picture.name for picture in pictures}
    for picture in pictures:
        assert picture.read_bytes()[:6] in (b"\x89PNG\r\n", b"GIF89a")
        assert picture.stat().st_size < MAX_IMAGE, picture.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), flags=re.MULTILINE)) | {"TARGET"}
    for line in code(page):
        for word in re.findall(r"(?:^|--command )robokin ([\w.]+)", line):
            assert word in COMMAND_WORDS, f"{page.name}: robokin {word}"
        for word in re.findall(r"^make ([\w-]+)", line):
            assert word in targets, f"{page.name}: make {word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_operators_exist(page: Path) -> None:
    for name in OPERATOR.findall(page.read_text("utf-8")):
        assert name in operators() | {"x"}, f"{page.name}: robokin.{name}"


def guide_pages() -> list[Path]:
    """The user guide, and the pages in its first table."""
    index = ROOT / "docs" / "user-guide.md"
    return [index, *(index.parent / name for name in re.findall(r"\| \[[^\]]+\]\(([\w-]+\.md)\) \|", text(str(index))))]


def program(parts: tuple[str, ...]) -> str:
    return "".join(path.read_text("utf-8") for part in parts for path in sorted((ROOT / part).rglob("*.py")))


# Labels of Blender's own, and its keys.
BLENDERS = {"Copy Pose", "Individual Origins", "Local Space (Owner Orientation)", "Symmetrize", "NAME as it was"}
KEY = re.compile(r"(?:Ctrl|Shift|Alt) \w+|[A-Z]( [A-Z]){1,2}")


@pytest.mark.parametrize("page", guide_pages(), ids=lambda page: page.name)
def test_labels_that_the_guide_names_are_shown(page: Path) -> None:
    """Words in bold or italics that look like a label of the interface."""
    shown = program(("operators", "panels", "properties", "scene")).lower()
    for name in re.findall(r"(?<![*\w])\*{1,2}([A-Z][A-Za-z /.()-]{2,40})\*{1,2}(?!\*)", page.read_text("utf-8")):
        if name not in BLENDERS and not KEY.fullmatch(name):
            for label in name.split(" > "):
                assert label.strip(" .").lower() in shown, f"{page.name}: {name}"


def test_every_operator_command_status_and_task_is_explained() -> None:
    guide = "".join(page.read_text("utf-8") for page in guide_pages())
    keys, formats = text("docs/property-keys.md"), text("docs/formats.md")
    for name in operators():
        assert f"`robokin.{name}`" in guide or f"robokin.{name}(" in guide, name
        assert f"`{name}`" in keys, name
    for command in COMMANDS:
        assert f"`robokin {command} " in guide, command
    for kind in KINDS:
        assert f"kind={kind}," in formats, kind
    types = re.findall(r"^\| ([^|]+) \|", text("docs/targets.md"), flags=re.MULTILINE)
    assert {kind.label for kind in TASK_KINDS.values()} <= {label for cell in types for label in cell.split(", ")}
    for status in Status:
        assert f"`{status}`" in guide, status


@pytest.mark.parametrize(
    ("module", "group"),
    [
        ("joint", "RobokinJoint"),
        ("robot", "RobokinRobot"),
        ("postures", "RobokinPosture"),
        ("tasks", "RobokinTask"),
        ("criteria", "RobokinCriterion"),
        ("moves", "RobokinMove"),
        ("solver_settings", "RobokinSolverSettings"),
        ("overlays", "RobokinOverlays"),
        ("preferences", "RobokinPreferences"),
    ],
)
def test_every_property_key_is_published(module: str, group: str) -> None:
    documented = set(re.findall(r"[`.]([a-z_]+)`", text("docs/property-keys.md")))
    found = properties(module, group)
    assert found, group
    assert found <= documented


def test_files_that_the_documents_name_exist() -> None:
    """Paths, and names of sources alone."""
    sources = {path.name for part in SOURCES for path in (ROOT / part).rglob("*") if path.suffix in (".py", ".c", ".h")}
    for page in PAGES:
        shown = prose(page)
        told = re.findall(r"`([^`\s]+)`", shown)
        for name in [word for word in told if re.fullmatch(rf"(?:{'|'.join(SOURCES)})/[\w/.]*", word)]:
            assert (ROOT / name).exists() or f"`{name}`, new" in shown, f"{page.name}: {name}"
        for name in [word for word in told if re.fullmatch(r"\w+\.(?:py|c|h)", word)]:
            assert name in sources, f"{page.name}: {name}"


def test_messages_that_the_guide_explains_exist() -> None:
    said = re.sub(r"\s*f?\"\n\s*f?\"", "", program(SOURCES[:7]))
    rows = re.findall(r'^\| (".+?) \|', text("docs/when-something-is-wrong.md"), flags=re.MULTILINE)
    assert rows
    for message in [quoted for row in rows for quoted in re.findall(r'"([^"]+)"', row)]:
        for part in re.split(r"\.\.\.|\(searched: |\)|\d+", message):
            assert part.strip(" :") in said, message


def test_the_version_agrees() -> None:
    version = tomllib.loads(text("blender_manifest.toml"))["version"]
    zips = re.findall(r"robokin-(\d+\.\d+\.\d+)-\w+\.zip", text("README.md"))
    assert zips and set(zips) == {version}
    assert re.search(rf"^## {re.escape(version)}\b", text("CHANGELOG.md"), flags=re.MULTILINE)


def python_of(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def robots_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the robot files that the documents name."""
    for name, source in {"panda": "panda", "tiago": "tiago", "ur5": "ur5_robot"}.items():
        shutil.copy(robot(source), tmp_path / f"{name}.urdf")
    shutil.copy(ROOT / "examples" / "arm.urdf", tmp_path)
    sides = {"left_joint": 0.225, "right_joint": -0.225}
    links = "".join(f'<link name="{name}"/>' for name in ("base", "left_wheel", "right_wheel"))
    axles = "".join(
        f'<joint name="{joint}" type="continuous"><parent link="base"/><child link="{joint.split("_")[0]}_wheel"/>'
        f'<origin xyz="0 {y} 0.1"/><axis xyz="0 1 0"/></joint>'
        for joint, y in sides.items()
    )
    (tmp_path / "cart.urdf").write_text(f'<robot name="cart">{links}{axles}</robot>', "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_read_mes_python_runs(robots_beside: Path, capsys) -> None:
    (snippet,) = python_of(ROOT / "README.md")
    (robots_beside / "snippet.py").write_text(snippet, "utf-8")
    names = runpy.run_path("snippet.py")
    assert names["result"].status is Status.CONVERGED
    assert set(names["motion"].status) == {Status.CONVERGED}
    assert "CONVERGED" in capsys.readouterr().out


# Those of which `test_formulas.py`, `test_python_page.py`, `test_new_task_kind.py` and `test_tutorials.py` look further
# have tests there.
ELSEWHERE = ("formulas.md", "python.md", "new-task-kind.md", "tutorial-lasers.md", "tutorial-door.md")
WITH_PYTHON = [page for page in PAGES if python_of(page) and page.name not in ELSEWHERE]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.name)
def test_the_python_of_the_documents_runs(page: Path, robots_beside: Path) -> None:
    names: dict = {"__name__": "page"}
    for block in python_of(page):
        exec(compile(block, str(page), "exec"), names)


def test_the_glossary_is_in_order_and_linked() -> None:
    rows = [line.strip("| ").split(" | ") for line in text("docs/glossary.md").splitlines() if line.startswith("| ")][
        1:
    ]
    words = [re.sub(r"[*`]", "", row[0]).lower() for row in rows]
    assert len(words) > 40 and words == sorted(set(words))
    for row in rows:
        assert len(row[1].split()) <= 20, row[0]
    for page in ("README.md", "docs/user-guide.md", "docs/tasks.md", "docs/criteria.md", "docs/architecture.md"):
        assert "glossary.md)" in text(page), page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_wall_of_text(page: Path) -> None:
    """Of paragraphs, items of lists and cells of tables."""
    for words in map(str.split, paragraphs(page)):
        assert len(words) <= MAX_WORDS, f"{page.name}: {len(words)} words: {' '.join(words[:12])} ..."
