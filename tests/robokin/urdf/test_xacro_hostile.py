"""xacro files that want to run something, to read what is not theirs, or never to end."""

from __future__ import annotations

import os
import time
import tracemalloc

import pytest
from robokin_addon.robokin import FileFormatError, load_urdf
from support.few import these_slow
from support.hostile.xacro_styles import HEAD


def load(folder, text, name="robot.xacro", paths=()):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if text.startswith("<") and "<robot" in text else f"{HEAD}{text}</robot>")
    return load_urdf(path, paths)


ESCAPES = [
    "(lambda: ().__class__.__base__.__subclasses__())()",
    "[c for c in [().__class__.__base__] for s in c.__subclasses__() if 'Popen' in s.__name__][0]",
    "list(map(lambda c: c.__init__.__globals__, ().__class__.__base__.__subclasses__()))",
    "load_yaml.__globals__['os'].system('touch MARK')",
    "xacro.load_yaml.__globals__['os'].system('touch MARK')",
    "python.map(lambda f: f('touch MARK'), [str.__class__])",
    "[f.system('touch MARK') for f in (load_yaml.__globals__['os'],)]",
    "(lambda f: f.__globals__['os'].system('touch MARK'))(load_yaml)",
    "'{0.__globals__[os]}'.format(load_yaml)",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_no_expression_runs_anything(tmp_path, text):
    mark = tmp_path / "mark"
    text = text.replace("MARK", str(mark)).replace("<", "&lt;").replace('"', "&quot;")
    with pytest.raises(FileFormatError, match=r"robot\.xacro:1: in "):
        load(tmp_path, f'<link name="${{{text}}}"/>')
    assert not mark.exists()


def macro(name, body, params=""):
    return f'<xacro:macro name="{name}" params="{params}">{body}</xacro:macro>'


LAYERS = range(1, 60)
ENDLESS = {
    "a power": "<link name='${9**9**9}'/>",
    "a power of floats": "<link name='${9.0**9**9**9}'/>",
    "doubling macros": macro("m0", "<link name='a'/>")
    + "".join(macro(f"m{i}", f"<xacro:m{i - 1}/><xacro:m{i - 1}/>") for i in LAYERS)
    + "<xacro:m59/>",
    "doubling macros that make nothing": macro("m0", "")
    + "".join(macro(f"m{i}", f"<xacro:m{i - 1}/><xacro:m{i - 1}/>") for i in LAYERS)
    + "<xacro:m59/>",
    "doubling conditions": macro("m", "<xacro:if value='1'><xacro:m/></xacro:if>" * 2)
    + "<xacro:m/>",
    "a macro that calls itself": macro("m", "<xacro:m/>") + "<xacro:m/>",
    "a macro that counts": macro("m", "<link name='l${n}'/><xacro:m n='${n + 1}'/>", "n") + "<xacro:m n='0'/>",
    "macros inside a macro's block": macro("m", "<xacro:insert_block name='b'/>", "*b")
    + "<xacro:m>" * 50 + "<link name='a'/>" * 2 + "</xacro:m>" * 50,
    "a block that inserts itself": "<xacro:property name='b'><xacro:insert_block name='b'/></xacro:property>"
    "<xacro:insert_block name='b'/>",
    "a block that doubles itself": "<xacro:property name='b'>" + "<xacro:insert_block name='b'/>" * 2
    + "</xacro:property><xacro:insert_block name='b'/>",
    "blocks given on, doubled": macro(
        "m", "<xacro:m><p>" + "<xacro:insert_block name='b'/>" * 2 + "</p></xacro:m>", "**b")
    + "<xacro:m><p><link name='a'/></p></xacro:m>",
    "doubling properties": "<xacro:property name='p0' value='aaaaaaaa'/>"
    + "".join(f"<xacro:property name='p{i}' value='${{p{i - 1}}}${{p{i - 1}}}'/>" for i in LAYERS)
    + "<link name='${p59}'/>",
    "doubling lists": "<xacro:property name='p0' value='${[1, 2]}'/>"
    + "".join(f"<xacro:property name='p{i}' value='${{[p{i - 1}, p{i - 1}]}}'/>" for i in LAYERS)
    + "<link name='${p59}'/>",
    "a chain of properties": "<xacro:property name='p0' value='1'/>"
    + "".join(f"<xacro:property name='p{i}' value='${{p{i - 1} + 1}}'/>" for i in range(1, 500))
    + "<link name='${p499}'/>",
    "a file that includes itself": "<xacro:include filename='robot.xacro'/>",
    "a file that includes itself twice": "<xacro:include filename='robot.xacro'/>" * 2,
    "elements inside each other": macro("m", "<a><xacro:m/></a>") + "<xacro:m/>",
    "a long text": f"<link name='{'${' * 100_000}'/>",
    "many expressions": f"<link name='{'${1}' * 100_000}'/>",
    "many long texts": "<xacro:property name='p' value='${str(list(range(9000)))}'/>"
    + "".join(f"<link name='{i}${{p}}'/>" for i in range(20_000)),
    "many parameters": macro("m", "", "a " * 30_000) + "<xacro:m/>",
    "many parameters of one name": macro("m", "", "a " * 2_000_000) + "<link name='a'/>",
    "a long name": f"<xacro:{'n' * 100_000}/>",
    "a long list of conditions": "<xacro:if value='${[i for i in range(9000) if i in range(9000)]}'/>",
}  # fmt: skip


@pytest.mark.parametrize("case", these_slow(ENDLESS, "blocks given on, doubled"))
def test_what_never_ends_is_refused(tmp_path, case):
    before = time.process_time()
    with pytest.raises(FileFormatError, match=r"robot\.xacro") as fault:
        load(tmp_path, ENDLESS[case])
    assert time.process_time() - before < 15.0
    assert "\n" not in str(fault.value) and len(fault.value.problem) < 600


def test_files_that_include_each_other_twice(tmp_path):
    for i in range(40):
        (tmp_path / f"f{i}.xacro").write_text(HEAD + f"<xacro:include filename='f{i + 1}.xacro'/>" * 2 + "</robot>")
    (tmp_path / "f40.xacro").write_text(f"{HEAD}<link name='a'/></robot>")
    before = time.process_time()
    with pytest.raises(FileFormatError, match=r"elements are made|steps"):
        load_urdf(tmp_path / "f0.xacro")
    assert time.process_time() - before < 15.0


@pytest.mark.slow
@pytest.mark.parametrize("case", ["many long texts", "doubling macros", "blocks given on, doubled", "doubling lists"])
def test_memory_is_bounded(tmp_path, case):
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError):
            load(tmp_path, ENDLESS[case])
        assert tracemalloc.get_traced_memory()[1] < 400e6
    finally:
        tracemalloc.stop()


