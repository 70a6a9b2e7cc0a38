# `make walk` and `make test` do all the set-up they need; both are quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
RUN ?= runs/19-break

.DEFAULT_GOAL := help
.PHONY: help walk home train test test-slow test-app lint format snapshots bench atlas wheel clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

walk: $(VENV)/light ## walk the broken run (RUN=runs/19-break)
	@$(BIN)/tutor walk $(RUN)

home: $(VENV)/light ## open the home screen
	@$(BIN)/tutor

train: $(VENV)/lab ## train the broken run again (ARGS="--break no-clip")
	@$(BIN)/tutor train $(or $(ARGS),--break no-clip)

test: $(VENV)/lab lint ## run the tests but the slow ones
	@$(BIN)/pytest -n 3 -m "not slow"

test-slow: $(VENV)/lab ## run the slow ones: whole trainings, many processes, every size
	@$(BIN)/pytest -n 3 -m slow

test-app: $(VENV)-app/stamp ## run the tests of the app where torch isn't installed
	@$(VENV)-app/bin/pytest -n 3 -m "not slow"

lint: $(VENV)/lab ## check style, types, the walls between the rooms, trees and cards
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/pyright && $(BIN)/lint-imports && $(BIN)/tutor trees check

format: $(VENV)/lab ## format the code
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

snapshots: $(VENV)/lab ## accept the screens as they look now
	@$(BIN)/pytest tests/ui/test_snapshots.py --snapshot-update

bench: $(VENV)/lab ## print the table of benchmarks (minutes)
	@$(BIN)/python -m tests.bench

atlas: $(VENV)/lab ## calibrate the breaks over seeds (an hour; goes on where it stopped)
	@for card in no-clip no-clip-silent; do \
	  $(BIN)/python -m tutor.lab.atlas $$card --seeds 20 --runs build/atlas/$$card \
	    --table trees/breaks/$$card.calibration.csv || exit; done

wheel: $(VENV)/lab ## build the wheel into dist/
	@$(PIP) wheel --no-deps --wheel-dir dist .

clean: ## remove what the targets above installed and built
	rm -rf $(VENV) $(VENV)-app dist build .pytest_cache .ruff_cache .hypothesis

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "tutor needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# The stamps say which set is installed: the app alone, or with the lab (torch) and the test tools.
$(VENV)/light: $(BIN)/pip pyproject.toml constraints.txt
	@echo "setting up tutor (about a minute, once) ..."
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/lab: $(BIN)/pip pyproject.toml constraints.txt
	@echo "setting up tutor with its lab and tests (a few minutes, once) ..."
	@$(PIP) install -c constraints.txt -e '.[train,dev]'
	@touch $(VENV)/light $@

# Without torch and without the linters, on the oldest Python there is: a dependency that is missing from
# pyproject.toml shows here.
$(VENV)-app/stamp: pyproject.toml constraints.txt
	@echo "setting up the app without its lab (about a minute, once) ..."
	@$$(command -v python3.11 || echo $(PYTHON)) -m venv $(VENV)-app
	@$(VENV)-app/bin/pip --disable-pip-version-check --quiet install -c constraints.txt -e '.[test]'
	@touch $@
