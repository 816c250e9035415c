# Each target sets itself up from a fresh clone: it needs make, a package index and Python 3.13 or 3.11.
# Another Python: make TARGET PYTHON=/path/to/python3.11

FOUND := $(shell MAKECMDGOALS='$(MAKECMDGOALS)' sh tools/find-python '$(PYTHON)')
TAG := $(word 2,$(FOUND))
VENV := .venv-$(TAG)
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check

BENCH := .venv-bench-$(TAG)
LINT := .venv-lint-$(TAG)

KERNEL := kernel/build.py $(wildcard kernel/src/*.c kernel/src/*/* kernel/include/*)

.PHONY: help demo test test-slow bench lint format kernel-wheels extension smoke window pictures clean

help:
	@echo 'make demo       import a real robot, pose, bake, check, export and render it'
	@echo 'make test       the tests (make test-slow: the long ones)'
	@echo 'make bench      speed and success beside the peers'
	@echo 'make lint       ruff, mypy, compiler warnings'
	@echo 'make extension  dist/robokin-*.zip, one for each platform'

ifeq ($(FOUND),)
ifneq ($(filter-out help clean,$(MAKECMDGOALS)),)
$(error no usable Python, see above)
endif
endif

# --- environments: a stamp for each set of dependencies, renewed when pyproject.toml changes

$(VENV)/pyvenv.cfg:
	$(word 1,$(FOUND)) -m venv $(VENV)

$(VENV)/.with-%: pyproject.toml $(VENV)/pyvenv.cfg
	@echo 'installing: $*'
	$(PIP) --editable '.[$*]'
	@touch $@

$(VENV)/.kernel: $(KERNEL) $(VENV)/.with-build
	rm -rf build/kernel-$(TAG)
	$(BIN)/python kernel/build.py --target host --out build/kernel-$(TAG)
	$(PIP) --force-reinstall --no-deps build/kernel-$(TAG)/*.whl
	@touch $@

# --- what they are for

demo: $(VENV)/.with-blender $(VENV)/.with-demo $(VENV)/.kernel
	$(BIN)/python examples/demo.py

# Matrices are small here and two workers share the cores: threads of NumPy's library would only wait for each other.
test test-slow: export OPENBLAS_NUM_THREADS := 1
# Each run, and each program that a test starts, would compile all of the source and of the tests anew.
test test-slow: export PYTHONDONTWRITEBYTECODE :=

test: $(VENV)/.with-blender $(VENV)/.with-test $(VENV)/.kernel
	$(BIN)/python -m pytest -m 'not slow and not smoke and not window' -n 2 --durations 20

test-slow: $(VENV)/.with-blender $(VENV)/.with-test $(VENV)/.kernel
	$(BIN)/python -m pytest -m 'slow and not smoke and not window' -n 2 --durations 20

# The peers exclude each other's Pinocchio: PlaCo gets a Python of its own, Blender is in $(VENV).
bench: $(BENCH)/.installed $(BENCH)-placo/.installed $(VENV)/.with-blender $(VENV)/.with-test $(VENV)/.kernel
	$(BENCH)/bin/python -m pip install --quiet --force-reinstall --no-deps build/kernel-$(TAG)/*.whl
	missed=; \
	for own in levels failing postures avoidance bake bake_levels whole_motion trajectories; do \
	    echo; echo "== $$own"; $(BIN)/python benchmarks/$$own.py || missed="$$missed $$own"; \
	done; \
	$(BENCH)/bin/python -W ignore benchmarks/velocity_step.py || missed="$$missed velocity_step"; \
	$(BENCH)/bin/python benchmarks/run.py \
	    --python placo=$(BENCH)-placo/bin/python --python blender=$(BIN)/python || missed="$$missed run"; \
	test -z "$$missed" || { echo "not every promise is kept:$$missed"; exit 1; }

$(BENCH)/.installed: benchmarks/requirements.txt
	$(word 1,$(FOUND)) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

$(BENCH)-placo/.installed: benchmarks/requirements-placo.txt
	$(word 1,$(FOUND)) -m venv $(BENCH)-placo
	$(BENCH)-placo/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

extension: dist/wheels/.built $(VENV)/.with-blender
	$(BIN)/python tools/build_extension.py dist/wheels dist

kernel-wheels: dist/wheels/.built

dist/wheels/.built: $(KERNEL) $(VENV)/.with-build
	rm -rf dist/wheels
	$(BIN)/python kernel/build.py --target all --out dist/wheels
	@touch $@

# The built extension in the real application: BLENDER is the command that starts it.
smoke: extension $(VENV)/.with-test
	BLENDER='$(BLENDER)' $(BIN)/python -m pytest -m smoke

# Simulated events in its window, which needs a display or Xvfb. Not in CI: how fast a window is drawn differs too much.
window: extension $(VENV)/.with-test
	$(BLENDER) --command extension install-file -r user_default -e dist/robokin-*-linux_x64.zip
	BLENDER='$(BLENDER)' $(BIN)/python -m pytest -m window

# The same, and the pictures that it makes go into the documents.
pictures: export ROBOKIN_PICTURES = docs/images
pictures: window

# --- linters, in an environment of their own: the stubs of Blender move by date and need no Blender

$(LINT)/.installed: pyproject.toml
	$(word 1,$(FOUND)) -m venv $(LINT)
	$(LINT)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[lint,build]'
	@touch $@

lint: $(LINT)/.installed
	$(LINT)/bin/ruff check
	$(LINT)/bin/ruff format --check
	$(LINT)/bin/python tools/type_check.py
	$(LINT)/bin/python -m ziglang cc -std=c11 -O1 -fPIC -shared -Wall -Wextra -Wshadow -Werror \
	    -Ikernel/include -Ikernel/src kernel/src/*.c kernel/src/*/*.c -o build/warnings.so

format: $(LINT)/.installed
	$(LINT)/bin/ruff check --fix
	$(LINT)/bin/ruff format

clean:
	rm -rf .venv-* build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache
