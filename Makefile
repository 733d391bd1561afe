# Python, pip and make are enough: every target makes the virtual environment it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One folder of compiled kernels for each state of the sources: see tools/source_hash.py.
CACHED = NUMBA_CACHE_DIR="$$($(BIN)/python tools/source_hash.py)"
# Each worker of pytest takes a stretch of the tests, and when it is done the rest of another's.
WORKERS = -n 2 --dist worksteal

.DEFAULT_GOAL := help
# The oldest versions of everything, in an environment of their own; its Python must have wheels of them.
OLDEST := .venv-oldest
OLDEST_EXTRAS := viz zstd data progress dask tables test

.PHONY: test-warmup help demo test tests-alone test-portable test-oldest test-python test-sklearn test-settings soak lint format
.PHONY: docs figures dist smoke bench clean
SMOKE := build/smoke-venv

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/demo.stamp  ## compare hingeline with scikit-learn over a grid of C on built-in data: a table and a picture
	$(CACHED) $(BIN)/hingeline demo

test: lint tests-alone  ## lint, types, and the tests with warnings as errors

tests-alone: $(VENV)/all.stamp
	$(CACHED) $(BIN)/python -m pytest $(WORKERS)

test-python:  ## the tests on another Python: make test-python PYTHON=python3.12
	$(MAKE) tests-alone VENV=.venv-$(notdir $(PYTHON)) PYTHON=$(PYTHON)

test-oldest: $(OLDEST)/all.stamp  ## the tests with the oldest versions of all dependencies: make test-oldest PYTHON=python3.10
	$(OLDEST)/bin/python -m pytest $(WORKERS) -W ignore::DeprecationWarning  # old packages use what newer ones give up

test-portable: $(VENV)/all.stamp  ## the numerical tests as other CPUs would run them
	$(BIN)/python tools/portable_tests.py $(WORKERS)

test-sklearn: $(VENV)/all.stamp  ## scikit-learn's own tests, with hingeline's classes instead of its own
	$(CACHED) $(BIN)/python tools/sklearn_tests.py $(WORKERS)

test-warmup: $(VENV)/all.stamp  ## nothing is compiled after a warm-up, for all kinds of problems and layouts of data
	$(CACHED) $(BIN)/python tools/check_warmup.py

test-settings: $(VENV)/all.stamp  ## scikit-learn's checks of estimators, over a hundred settings of all of them
	$(CACHED) $(BIN)/python tools/check_settings.py

soak: $(VENV)/all.stamp  ## random problems and faults for MINUTES=30, each model checked in exact arithmetic
	$(CACHED) $(BIN)/python tools/soak.py --minutes $(or $(MINUTES),30)

lint: $(VENV)/all.stamp  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/all.stamp  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/all.stamp  ## the site, in build/site, with the examples run; warnings are errors
	rm -rf docs/gallery docs/pictures build/site
	$(CACHED) $(BIN)/sphinx-build --fail-on-warning --keep-going --quiet -d build/doctrees docs build/site
	@echo "open build/site/index.html"

figures: $(VENV)/all.stamp  ## tables and picture of README and docs/benchmarks.md, from docs/results
	$(BIN)/python tools/render_benchmarks.py

dist: $(VENV)/all.stamp  ## sdist and wheel in dist/, checked as PyPI does
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/twine check --strict dist/*

smoke: dist  ## install the wheel with only its core dependencies into an empty environment, and use it
	rm -rf $(SMOKE)
	$(PYTHON) -m venv $(SMOKE)
	$(SMOKE)/bin/python -m pip install --quiet dist/*.whl
	$(SMOKE)/bin/python tools/smoke.py

bench:  ## say how to run the benchmarks
	@echo "The benchmarks are scripts that name their data on the command line:"
	@ls benchmarks/*.py 2>/dev/null | sed 's|^|  $(BIN)/python |' || true

clean:  ## remove the virtual environments, caches and build products
	rm -rf $(VENV) .venv-* .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist docs/gallery docs/pictures
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/demo.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[demo]"
	touch $@

$(VENV)/all.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[all]"
	touch $(VENV)/demo.stamp $@

$(OLDEST)/all.stamp: pyproject.toml tools/oldest_requirements.py
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --no-deps -e .
	$(OLDEST)/bin/python tools/oldest_requirements.py $(OLDEST_EXTRAS) >$(OLDEST)/requirements.txt
	$(OLDEST)/bin/python -m pip install --quiet -r $(OLDEST)/requirements.txt
	touch $@
