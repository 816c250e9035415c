"""Whether a Blender file is whole: what a full disk cuts off is missed here, as Blender reports it as saved."""

from __future__ import annotations

import os
from typing import BinaryIO

# The format of Zstandard: RFC 8878, section 3. Blender ends its files with the table of the seekable format
# (contrib/seekable_format of Zstandard), in a frame that readers skip.
_FRAME = 0xFD2FB528
_SKIPPED, _SKIPPED_MASK = 0x184D2A50, 0xFFFFFFF0
_TABLE_END = bytes.fromhex("b1ea928f")
_LAST_BLOCK = b"ENDB"  # which is only a head


def is_whole_blend(path: str | os.PathLike) -> bool:
    """Whether all is there that Blender writes: compressed, every frame and the table of them; else the last block.
    Raises OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(8)
        if start.startswith(b"BLENDER"):
            head = 32 if start[7:].isdigit() else 24  # bytes of the head of a block, since Blender 5.0 and before
            file.seek(max(size - head, 0))
            return file.read().startswith(_LAST_BLOCK)
        file.seek(max(size - len(_TABLE_END), 0))
        if file.read() != _TABLE_END:
            return False
        file.seek(0)
        frames = 0
        while file.tell() < size:
            if not _skip_frame(file):
                return False
            frames += 1
        return file.tell() == size and frames > 1


def _skip_frame(file: BinaryIO) -> bool:
    """To the end of the frame; False when none begins here, or it does not end."""
    magic = _number(file, 4)
    if magic & _SKIPPED_MASK == _SKIPPED:
        file.seek(_number(file, 4), os.SEEK_CUR)
        return True
    if magic != _FRAME:
        return False
    head = _number(file, 1)
    is_single, has_checksum = bool(head & 0x20), bool(head & 0x04)
    content_size = (int(is_single), 2, 4, 8)[head >> 6]
    dictionary = (0, 1, 2, 4)[head & 0x03]
    file.seek((not is_single) + dictionary + content_size, os.SEEK_CUR)
    while True:
        head = file.read(3)
        if len(head) < 3:
            return False
        block = int.from_bytes(head, "little")
        is_repeated = (block >> 1) & 3 == 1  # one byte, and how often
        file.seek(1 if is_repeated else block >> 3, os.SEEK_CUR)
        if block & 1:
            file.seek(4 * has_checksum, os.SEEK_CUR)
            return True


def _number(file: BinaryIO, count: int) -> int:
    return int.from_bytes(file.read(count), "little")
