"""Criteria that random problems are made with."""

from __future__ import annotations

from robokin_addon.solvers.criteria import KINDS as ALL

KINDS = {kind: made for kind, made in ALL.items() if kind != "far_from_obstacles"}  # which needs a collision model
