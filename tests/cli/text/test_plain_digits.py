"""Numbers of arguments are plain digits: Python takes 1_0, and digits of other scripts, too."""

from __future__ import annotations

import argparse

import pytest
from robokin_addon.cli.arguments import frames, rate, seed, step
from robokin_addon.cli.commands.plan import _budget
from robokin_addon.cli.text.fields import number
from robokin_addon.cli.text.task_fields import whole
from robokin_addon.robokin import RobokinError


@pytest.mark.parametrize("digits", ["1_0", "\u0661\u0660", "\uff11"])
def test_other_digits_are_refused(digits):
    for read in (seed, step, rate, _budget, lambda text: frames(f"1:{text}")):
        with pytest.raises(argparse.ArgumentTypeError, match=digits):
            read(digits)
    with pytest.raises(RobokinError, match=digits):
        number("position", digits)
    with pytest.raises(RobokinError, match=digits):
        whole({"priority": digits}, "priority")
