"""Where the rows of a step lie in the kernel's memory: level after level, and behind them those that others are made
from."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..qp.level import Level
from ..tasks.clearance import ROWS
from ..tasks.native import TipTasks


class ExtraLevels(NamedTuple):
    """Levels that the kernel does not make itself. before, after: the hard ones, before and after the loop closures.
    others: of the tasks that are not native, one level or two of each (`TaskLevels.parts_of`)."""

    before: Sequence[Level] = ()
    after: Sequence[Level] = ()
    others: Mapping[int, Sequence[Level]] = {}


NO_LEVELS = ExtraLevels()


class Block:
    """Rows that lie together. rows: how many.   at: the first one.   level: what they are; None: the kernel knows."""

    __slots__ = ("at", "level", "rows")

    def __init__(self, rows: int, level: Level | None = None) -> None:
        self.rows, self.level, self.at = rows, level, 0


class Layout:
    """ends: (levels + 1,) the first row of each level, and the end.   rows: of all levels, and those behind them.
    hard: levels before those of tasks.   to_fill: blocks of extra levels.
    first_row: (tips,), made_row: (tips, 2), robot_at: (robot rows,), clearance_row as in rk_step_data."""

    def __init__(
        self,
        groups: Sequence[Sequence[int]],
        counts: Sequence[int],
        loops: Sequence[int],
        tips: Mapping[int, int],
        robots: Mapping[int, int],
        tip_tasks: TipTasks,
        robot_counts: Sequence[int],
        clearance: int | None,
        extra: ExtraLevels,
    ) -> None:
        """groups: the tasks of each priority, of so many levels (`counts`).   loops: the native closures.
        tips, robots: numbers of the native tasks among their own.   robot_counts: rows of each of the latter.
        clearance: the one that is native."""
        blocks = {}
        for i, k in tips.items():
            rows = tip_tasks.counts[k]
            blocks[i] = [Block(rows - 1), Block(1)] if tip_tasks.goes[k] else [Block(rows)]
        blocks |= {i: [Block(robot_counts[k])] for i, k in robots.items()}
        if clearance is not None:
            blocks[clearance] = [Block(ROWS)]
        blocks |= {i: [Block(len(level.J), level) for level in parts] for i, parts in extra.others.items()}
        before, after = ([[Block(len(level.J), level)] for level in side] for side in (extra.before, extra.after))
        levels = [*before, *(blocks[i] for i in loops), *after]
        self.hard = len(levels)
        for indices, count in zip(groups, counts, strict=True):
            of_tasks = [blocks.get(i, []) for i in indices]
            levels += [[own[part] for own in of_tasks if part < len(own)] for part in range(count)]
        ends = [0]
        for level in levels:
            row = ends[-1]
            for block in level:
                block.at = row
                row += block.rows
            ends.append(row)
        self.ends, self.rows = ends, ends[-1]
        self.to_fill = [block for level in levels for block in level if block.level is not None]
        self.first_row, self.made_row = [0] * len(tips), np.full((len(tips), 2), -1, np.int32)
        for i, k in tips.items():
            own = blocks[i]
            if i in loops or len(own) > 1:
                self.made_row[k, : len(own)] = [block.at for block in own]
                self.first_row[k] = self.rows
                self.rows += tip_tasks.counts[k]
            else:
                self.first_row[k] = own[0].at
        self.clearance_row = 0 if clearance is None else blocks[clearance][0].at
        spans = [range(blocks[i][0].at, blocks[i][0].at + blocks[i][0].rows) for i in robots]
        self.robot_at = np.fromiter(itertools.chain(*spans), np.int32)
