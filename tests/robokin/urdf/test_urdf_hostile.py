"""Broken and hostile files: one FileFormatError with file and line, in bounded time, and no network."""

from __future__ import annotations

import os
import random
import re
import socket
import warnings
from pathlib import Path

import pytest
from robokin_addon.robokin import FileFormatError, load_urdf, missing_meshes, read_urdf_text, urdf_text
from robokin_addon.robokin.errors import ModelError
from support.few import rest_slow
from support.robots import robot


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("network access")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


LINKS = '<link name="a"/>\n<link name="b"/>'
ENDS = '<parent link="a"/><child link="b"/>'


def joint(inside: str, kind: str = "revolute") -> str:
    """A joint in line 4 whose details are in line 5."""
    return f'{LINKS}\n<joint name="j" type="{kind}">{ENDS}\n{inside}</joint>'


def link(inside: str) -> str:
    """A link in line 2 whose details are in line 3."""
    return f'<link name="a">\n{inside}</link>'


def visual(shape: str) -> str:
    return link(f"<visual><geometry>{shape}</geometry></visual>")


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'

# What is inside <robot>, the line, what the message says.
BROKEN = {
    "no links": ("", 1, "at least one link"),
    "two roots": (LINKS, 3, "2 root links: 'a', 'b'"),
    "cycle": (
        f'{LINKS}\n<joint name="i" type="fixed">{ENDS}</joint>\n'
        '<joint name="j" type="fixed"><parent link="b"/><child link="a"/></joint>',
        4,
        "circle",
    ),
    "cycle beside a tree": (
        f'<link name="root"/>\n{LINKS}\n<joint name="i" type="fixed">{ENDS}</joint>\n'
        '<joint name="j" type="fixed"><parent link="b"/><child link="a"/></joint>',
        3,
        "circle through link 'a'",
    ),
    "own parent": (
        '<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="a"/></joint>',
        3,
        "circle",
    ),
    "two parents": (
        f'{LINKS}\n<joint name="i" type="fixed">{ENDS}</joint>\n<joint name="j" type="fixed">{ENDS}</joint>',
        5,
        "link 'b' has two parents",
    ),
    "missing link": (
        '<link name="a"/>\n<joint name="j" type="fixed"><parent link="a"/><child link="ghost"/></joint>',
        3,
        "'ghost' is not a link",
    ),
    "endless name": (f'<link name="a"/>\n<link name="{"b" * 10_000}"/>', 3, "2 root links"),
    "duplicate link": ('<link name="a"/>\n<link name="a"/>', 3, "two links are named 'a'"),
    "duplicate joint": (
        f'{LINKS}\n<link name="c"/>\n<joint name="j" type="fixed">{ENDS}</joint>\n'
        '<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>',
        6,
        "two joints are named 'j'",
    ),
    "link without name": ("<link/>", 2, "no 'name'"),
    "joint without parent": (f'{LINKS}\n<joint name="j" type="fixed"><child link="b"/></joint>', 4, "no <parent>"),
    "joint without type": (f'{LINKS}\n<joint name="j">{ENDS}</joint>', 4, "no 'type'"),
    "unknown type": (joint("", "hinge"), 4, "unknown type 'hinge' (valid: fixed, revolute"),
    "screw": (joint("", "screw"), 4, "unknown type 'screw'"),
    "zero axis": (joint('<axis xyz="0 0 0"/><limit/>'), 5, "axis is zero"),
    "tiny axis": (joint('<axis xyz="0 0 1e-30"/><limit/>'), 4, "no direction"),
    "axis of two numbers": (joint('<axis xyz="0 1"/><limit/>'), 5, "must be 3 numbers, not '0 1'"),
    "axis not a number": (joint('<axis xyz="nan 0 0"/><limit/>'), 5, "finite number, not 'nan'"),
    "no limit": (joint(""), 4, "needs a <limit>"),
    "prismatic, no limit": (joint("", "prismatic"), 4, "needs a <limit>"),
    "lower above upper": (joint('<limit lower="2" upper="1"/>'), 5, "lower limit 2.0 is above the upper limit 1.0"),
    "lower above default upper": (joint('<limit lower="2"/>'), 5, "above"),
    "lower nan": (joint('<limit lower="nan" upper="1"/>'), 5, "finite number"),
    "velocity nan": (joint('<limit velocity="nan"/>'), 5, "finite number"),
    "negative effort": (joint('<limit effort="-1"/>'), 5, "effort limit must not be negative"),
    "damping text": (joint('<limit/><dynamics damping="much"/>'), 5, "not 'much'"),
    "xacro number": (joint('<limit lower="${-pi}"/>'), 5, "unexpanded xacro"),
    "mimic of itself": (joint('<limit/><mimic joint="j"/>'), 4, "circle"),
    "floating mimic": (joint('<mimic joint="j"/>', "floating"), 4, "cannot mimic"),
    "mimic without joint": (joint("<limit/><mimic/>"), 5, "no 'joint'"),
    "origin of four numbers": (joint('<limit/><origin xyz="0 0 0 0"/>'), 5, "must be 3 numbers"),
    "overflow": (joint('<limit/><origin xyz="1e999 0 0"/>'), 5, "finite number, not '1e999'"),
    "underscore": (joint('<limit/><origin xyz="1_0 0 0"/>'), 5, "finite number"),
    "other digits": (joint('<limit/><origin xyz="\u0661 0 0"/>'), 5, "finite number"),
    "comma": (joint('<limit/><origin xyz="0,5 0 0"/>'), 5, "not '0,5'"),
    "negative mass": (link(f'<inertial><mass value="-1"/>{INERTIA}</inertial>'), 3, "negative"),
    "mass nan": (link(f'<inertial><mass value="NaN"/>{INERTIA}</inertial>'), 3, "finite"),
    "too large": (link(f'<inertial><mass value="1e101"/>{INERTIA}</inertial>'), 3, "finite number up to 1e+100"),
    "no geometry": (link("<visual/>"), 3, "no <geometry>"),
    "empty geometry": (visual(""), 3, "no known shape"),
    "unknown shape": (visual("<torus/>"), 3, "<torus> (valid: box"),
    "negative radius": (visual('<sphere radius="-1"/>'), 3, "negative"),
    "box of two numbers": (visual('<box size="1 2"/>'), 3, "3 numbers"),
    "scale zero": (visual('<mesh filename="x.stl" scale="1 0 1"/>'), 3, "zero"),
    "mesh without name": (visual("<mesh/>"), 3, "no 'filename'"),
    "three colours": ('<material name="m">\n<color rgba="1 0 0"/></material><link name="a"/>', 3, "4 numbers"),
    "xacro": ('<link name="a"/>\n<xacro:macro name="m"/>', 3, "xacro source"),
    "entity": ('<link name="a"/>\n<link name="&b;"/>', 3, "undefined entity"),
    "deep": ('<link name="a"/>\n' + "<x>" * 100_000, 3, "nested more than"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_robots(case):
    inside, line, problem = BROKEN[case]
    with pytest.raises(FileFormatError) as caught:
        read_urdf_text(f'<robot name="r">\n{inside}\n</robot>', "/robots/it.urdf")
    assert (caught.value.path, caught.value.line) == ("/robots/it.urdf", line)
    assert problem in caught.value.problem
    assert str(caught.value).startswith(f"/robots/it.urdf:{line}: ")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


REFUSED = {
    "http://example.org/x.stl": "http: is not accepted",
    "FTP://example.org/x.stl": "ftp: is not accepted",
    r"\\server\share\x.stl": "is a network path",
    "//server/share/x.stl": "is a network path",
    "file:////server/share/x.stl": "is a network path",
    "package://p/../../../etc/passwd": "names no file inside a package",
    "../../../../../../../etc/passwd": "leaves the search path",
    "file:///etc/passwd": "outside the search path",
    "a&#9;b.stl": "control characters",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_mesh_that_may_not_be_read_is_left_out(name, monkeypatch, caplog):
    """The robot is read all the same, and nothing outside is touched."""
    touched = []
    original = os.path.isfile
    monkeypatch.setattr(os.path, "isfile", lambda path: touched.append(os.fspath(path)) or original(path))
    mesh = visual(f'<mesh filename="{name}"/>')
    model = read_urdf_text(f'<robot name="r">\n{mesh}\n</robot>', "/r/it.urdf")
    (problem,) = missing_meshes(model)
    assert (problem.path, problem.line) == ("/r/it.urdf", 3) and REFUSED[name] in problem.problem
    texture = f'<texture filename="{name}"/>'
    text = link(f'<visual><geometry><sphere radius="1"/></geometry><material name="m">{texture}</material></visual>')
    (picture,) = read_urdf_text(f'<robot name="r">\n{text}\n</robot>', "/r/it.urdf").links[0].visuals
    assert picture.material.texture_path is None and REFUSED[name] in caplog.text
    assert not [path for path in touched if "server" in path]


BOMB = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(b)} "{f"&{chr(b - 1)};" * 10}">' for b in range(ord("b"), ord("m"))
)  # fmt: skip
DOCUMENTS = {
    "entity bomb": (f'{BOMB}]>\n<robot name="&l;"><link name="a"/></robot>', 1, "DOCTYPE"),
    "external entity": ('\n<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><robot name="&e;"/>', 2, "DOCTYPE"),
    "external document type": ('<!DOCTYPE r SYSTEM "http://example.org/r.dtd"><robot name="r"/>', 1, "DOCTYPE"),
    "empty": (b"", 1, "empty"),
    "blank": (b" \n\n", 1, "empty"),
    "binary": (bytes(range(256)), 1, "binary"),
    "noise": (b"\x89PNG\r\n\x1a\n\xff\xd8", 1, "not well-formed"),
    "plain text": (b"hello", 1, "not well-formed"),
    "truncated": (b'<robot name="r">\n<link name="a">\n', 3, "not well-formed"),
    "not UTF-8": (b'<robot name="r">\n<link name="\xff"/></robot>', 2, "not well-formed"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot name="r"/>', 1, "encoding"),
    "encoding of several bytes": (b'<?xml version="1.0" encoding="gb2312"?><robot name="r"/>', 1, "encoding"),
    "lone surrogate": ('<robot name="\ud800"><link name="a"/></robot>', 1, "encoding"),
    "SDF": (b'<sdf version="1.6"/>', 1, "this is SDF, not URDF"),
    "MJCF": (b"<mujoco/>", 1, "MuJoCo"),
    "HTML": (b"<html/>", 1, "outermost element is <html>"),
    "millions of attributes": (None, 1, "not well-formed"),
    "a large file": (b"<robot>" + b" " * (16 << 20), None, "larger than 16 MB"),
    "millions of elements": (b"<robot>" + b"<a/>" * 300_000 + b"</robot>", 1, "more than 200000 elements"),
}


SLOW = {"millions of attributes": pytest.mark.slow}


@pytest.mark.parametrize("case", [pytest.param(case, marks=SLOW.get(case, ())) for case in DOCUMENTS])
def test_broken_documents(case):
    data, line, problem = DOCUMENTS[case]
    if data is None:
        data = b"<robot><link " + b" ".join(b'%x=""' % (i + 0xA00000) for i in range(1_400_000)) + b"/>"
    with pytest.raises(FileFormatError, match=re.escape(problem)) as caught:
        read_urdf_text(data, "it.urdf")
    assert caught.value.line == line


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "link.urdf").symlink_to(tmp_path / "link.urdf")
    for path in (tmp_path, tmp_path / "missing.urdf", tmp_path / "link.urdf", tmp_path / ("x" * 5000), "nul\0.urdf"):
        with pytest.raises(FileFormatError) as caught:
            load_urdf(path)
        assert caught.value.path == str(path)
    with pytest.raises(FileFormatError, match="folder"):
        load_urdf(tmp_path)
    with pytest.raises(FileFormatError, match="no such file"):
        load_urdf(tmp_path / "missing.urdf")
    device = Path("/dev/zero")
    if device.exists():
        with pytest.raises(FileFormatError, match="regular"):
            load_urdf(device)


def test_long_chains_are_read_without_recursion():
    count = 3000
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(count)
    )
    assert read_urdf_text(f"<robot name='r'>{links}{joints}</robot>").nv == count
    mimics = joints.replace("</joint>", '<mimic joint="j{}"/></joint>', count - 1).format(*range(1, count))
    with pytest.raises(FileFormatError, match="'j0' mimics through more than"):
        read_urdf_text(f"<robot name='r'>{links}{mimics}</robot>")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("multiplier", ["1e100", "-1e99", "1e-100", "1e-320"])
