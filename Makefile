# `make help` says what there is to make.
# Needs Python 3.11 or newer and make; everything else goes into .venv, with locked versions.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help lab test chromium newer-env newer check bench docs sheet slides workshop site site-test notebooks zh binder audit lock clean

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
NOTEBOOK ?=
LAB_ARGS ?=
PYTEST_ARGS ?=
# In CI only what is imported is compiled, when it is.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CI),--no-compile)

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "volcano_lab needs Python 3.11 or newer with its venv module; none was found (name one: make PYTHON=/path/to/python3.11)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# An install is named by the lock it was made from, so nothing is installed twice and a changed lock is.
# As constraints the locked versions also hold where a package is asked for with an extra.
$(VENV)/.installed-%: requirements/%.txt pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --require-hashes -r requirements/$*.txt -c requirements/$*.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(if $(filter all,$*),$(LAB))

LAB := $(VENV)/.installed-lab
ALL := $(VENV)/.installed-all

lab: $(LAB)  ## opens JupyterLab on the start page, by LANG also in Chinese (LAB_ARGS="--no-browser --port=8899")
	$(BIN)/volcano-lab lab $(if $(NOTEBOOK),--LabApp.default_url=/lab/tree/$(NOTEBOOK)) $(LAB_ARGS)

# One file's tests stay in one process: the cells of a notebook follow each other, and a browser is started once.
# Processes have to collect the same tests in the same order, also where names are made from sets.
export PYTHONHASHSEED ?= 0
# What one process has compiled the next ones (tests start hundreds) need not compile again.
unexport PYTHONDONTWRITEBYTECODE
# Files in the order of tests/conftest.py, the longest first.
DIST := --dist loadfile --no-loadscope-reorder
PYTEST := $(BIN)/python -m pytest -n auto $(DIST)
# One more than there are cores: the tests in a browser wait half of their time.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)

# In CI the newer Python goes first, so that the last line is the whole run's. Notebooks of each language are compared by
# tests/test_notebooks.py, the English ones by nbval in a kernel, too.
test: $(ALL) $(if $(CI),chromium newer-env)  ## every test: code, examples, recorded cases, notebooks under nbval and in Chromium
	status=0; $(if $(CI),$(MAKE) newer || status=1;) \
	$(PYTEST:auto=$(WORKERS)) --nbval --nbval-current-env $(PYTEST_ARGS) tests volcano_lab $(wildcard notebooks/*.ipynb) || status=1; \
	exit $$status

# Prerequisites of their own, so that CI installs all at once (make -j3).
chromium:
	tests/browser/install-chromium.sh
newer-env: $(BIN)/python
	@python="$$($(BIN)/python tools/pythons.py --newer)"; \
	test -z "$$python" || $(MAKE) VENV=.venv-newer PYTHON="$$python" .venv-newer/.installed-all

newer: $(ALL) newer-env  ## the quick tests and the notebooks on the newest Python above .venv's, where one is found
	@python="$$($(BIN)/python tools/pythons.py --newer)"; \
	if [ -z "$$python" ]; then echo "No Python above $(BIN)/python's was found: nothing is run on a second one."; exit 0; fi; \
	echo "The quick tests and the notebooks on $$python:"; \
	.venv-newer/bin/python -m pytest -n auto $(DIST) -m "newer or not (slow or long or browser)" tests volcano_lab

check: $(ALL)  ## lint, types and the fast tests
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/python tools/lessons.py
	$(PYTEST) -p no:nbval -p no:anyio -m "not long and not slow and not browser" $(PYTEST_ARGS)

# What takes longer or needs a file is run by hand: chaos.py, cycle.py --all, large.py, mutants.py, soak.py, stepper.py, trace.py --all, trace_off.py.
AGAINST ?= HEAD~1
SMALL_BENCHMARKS := cycle.py "cycle.py --runs 3 --against $(AGAINST)" first_lab.py loading.py "pod_costs.py 10n-50x4 reclaim-100n" reclaim_ladder.py simulation.py topology.py trace.py \
	"soak.py --seeds 1 --events 500" "slider.py notebooks/00-fair-share.ipynb --moves 20"
bench: $(ALL)  ## the benchmarks, small shapes; cycles also as ratios to the commit before (AGAINST=COMMIT)
	@status=0; for benchmark in $(SMALL_BENCHMARKS); do \
		echo "== $$benchmark"; $(BIN)/python benchmarks/$$benchmark || status=1; done; exit $$status

docs: $(ALL)  ## the documentation as static HTML, build/docs/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -t both docs build/docs
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -t zh docs build/docs/zh
	@echo "build/docs/index.html"

site: $(ALL)  ## the documentation with lessons that run in a reader's browser, build/site (SITE_ARGS="--pyodide DIR")
	$(BIN)/python tools/site.py $(SITE_ARGS)

site-test: $(ALL)  ## runs all lessons of build/site in Chromium; times, a row per lesson (LESSONS="00 05")
	$(BIN)/python tools/site_times.py build/site $(LESSONS)

sheet: $(ALL)  ## the cheat sheet, two pages: build/cheat-sheet.pdf; in Chinese cheat-sheet.zh.pdf
	$(BIN)/python tools/cheat_sheet.py

slides: $(ALL)  ## slides of all lessons: build/slides/*.html and *.pdf (LESSONS="notebooks/00-fair-share.ipynb")
	$(BIN)/python tools/slides.py $(LESSONS)

workshop: $(ALL)  ## a deck and a one-page handout for each plan of notebooks/instructor: build/workshop (PLANS="60-minutes")
	$(BIN)/python tools/workshop.py $(PLANS)

notebooks: $(ALL)  ## runs every notebook and stores its outputs
	$(BIN)/python tools/notebooks.py $(wildcard notebooks/*.ipynb)
	$(BIN)/python tools/translate.py readme
	$(BIN)/python tools/translate.py build

zh: $(ALL)  ## the Chinese edition: catalogues brought to the texts, checked; notebooks that changed are built
	$(BIN)/python tools/translate.py update
	$(BIN)/python docs/manual.py
	$(BIN)/python tools/translate.py readme
	$(BIN)/python tools/translate.py renew
	$(BIN)/python tools/translate.py check

binder: $(BIN)/python  ## what Binder does, in an empty environment: time to start, and memory
	$(BIN)/python binder/rehearse.py

audit: $(ALL)  ## bill of materials, licences and known vulnerabilities of all locked packages
	@test -x $(BIN)/uvx || $(PIP_INSTALL) uv
	$(BIN)/python tools/audit.py

# A universal lock: one file for every platform and every Python from 3.11 on, each package with its hashes.
LOCKED := $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-annotate --no-header
UNIVERSAL := $(LOCKED) --universal --python-version 3.11
LOCK := $(UNIVERSAL) pyproject.toml requirements/build.in
lock: $(ALL)  ## newer versions into requirements/ (then `make test`)
	$(PIP_INSTALL) uv
	$(LOCK) --upgrade --all-extras --output-file requirements/all.txt
	$(LOCK) --upgrade --extra lab --constraint requirements/all.txt --output-file requirements/lab.txt
	$(UNIVERSAL) requirements/site.in --upgrade --output-file requirements/site.txt
	$(LOCKED) requirements/browser.in --upgrade --no-deps --only-binary :all: --python-version 3.14 \
		--python-platform x86_64-manylinux2014 --output-file requirements/browser.txt

clean:  ## removes what make made, the environment too
	rm -rf $(VENV) .venv-newer build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