def outside(folder):
    """Files of another, beside the robot's package and above it."""
    for name in (".ssh/config.yaml", ".config/hosts.yml", "secrets/keys.yaml", "passwd", "notes.yaml", "other.xacro"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("token: secret\n")
    package = folder / "a" / "b" / "c" / "robot_package"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>robot_package</name></package>")
    return package


@pytest.mark.parametrize(
    "name",
    [
        "{top}/notes.yaml",
        "{top}/passwd",
        "../../../../../notes.yaml",
        "../../../../../passwd",
        "{top}/.ssh/config.yaml",
        "$(find .ssh)/config.yaml",
        "$(find .config)/hosts.yml",
        "$(find ..)/notes.yaml",
        "$(find robot_package)/../../../../notes.yaml",
        "/etc/passwd",
        "/dev/zero",
        "/proc/self/environ",
        "../../../../../.config/hosts.yml",
        "a\tb.yaml",
        "x\0.yaml",
    ],
)
def test_only_the_robots_own_files_are_read(tmp_path, name):
    package = outside(tmp_path)
    name = name.format(top=tmp_path)
    for text in (
        f"<xacro:include filename='{name.replace(chr(0), '${chr}').replace(chr(9), '&#9;')}'/>",
        f"<link name='${{xacro.load_yaml(\"{name.replace(chr(0), '').replace(chr(9), '&#9;')}\")}}'/>",
    ):
        with pytest.raises(FileFormatError) as fault:
            load(package, text, "urdf/robot.xacro")
        assert "secret" not in str(fault.value)


def test_hidden_folders_are_only_the_users_own(tmp_path):
    """A robot inside a hidden folder, as the caches of downloads are, is read; from outside it may not reach there."""
    hidden = tmp_path / ".cache"
    hidden.mkdir()
    (hidden / "size.yaml").write_text("size: 2\n")
    text = '<link name=\'${xacro.load_yaml("FILE")["size"]}\'/>'
    assert load(hidden, text.replace("FILE", "size.yaml")).links[0].name == "2"
    with pytest.raises(FileFormatError, match="outside the robot's folders"):
        load(tmp_path, text.replace("FILE", ".cache/size.yaml"))


def test_network_paths_are_not_touched(tmp_path, monkeypatch):
    touched = []
    original = os.path.isfile
    monkeypatch.setattr(os.path, "isfile", lambda path: touched.append(os.fspath(path)) or original(path))
    for name in ("//host/share/a.xacro", r"\\host\share\a.xacro", "//host/share/a.yaml", "http://host/a.xacro"):
        for text in (f"<xacro:include filename='{name}'/>", f"<link name='${{load_yaml(\"{name}\")}}'/>"):
            with pytest.raises(FileFormatError):
                load(tmp_path, text)
    assert not [path for path in touched if "host" in path]


def test_includes_are_parsed_as_carefully_as_the_robot(tmp_path):
    (tmp_path / "bomb.xacro").write_text('<!DOCTYPE r [<!ENTITY a "aaa">]><robot>&a;</robot>')
    with pytest.raises(FileFormatError, match=r"bomb\.xacro:1: document types"):
        load(tmp_path, "<xacro:include filename='bomb.xacro'/>")
    (tmp_path / "large.xacro").write_bytes(b"<robot>" + b" " * (17 << 20))
    with pytest.raises(FileFormatError, match=r"large\.xacro: the file is larger"):
        load(tmp_path, "<xacro:include filename='large.xacro'/>")