def test_chains_of_extreme_mimics(multiplier):
    links = "".join(f'<link name="l{i}"/>\n' for i in range(8))
    ends = '<parent link="l{}"/><child link="l{}"/><limit lower="-1e300" upper="1e300" velocity="1e300"/>'
    mimic = f'<mimic joint="j{{}}" multiplier="{multiplier}"/>'
    joints = "\n".join(
        f'<joint name="j{i}" type="revolute">{ends.format(i, i + 1)}{mimic.format(i - 1) if i else ""}</joint>'
        for i in range(7)
    )
    text = f"<robot name='r'>\n{links}{joints}</robot>"
    if abs(float(multiplier)) < 1.0:
        assert read_urdf_text(text).nq == 1
        return
    with pytest.raises(FileFormatError, match=r"'j4'.*overflow") as caught:
        read_urdf_text(text)
    assert caught.value.line == 14


def mutations(data: bytes, random_: random.Random, count: int):
    """Copies of a file with cut ends, wrong bytes, lost, doubled or moved lines, and swapped or wrong values."""
    values = [b"", b"nan", b"-inf", b"1e308", b"-1", b"0 0 0", b"1e308 1e308 1e308", b"\xff", b"&#0;", b"fixed"]
    values += [b"planar", b"floating", b"../../../../..", b"http://x", b"package://..//x", b"file:///%00", b"x" * 5000]
    texts = [m.span() for m in re.finditer(rb'"[^"<>]*"', data)]
    lines = data.splitlines(True)
    for _ in range(count):
        a, b = random_.choice(texts), random_.choice(texts)
        i = random_.randrange(len(lines))
        j = i + random_.randrange(1, 8)
        flipped = bytearray(data)
        flipped[random_.randrange(len(data))] = random_.randrange(256)
        yield random_.choice(
            [
                data[: random_.randrange(len(data))],
                bytes(flipped),
                b"".join(lines[:i] + lines[j:]),
                b"".join(lines[:j] + lines[i:j] + lines[j:]),
                b"".join([*lines[:i], random_.choice(lines), *lines[i:]]),
                data[: a[0] + 1] + random_.choice(values) + data[a[1] - 1 :],
                data[: a[0]] + data[b[0] : b[1]] + data[a[1] :],
            ]
        )


@pytest.mark.parametrize(
    "name", rest_slow(["double_pendulum_simple", "panda", "ur5_robot", "so101", "allegro_right_hand"])
)
def test_mutated_robots_load_or_give_one_error(name):
    path = robot(name)
    outcomes = {"loaded": 0, "refused": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in mutations(path.read_bytes(), random.Random(name), 300):
            try:
                model = read_urdf_text(data, path)
            except FileFormatError as error:
                assert error.line and "\n" not in str(error) and len(error.problem) < 600
                outcomes["refused"] += 1
                continue
            outcomes["loaded"] += 1
            assert model.tree.n_frames == len(model.links)
            try:
                read_urdf_text(urdf_text(model), path)
            except ModelError as error:
                pytest.fail(f"read, but not written: {error}")
    assert min(outcomes.values()) > 20, outcomes
