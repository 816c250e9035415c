"""Seeds of tests on random input: another one in every run, or the one that is asked for."""

from __future__ import annotations

import os
import secrets


def fresh_seed() -> int:
    """A new seed, printed so that a failure can be had again; ROBOKIN_SEED=5 asks for the seed 5."""
    seed = int(os.environ.get("ROBOKIN_SEED") or secrets.randbelow(10**9))
    print(f"ROBOKIN_SEED={seed}")
    return seed
