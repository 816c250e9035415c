"""Files are written whole or not at all, and are otherwise as they were."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest
from robokin_addon.robokin.errors import FileFormatError
from robokin_addon.robokin.files.replacing import replacing
from robokin_addon.robokin.files.text_file import write_files, write_text, written


@pytest.fixture
def old(tmp_path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("old")
    return path


def no_space(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_new_takes_the_place_of_the_old(old) -> None:
    write_text(old, "new")
    assert old.read_text() == "new" and os.listdir(old.parent) == ["a.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_what_cannot_be_written_leaves_the_old(call, old, monkeypatch) -> None:
    monkeypatch.setattr(os, call, no_space)
    with pytest.raises(FileFormatError, match=r"a\.txt: cannot be written: No space left on device$"):
        write_text(old, "new")
    assert old.read_text() == "old" and os.listdir(old.parent) == ["a.txt"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError, FileFormatError("x", 1, "y")])
def test_a_block_that_is_left_leaves_the_old(stop, old) -> None:
    with pytest.raises(BaseException) as left, written(old, "new"):
        assert len(os.listdir(old.parent)) == 2  # on the disk already
        raise stop
    assert left.type is (stop if isinstance(stop, type) else type(stop))
    assert old.read_text() == "old" and os.listdir(old.parent) == ["a.txt"]


def test_several_files_are_written_all_or_none(old, monkeypatch) -> None:
    others = [old.with_name(name) for name in "bcd"]
    others[0].write_text("old too")
    with pytest.raises(FileFormatError, match="nowhere"):
        write_files({old: "new", **dict.fromkeys(others, b"new"), old.parent / "nowhere" / "e": "new"})
    assert sorted(os.listdir(old.parent)) == ["a.txt", "b"]
    assert (old.read_text(), others[0].read_text()) == ("old", "old too")
    order = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda part, target: (order.append(Path(target).name), replace(part, target)))
    write_files({old: "new", **dict.fromkeys(others, b"new")})
    assert order == ["d", "c", "b", "a.txt"]  # what refers to the others is the last to be there
    assert {path.read_text() for path in (old, *others)} == {"new"}


def test_permissions_stay_and_those_of_a_new_file_are_as_usual(old) -> None:
    for mode in (0o640, 0o600, 0o755):
        old.chmod(mode)
        write_text(old, f"{mode}")
        assert stat.S_IMODE(old.stat().st_mode) == mode
    before = os.umask(0o027)
    try:
        write_text(old.with_name("new"), "")
    finally:
        os.umask(before)
    assert stat.S_IMODE(old.with_name("new").stat().st_mode) == 0o640


def test_a_file_that_may_not_be_written_is_not_replaced(old, monkeypatch) -> None:
    """A rename alone would do so. Where the tests run as root, all may be written: asked is what would be said else."""
    old.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == old and mode == os.W_OK))
    with pytest.raises(FileFormatError, match=r"a\.txt: cannot be written: Permission denied"):
        write_text(old, "new")
    assert old.read_text() == "old"


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path) -> None:
    for name in ("n" * 255, "ñ" * 127, "n" * 245 + ".urdf"):
        for text in ("one", "two"):
            write_text(tmp_path / name, text)
            assert (tmp_path / name).read_text() == text
    with pytest.raises(FileFormatError, match="File name too long"):
        write_text(tmp_path / ("n" * 256), "")


def test_a_link_stays_and_leads_to_the_new(old) -> None:
    folder = old.parent / "folder"
    folder.mkdir()
    link = folder / "link"
    link.symlink_to(old)
    write_text(link, "new")
    assert link.is_symlink() and old.read_text() == "new" and os.listdir(folder) == ["link"]


def test_a_device_and_a_pipe_are_written_to_and_stay(tmp_path) -> None:
    write_text(os.devnull, "new")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join(10)
    assert found == ["through"] and stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(FileFormatError, match="/dev/full: cannot be written: No space left"):
        write_text("/dev/full", "new")
    with pytest.raises(FileFormatError, match="not a regular file"), replacing(pipe):
        pass


@pytest.mark.parametrize("path", ["", "/", ".", "a\0b", "nowhere/a"])
def test_what_is_no_file_is_refused(path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileFormatError, match="cannot be written"):
        write_text(path, "")
    assert os.listdir() == []


def test_half_a_surrogate_pair_is_refused(old) -> None:
    with pytest.raises(FileFormatError, match="cannot be written: surrogates"):
        write_text(old, "a\ud800b")
    assert old.read_text() == "old"


def test_many_writers_at_once_leave_one_whole_file(tmp_path) -> None:
    path = tmp_path / "a"
    texts = [str(i) * 100_000 for i in range(8)]
    writers = [threading.Thread(target=lambda text=text: write_text(path, text)) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_text() in texts and os.listdir(tmp_path) == ["a"]
