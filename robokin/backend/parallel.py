"""Work on many independent items, spread over threads. Worth it for calls that release the GIL, as ctypes' do."""

from __future__ import annotations

import os
from collections.abc import Callable


def thread_count() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_chunks(work: Callable[[int, int], object], count: int, chunk: int, threads: int | None = None) -> None:
    """Call work(start, stop) for consecutive ranges of at most `chunk` items that cover 0..count.

    `threads`: how many may work at once, the caller's included; None: one per processor. Results cannot depend on it
    when `work` handles each item by itself. May be nested. The first exception of `work` is raised.
    """
    if 0 < count <= chunk:
        work(0, count)
        return
    starts = list(range(0, count, chunk))
    helpers = min(threads or thread_count(), len(starts)) - 1
    starts.reverse()

    def drain() -> None:
        while True:
            try:
                start = starts.pop()  # atomic
            except IndexError:
                return
            work(start, min(start + chunk, count))

    if helpers < 1:
        drain()
        return
    from concurrent.futures import ThreadPoolExecutor

    # Joined before the call returns: Blender may crash while threads run Python beside it.
    with ThreadPoolExecutor(helpers, "robokin") as pool:
        futures = [pool.submit(drain) for _ in range(helpers)]
        try:
            drain()
        except BaseException:
            starts.clear()
            raise
    for future in futures:
        future.result()
