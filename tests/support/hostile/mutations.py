"""Damaged copies of files, for tests that no such file does harm."""

from __future__ import annotations

import random
import re

# What readers stumble over, as bytes of a text file.
WORDS = [
    b"", b"0", b"-1", b"1", b"2", b"3", b"65535", b"4294967295", b"99999999999999999999", b"1e308", b"-1e39", b"1e-320",
    b"nan", b"-inf", b"1_0", b"\xc2\xb2", b"0x10", b"true", b"null", b"\xff\xfe", b"&#0;", b"../../../../dev/zero",
    b"//host/share/x", b"\\\\host\\share\\x", b"file:///etc/passwd", b"a" * 3000, b"1 " * 3000, b"[" * 300, b"{}",
    b"\n\n",
]  # fmt: skip
_WORD = re.compile(rb"[^\s\"<>=,:\[\]{}/]+")
_WHOLE = re.compile(rb"(?<=[\"\s>,\[])-?\d+(?=[\"\s<,\]])")


def mutated(data: bytes, random_: random.Random) -> bytes:
    """One copy with a few faults: cut, doubled or swapped pieces, wrong bytes, words and numbers."""
    for _ in range(random_.choice((1, 1, 1, 2, 4, 16))):
        data = _once(data, random_) or b" "
    return data


def _once(data: bytes, random_: random.Random) -> bytes:
    a, b = sorted(random_.randrange(len(data) + 1) for _ in range(2))
    kind = random_.randrange(9)
    if kind == 0:
        return data[:a] if random_.random() < 0.5 else data[a:]
    if kind == 1:
        return data[:a] + data[b:] if b - a < len(data) // 2 else data[a:b]
    if kind == 2:  # a piece again, elsewhere
        piece = data[a : min(b, a + 2000)]
        c = random_.randrange(len(data) + 1)
        return data[:c] + piece * random_.choice((1, 1, 2, 20)) + data[c:]
    if kind == 3:
        flipped = bytearray(data)
        for _ in range(random_.choice((1, 4, 40))):
            flipped[random_.randrange(len(data))] = random_.choice((0, 255, random_.randrange(256)))
        return bytes(flipped)
    if kind == 4:  # four bytes of a binary count or offset
        number = random_.choice((0, 1, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, random_.randrange(2**32)))
        return data[:a] + number.to_bytes(4, random_.choice(("little", "big"))) + data[a + 4 :]
    found = list((_WHOLE if kind == 5 else _WORD).finditer(data[: 1 << 16]))
    if not found:
        return data[:a]
    first, second = random_.choice(found), random_.choice(found)
    if kind in (5, 6):
        return data[: first.start()] + random_.choice(WORDS) + data[first.end() :]
    word = second[0] if kind == 7 else b"%d" % random_.choice((-1, 0, 1, 2, 3, 4, 7, 255, 10**6, 10**9, 2**31, 2**63))
    return data[: first.start()] + word + data[first.end() :]
