"""What kernel/build.py makes: installable, reproducible wheels whose library exports the kernel and nothing else."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.util
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "kernel"


def _load_build():
    spec = importlib.util.spec_from_file_location("kernel_build", KERNEL / "build.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel_build"] = module
    spec.loader.exec_module(module)
    return module


build = _load_build()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel for Linux on x86-64, which any machine can build."""
    out = tmp_path_factory.mktemp("wheel")
    assert build.main(["--target", "linux-x64", "--out", str(out)]) == 0
    (path,) = out.iterdir()
    return path


def declared_functions() -> set[str]:
    headers = "".join(path.read_text("utf-8") for path in sorted((KERNEL / "include").glob("*.h")))
    return set(re.findall(r"^RK_API [\w ]+?(rk_\w+)\(", headers, re.MULTILINE))


def elf_dynamic_symbols(data: bytes) -> tuple[set[str], set[str], list[str]]:
    """Names that a 64-bit ELF library defines, those that it wants, and the libraries that it loads."""
    assert data[:5] == b"\x7fELF\x02"
    table, count = struct.unpack_from("<Q", data, 0x28)[0], struct.unpack_from("<H", data, 0x3C)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)]

    def text(strings: int, at: int) -> str:
        start = sections[strings][4] + at
        return data[start : data.index(b"\0", start)].decode()

    defined, wanted, needed = set(), set(), []
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind == 11:  # SHT_DYNSYM
            for at in range(offset + 24, offset + size, 24):
                name, _, _, section = struct.unpack_from("<IBBH", data, at)
                (defined if section else wanted).add(text(link, name))
        if kind == 6:  # SHT_DYNAMIC
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<qQ", data, at)
                if tag == 1:  # DT_NEEDED
                    needed.append(text(link, value))
    return defined, wanted, needed


def test_only_the_kernel_is_exported_and_only_libc_is_wanted(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".so")]
        defined, wanted, needed = elf_dynamic_symbols(archive.read(name))
    assert name == f"robokin_kernel/librobokin_kernel-{build.version()}.so"
    assert defined == declared_functions()
    assert needed in ([], ["libc.so.6"])
    # What a compiler may call for loops that copy or clear; in particular no sin, cos, malloc.
    assert wanted <= {"memset", "memcpy", "memmove"}


def test_record_lists_every_file_with_its_hash(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith(".dist-info/RECORD")]
        rows = list(csv.reader(archive.read(record).decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(names)
        for name, digest, size in rows:
            if name == record:
                assert digest == size == ""
                continue
            data = archive.read(name)
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            assert (digest, size) == (f"sha256={expected}", str(len(data)))


def test_the_package_knows_its_library_byte_for_byte(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".so")]
        library, source = archive.read(name), archive.read("robokin_kernel/__init__.py").decode()
    assert f"\nSIZE = {len(library)}\n" in source
    assert f'\nSHA256 = "{hashlib.sha256(library).hexdigest()}"\n' in source


def test_a_second_build_has_the_same_bytes(wheel, tmp_path):
    assert build.main(["--target", "linux-x64", "--out", str(tmp_path)]) == 0
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_wheel_installs_and_knows_its_library(wheel, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(tmp_path)]
    if build.host() != "linux-x64":
        command += ["--platform", "manylinux_2_28_x86_64", "--only-binary", ":all:"]
    subprocess.run([*command, str(wheel)], check=True, timeout=120)
    program = "import robokin_kernel as k; print(k.__version__); print(k.library_path())"
    lines = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    ).stdout.splitlines()
    assert lines[0] == build.version()
    assert Path(lines[1]).is_file()
    assert Path(lines[1]).is_relative_to(tmp_path)


def test_tags_of_all_platforms():
    tags = {name: target.tag for name, target in build.TARGETS.items()}
    assert tags == {
        "linux-x64": "manylinux_2_28_x86_64",
        "linux-arm64": "manylinux_2_28_aarch64",
        "windows-x64": "win_amd64",
        "windows-arm64": "win_arm64",
        "macos-x64": "macosx_11_0_x86_64",
        "macos-arm64": "macosx_11_0_arm64",
    }
    assert build.host() in tags


def test_an_unknown_target_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        build.main(["--target", "amiga", "--out", str(tmp_path)])
    assert stop.value.code == 2
    assert "'amiga'" in capsys.readouterr().err
