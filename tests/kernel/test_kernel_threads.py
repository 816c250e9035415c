"""Chunks of work spread over threads."""

from __future__ import annotations

import threading

import pytest
from robokin_addon.robokin.backend.parallel import run_chunks, thread_count


@pytest.mark.parametrize("threads", [None, 1, 2, 7])
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 1000])
def test_every_item_once(count, threads):
    seen = []

    def work(start: int, stop: int) -> None:
        assert 0 < stop - start <= 10
        seen.extend(range(start, stop))

    run_chunks(work, count, 10, threads)
    assert sorted(seen) == list(range(count))


def test_one_thread_is_the_callers():
    names = set()
    run_chunks(lambda start, stop: names.add(threading.current_thread()), 50, 1, threads=1)
    assert names == {threading.current_thread()}


def test_two_threads_work_at_once():
    both_here = threading.Barrier(2)
    run_chunks(lambda start, stop: both_here.wait(timeout=10), 2, 1, threads=2)


def test_no_thread_is_left():
    before = threading.enumerate()
    run_chunks(lambda start, stop: None, 50, 1, threads=4)
    assert threading.enumerate() == before


def test_nested_work_ends():
    seen = []

    def outer(start: int, stop: int) -> None:
        run_chunks(lambda start, stop: seen.append(start), 8, 1, threads=4)

    whole = threading.Thread(target=run_chunks, args=(outer, 8, 1, 4), daemon=True)
    whole.start()
    whole.join(timeout=20)
    assert not whole.is_alive()
    assert sorted(seen) == sorted(8 * list(range(8)))


@pytest.mark.parametrize("bad", [0, 57, 99])
def test_an_exception_of_the_work_is_raised(bad):
    def work(start: int, stop: int) -> None:
        if start <= bad < stop:
            raise ValueError(f"item {bad}")

    with pytest.raises(ValueError, match=f"item {bad}"):
        run_chunks(work, 100, 3, threads=2)


@pytest.mark.parametrize("in_caller", [True, False])
def test_an_exception_of_either_thread_is_raised(in_caller):
    caller, both_here = threading.current_thread(), threading.Barrier(2)

    def work(start: int, stop: int) -> None:
        both_here.wait(timeout=10)
        if (threading.current_thread() is caller) == in_caller:
            raise ValueError("from here")

    with pytest.raises(ValueError, match="from here"):
        run_chunks(work, 2, 1, threads=2)


def test_there_is_a_processor():
    assert thread_count() >= 1
