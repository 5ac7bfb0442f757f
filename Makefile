# Two commands for a fresh clone:  make run  (proves the best 3x3 board)   make test
PYTHON ?= python3
WORKERS ?= 2
CONFIG ?= configs/3x3.toml
TESTS ?=
JOBS ?= 4
NIGHTLY ?=
VENV ?= .venv
BIN := $(VENV)/bin
NODE := node_modules

# What pip tells, a line for each file.
SHOWN := '/\.metadata /d; s/^ *(Downloading|Using cached) ([^ ]+-[^ ]+) (\(.*\)).*/  \2 \3/p; s/^(Installing collected packages):.*/  now they are installed .../p'
SHELL := bash

.DEFAULT_GOAL := help
.PHONY: help run test nightly bench check lint format types constraints clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: $(VENV)/.installed-run ## install, then prove the best board of CONFIG (3x3) with WORKERS (2) processes
	$(BIN)/orderly run $(CONFIG) --workers $(WORKERS)

# Hundreds of processes are started: each would parse all modules if none may keep what it has parsed.
test: $(VENV)/.installed-test ## install, then run the tests in JOBS (4) processes (TESTS=tests/cluster for some of them)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadgroup --no-loadscope-reorder $(TESTS)

nightly: $(VENV)/.installed-test ## run everything that takes too long for every day, with a report in nightly.md
	$(BIN)/python -m tests.soundness.nightly $(NIGHTLY)

bench: $(VENV)/.installed-test ## measure the figures that the program is judged by, and add them to benchmarks.jsonl
	$(BIN)/python -m tests.bench

check: lint types test ## lint, types and tests: what CI runs

lint: $(VENV)/.installed-dev $(NODE)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/hadolint configs/launch/Dockerfile
	$(BIN)/node $(NODE)/@biomejs/biome/bin/biome ci --colors=off .

types: $(VENV)/.installed-dev $(NODE)/.installed
	$(BIN)/mypy
	$(BIN)/node $(NODE)/typescript/bin/tsc

format: $(VENV)/.installed-dev $(NODE)/.installed ## let ruff and biome format and fix what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/node $(NODE)/@biomejs/biome/bin/biome check --write .

constraints: ## write constraints.txt anew: the newest versions that work together, for CI and the Dockerfile
	rm -rf build/constraints && $(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install -qq --disable-pip-version-check --editable '.[dev,monitoring]'
	build/constraints/bin/python -m pip freeze --exclude-editable >constraints.txt
	rm -rf build/constraints

clean: ## remove the environment and caches; runs/ stays
	rm -rf $(VENV) $(NODE) .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("orderly needs Python 3.11 or later, this is %s: make PYTHON=python3.12 ..." % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: pip runs again only when pyproject.toml changes.
# The sizes were measured: du -sm of a fresh environment.
$(VENV)/.installed-run: EXTRAS := report,serve
$(VENV)/.installed-run: SIZE := 0.7 GB
$(VENV)/.installed-test: EXTRAS := test
$(VENV)/.installed-test: SIZE := 1.7 GB
$(VENV)/.installed-dev: EXTRAS := dev
$(VENV)/.installed-dev: SIZE := 2.0 GB
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo 'installing orderly with $(EXTRAS) into $(VENV), $(SIZE) in all, which takes minutes; what is downloaded:'
	@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off \
		--editable '.[$(EXTRAS)]' | sed -unE $(SHOWN)
	@touch $@

# biome and tsc, by the npm that pip has installed: no machine needs one of its own.
$(NODE)/.installed: package-lock.json $(VENV)/.installed-dev
	@echo 'installing biome and tsc into $(NODE) ...'
	@PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@
