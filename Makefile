# Headlight. Every target creates the environment it needs, .venv; Python 3.11 or newer with venv must be
# there, and a network when it is created.

PYTHON ?= python3
PORT   ?= 8501
HOST   = 127.0.0.1
OUT    ?= runs/demo
BENCH  ?= training app pages inference
WORKERS ?= 3
# the configuration for this machine: with a GPU, or without
CONFIG ?= $(if $(shell nvidia-smi -L 2>/dev/null | grep ^GPU),demo.toml,demo-cpu.toml)

VENV := .venv
PY   := $(VENV)/bin/python

# scripts and prose are checked where node is; nobody needs it to run anything
NODE := $(shell command -v node)
NODE_MODULES := $(if $(NODE),node_modules/.stamp)

.DEFAULT_GOAL := help
.PHONY: app test test-fast lint docs site scripts bench train rows notebooks clean help data-given
.NOTPARALLEL:

app: $(VENV)/.app  ## the app on http://localhost:8501 (PORT=8501 HOST=0.0.0.0)
	$(PY) -m headlight app --port $(PORT) --host $(HOST)

# a module stays with one worker, because its server and its tab are made once, and so does each
# folder of tests/browser (see tests/conftest.py); in the order of the
# tree the long modules come first, and the short ones fill the workers up; two cores have three,
# because a browser and its server wait for each other; every worker and every server would compile
# all modules, and pytest all tests, where none may keep what it has compiled
TEST := PYTHONDONTWRITEBYTECODE= $(PY) -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.dev $(NODE_MODULES)  ## every test, in a real browser too where a Chromium is found
	$(TEST)

test-fast: $(VENV)/.dev  ## the tests that need no browser and little time
	$(TEST) -m "not browser and not slow"

lint: $(VENV)/.dev $(NODE_MODULES)  ## style, types, prose and the direction of imports
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-logo
	$(if $(NODE),npm run --silent lint,@echo "no node: neither scripts nor prose are checked")

docs: $(VENV)/.dev  ## the documentation, in build/docs; nothing in it may load from elsewhere
	$(PY) -m sphinx -q -E -n -W --keep-going -d build/doctrees docs build/docs
	! grep -rlE '<(script|link|img|iframe)[^>]+(src|href)="(https?:)?//' --include=*.html build/docs

# the documentation of the site, in which pages of it stand in place of stills
site: OUT := build/site
site: $(VENV)/.dev  ## the live page, a lesson and the documentation for any static host (OUT=build/site)
	$(PY) -m headlight site --out $(OUT) --docs docs/index.html
	$(PY) -m sphinx -q -E -n -W --keep-going -t live -d build/doctrees-site docs $(OUT)/docs

notebooks: $(VENV)/.bench  ## run the notebooks of examples/, and store what they show
	$(PY) -m docs.notebooks

scripts: $(NODE_MODULES)  ## the scripts that a browser loads, anew from viz/browser
	npm run --silent build

bench: $(VENV)/.bench  ## side-by-side measurements (BENCH="training app pages inference")
	set -e; for name in $(BENCH); do $(PY) -m benchmarks $$name; done

train: $(VENV)/.train data-given  ## train the demo model, on a GPU if there is one: make train DATA=dir (OUT=runs/demo)
	$(PY) -m headlight train --config $(CONFIG) --data $(DATA) --out $(OUT)

# the rows of Table 3 without a result in assets/rows, one after the other; what was stopped goes on
rows: $(patsubst training/configs/rows/%.toml,assets/rows/%/run.jsonl,$(wildcard training/configs/rows/*.toml))  ## train the missing rows of Table 3: make rows DATA=dir (Multi30k)
assets/rows/%/run.jsonl: | $(VENV)/.train data-given
	$(PY) -m headlight train --config rows/$*.toml --data $(DATA) --out runs/rows/$* $(if $(wildcard runs/rows/$*/state),--resume)
	mkdir -p $(@D)
	cp $(addprefix runs/rows/$*/averaged/,config.json run.jsonl) $(@D)

clean:  ## remove the environment and all caches, never runs/
	rm -rf $(VENV) node_modules build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "%-15s %s\n", $$1, $$2}'

data-given:
	@test -n "$(DATA)" || { echo "Say where the parallel text is: DATA=dir. $(VENV)/bin/headlight download multi30k --out dir gets some." >&2; exit 2; }

# one environment, filled as far as a target needs it; what holds more also stands for what holds less
EXTRAS :=
COVERS :=
$(VENV)/.app:   EXTRAS := [app]
$(VENV)/.train: EXTRAS := [app,train]
$(VENV)/.train: COVERS := .app
$(VENV)/.dev:   EXTRAS := [test,lint,docs]
$(VENV)/.dev:   COVERS := .app .train
$(VENV)/.bench: EXTRAS := [bench]
$(VENV)/.bench: COVERS := .app .train

node_modules/.stamp: package.json package-lock.json
	npm ci --ignore-scripts --no-fund --no-audit
	@touch $@

# the stamp comes last, so an install that was cut short is done again; a venv without a working pip
# (Debian without python3-venv leaves one) is made anew
$(VENV)/.app $(VENV)/.train $(VENV)/.dev $(VENV)/.bench: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Headlight needs Python 3.11 or newer; name one with PYTHON=, as in: make PYTHON=python3.12" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PY) -m pip install --disable-pip-version-check -c constraints.txt -e '.$(EXTRAS)'
	@touch $@ $(addprefix $(VENV)/,$(COVERS))
