"""Random robots, tasks and motions on a kernel under the address and undefined-behaviour sanitisers.

The kernel gets the arrays of NumPy, on a heap that the sanitisers watch: it must step on nothing that is not its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.hostile.fuzzing import SEED, TIMES, VARIABLE
from support.oracles.compilers import c_compiler
from support.oracles.kernels import described
from test_kernel_sanitizers import FLAGS, INCLUDES, KERNEL, SANITISERS

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parents[1]

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import conftest, ctypes
import numpy as np
from robokin_addon import robokin, solvers
from robokin_addon.robokin.backend.library import load_library, model_struct
from support.random_problems.random_motions import motion_case
from support.random_problems.random_solves import random_problem
from support.random_problems.random_trees import random_robot

def kinematics(seed):
    rng = np.random.default_rng(seed)
    model = random_robot(seed, int(rng.integers(1, 20)), str(rng.choice(["fixed", "floating", "planar", "wheeled"])))
    q, other = (robokin.random_configuration(model, rng) for _ in range(2))
    v, a = rng.normal(size=(2, model.nv))
    backend = dict(backend="native")
    robokin.forward_kinematics(model, q, **backend)
    for link in model.link_names[:: max(len(model.links) // 4, 1)]:
        for reference in ("world", "local", "local_world_aligned"):
            robokin.frame_jacobian(model, q, link, reference, **backend)
    if model.total_mass:
        robokin.center_of_mass(model, q, **backend)
        robokin.center_of_mass_jacobian(model, q, **backend)
    robokin.mass_matrix(model, q, **backend)
    robokin.inverse_dynamics(model, q, v, a, **backend)
    robokin.difference(model, q, robokin.integrate(model, other, v))

def solve(seed):
    random_problem(seed).solve(backend="native")

def motion(seed):
    try:
        motion_case(seed, 8).followed("native")
    except robokin.TaskError as error:  # where tasks lead all joints whose springs an extended Jacobian holds
        assert "nothing to hold" in str(error), error

def overflow(seed):
    tree = random_robot(seed, 5).tree
    q, out = tree.neutral(), np.empty(12 * tree.n_nodes - 1)
    arrays = (ctypes.c_void_p(array.ctypes.data) for array in (q, out))
    load_library().rk_node_placements(ctypes.byref(model_struct(tree)), ctypes.c_int64(1), *arrays)

call = globals()[sys.argv[2]]
assert robokin.backend.get_backend("native").name == "native"
for seed in range(int(sys.argv[3]), int(sys.argv[4])):
    print(seed, file=sys.stderr, flush=True)
    call(seed)
print("done")
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> dict[str, str]:
    """The environment of a Python whose kernel and heap the sanitisers watch."""
    folder = tmp_path_factory.mktemp("watched")
    library = folder / "kernel.so"
    sources = sorted(map(str, (KERNEL / "src").rglob("*.c")))
    command = [*c_compiler(), *FLAGS, *SANITISERS, "-fPIC", "-shared", *INCLUDES, *sources]
    subprocess.run([*command, "-lm", "-o", str(library)], check=True, timeout=300)
    (folder / "robokin_kernel").mkdir()
    (folder / "robokin_kernel" / "__init__.py").write_text(described(library), "utf-8")
    runtime = subprocess.run([*c_compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return {
        **os.environ,
        "LD_PRELOAD": runtime.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH")))),
    }


def run(watched: dict[str, str], name: str, count: int) -> subprocess.CompletedProcess:
    count = max(round(count * TIMES), 1)
    first = SEED % 10**6 * 100
    command = [sys.executable, "-c", PROGRAM, str(TESTS), name, str(first), str(first + count)]
    return subprocess.run(command, env=watched, capture_output=True, text=True, timeout=60 + 60 * count)


@pytest.mark.parametrize(("name", "count"), [("kinematics", 75), ("solve", 60), ("motion", 15)])
def test_random_calls(name, count, watched) -> None:
    done = run(watched, name, count)
    assert (done.returncode, done.stdout) == (0, "done\n"), f"{VARIABLE}={SEED}: {done.stderr[-6000:]}"


def test_a_step_outside_is_seen(watched) -> None:
    done = run(watched, "overflow", 1)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr and "rk_node_placements" in done.stderr
