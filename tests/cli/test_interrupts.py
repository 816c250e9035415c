"""Ctrl+C waits while Blender works, but not for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from robokin_addon.cli import main
from robokin_addon.cli.interrupts import check_interrupt, interrupts_held, run_steps
from support.program import LOAD, program
from support.robots import robot

PANDA = robot("panda")


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_waits_for_the_next_step() -> None:
    done = []

    def steps():
        for number in range(3):
            if number == 1:
                interrupt()
            done.append(number)
            yield number / 3

    with pytest.raises(KeyboardInterrupt), interrupts_held():
        run_steps(steps())
    assert done == [0, 1]


def test_it_is_heeded_after_the_last_step() -> None:
    """What follows it writes files."""

    def steps():
        yield 0.5
        interrupt()

    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        run_steps(steps())
        done.append("written")
    assert not done


def test_what_was_stopped_reports_nothing(tmp_path: Path) -> None:
    script = (
        "import os, signal, robokin_addon.cli.commands.solve as solve\nfind = solve.solve_ik\n"
        "def stopped(*given, **more):\n    os.kill(os.getpid(), signal.SIGINT)\n    return find(*given, **more)\n"
        "solve.solve_ik = stopped"
    )
    given = "solve", PANDA, "--task", "kind=position,tip=panda_hand,target=0.4:0.1:0.5", "--json", tmp_path / "a.json"
    done = program(*given, before=script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "robokin: interrupted\n")
    assert not any(tmp_path.iterdir())


def test_other_threads_hold_nothing() -> None:
    done: list[object] = []

    def work() -> None:
        with interrupts_held():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.default_int_handler]


def test_it_waits_for_the_end_where_there_are_no_steps() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_held():
        interrupt()
        done.append("to the end")
    assert done == ["to the end"]
    with pytest.raises(KeyboardInterrupt):
        interrupt()
    check_interrupt()


def test_an_error_of_the_block_comes_first() -> None:
    with pytest.raises(ZeroDivisionError), interrupts_held():
        interrupt()
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_handler_of_another_program_stays() -> None:
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(1))
    try:
        with interrupts_held():
            interrupt()
            check_interrupt()
        assert came == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_second_one_ends_the_program() -> None:
    script = (
        "import os, signal\nfrom robokin_addon.cli.interrupts import interrupts_held\n"
        "with interrupts_held():\n    for _ in range(2):\n        os.kill(os.getpid(), signal.SIGINT)\n    print('no')"
    )
    done = subprocess.run([sys.executable, "-c", LOAD + script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_it_waits_while_modules_are_imported() -> None:
    """NumPy takes what comes out of one of its own imports for a bad installation."""
    script = (
        "import os, signal, sys\nclass Finder:\n    def find_spec(self, name, *_):\n        if name == 'datetime':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.modules.pop('datetime', 0)\nsys.meta_path.insert(0, Finder())"
    )
    done = program("fk", PANDA, before=script)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "robokin: interrupted\n")


def test_it_is_ignored_when_all_is_done() -> None:
    late = "import atexit, os, signal\natexit.register(os.kill, os.getpid(), signal.SIGINT)"
    done = program("--version", before=late)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout


def test_the_caller_of_a_command_keeps_it() -> None:
    assert main(["--version"]) == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
