# make lab | test | check | bench | docs | notebooks | lock | clean; `make help` says what each does.
# Needs Python 3.11 or newer and make; everything else goes into .venv, with locked versions.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help lab test check bench docs notebooks binder lock clean

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
NOTEBOOK ?= notebooks/00-fair-share.ipynb
LAB_ARGS ?=
PYTEST_ARGS ?=
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "volcano_lab needs Python 3.11 or newer with its venv module; none was found (name one: make PYTHON=/path/to/python3.11)."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# An install is named by the lock it was made from, so nothing is installed twice and a changed lock is.
$(VENV)/.installed-%: requirements/%.txt pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --require-hashes -r requirements/$*.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(if $(filter all,$*),$(LAB))

LAB := $(VENV)/.installed-lab
ALL := $(VENV)/.installed-all

lab: $(LAB)  ## opens JupyterLab on the first notebook (LAB_ARGS="--no-browser --port=8899")
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_ARGS) $(NOTEBOOK)
