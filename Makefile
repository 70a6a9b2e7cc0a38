# `make walk` and `make test` do all the set-up they need; both are quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check --quiet
RUN ?= runs/19-break
WORKERS := -n 4 --dist worksteal

# Workers and the processes that tests start would else compile the same modules each time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help walk home train sets test test-slow test-app test-callbacks monkey fuzz lint types style format snapshots bench atlas \
  fixes recoveries doses corrections calibrate cases pages wheel clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

walk: $(VENV)/light ## walk the broken run (RUN=runs/19-break)
	@$(BIN)/tutor walk $(RUN)

home: $(VENV)/light ## open the home screen
	@$(BIN)/tutor

train: $(VENV)/lab ## train the broken run again (ARGS="--break no-clip")
	@$(BIN)/tutor train $(or $(ARGS),--break no-clip)

sets: $(VENV)/lab $(VENV)-app/stamp # make -j2 sets: one is unpacked while the other is fetched

test: $(VENV)/lab lint ## run the tests but the slow ones
	@$(BIN)/pytest $(WORKERS) -m "not slow"

test-slow: $(VENV)/lab ## run the slow ones: long trainings, many processes, every size, sweeps
	@$(BIN)/pytest $(WORKERS) -m slow

fuzz: $(VENV)/lab ## feed the readers whatever a file can hold, for an hour (ARGS="rows --minutes 5 --seed 3")
	@$(BIN)/python -m tests.fuzz $(ARGS)

test-app: $(VENV)-app/stamp ## run tests of every room of the app where torch isn't installed
	@$(VENV)-app/bin/pytest $(WORKERS) -m "not slow" tests/test_cli.py tests/test_lesson.py tests/test_walls.py \
	  tests/ui/test_screens.py

test-callbacks: $(VENV)-callbacks/stamp ## run the callbacks' tests against the libraries that they are for
	@$(VENV)-callbacks/bin/pytest tests/callbacks

monkey: $(VENV)/lab ## set a monkey on the app for an hour (ARGS="--seed 7 --actions 800")
	@$(BIN)/python -m tests.monkey $(or $(ARGS),--minutes 60)

lint: $(VENV)/lab ## check style, types, the walls between the rooms, trees and cards
	@$(MAKE) --no-print-directory -j2 types style

types: $(VENV)/lab # takes longer than all the rest of the lint, beside which it runs
	@$(BIN)/pyright

style: $(VENV)/lab
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/lint-imports && $(BIN)/tutor trees check

format: $(VENV)/lab ## format the code
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format .

snapshots: $(VENV)/lab ## accept the screens as they look now
	@$(BIN)/pytest tests/ui/test_snapshots.py --snapshot-update

bench: $(VENV)/lab ## print the table of benchmarks (minutes)
	@$(BIN)/python -m tests.bench

atlas: $(VENV)/lab ## train and walk every break at one seed (a quarter of an hour; ARGS="--seeds 1,2,3")
	@$(BIN)/tutor atlas $(ARGS)

fixes: $(VENV)/lab ## train and walk every fix that a card names (half an hour; goes on where it stopped)
	@$(BIN)/python -W ignore -m tutor.lab.mending $(ARGS)

recoveries: $(VENV)/lab ## try the playbook on one run of each type, into docs/recoveries.md (half an hour)
	@$(BIN)/python -W ignore -m tutor.lab.recoveries $(ARGS)

doses: $(VENV)/lab ## train the headline break at each beta2 and clip, 20 seeds, into docs/doses.md (an hour)
	@$(BIN)/python -W ignore -m tutor.lab.doses $(ARGS)

corrections: $(VENV)/lab ## measure what is often said and isn't so, into docs/corrections.md (minutes)
	@$(BIN)/python -W ignore -m tutor.lab.corrections $(ARGS)

calibrate: $(VENV)/lab ## calibrate the headline break over 20 seeds (an hour; goes on where it stopped)
	@for card in no-clip no-clip-silent; do \
	  $(BIN)/python -m tutor.lab.calibrate $$card --seeds 20 --runs build/calibrate/$$card \
	    --table trees/breaks/$$card.calibration.csv || exit; done

cases: $(VENV)/lab ## record the sealed cases that are missing (minutes; ARGS="case-03")
	@$(BIN)/python -m tutor.lab.cases $(ARGS)

pages: $(VENV)/lab ## write the catalogue of flaws and the schema of check --json again, into docs/
	@$(BIN)/tutor flaws --page en > docs/flaws.md
	@$(BIN)/tutor flaws --page es > docs/flaws.es.md
	@$(BIN)/python -m tutor.reported > docs/check.schema.json

wheel: $(VENV)/lab ## build the wheel into dist/
	@$(PIP) wheel --no-deps --wheel-dir dist .

clean: ## remove what the targets above installed and built
	rm -rf $(VENV) $(VENV)-app $(VENV)-callbacks dist build .pytest_cache .ruff_cache .hypothesis

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

# With the trainers of other libraries, which the lab doesn't need.
$(VENV)-callbacks/stamp: pyproject.toml constraints.txt
	@echo "setting up the libraries that there are callbacks for (a minute or two, once) ..."
	@$(PYTHON) -m venv $(VENV)-callbacks
	@$(VENV)-callbacks/bin/pip --disable-pip-version-check --quiet install -c constraints.txt \
	  -e '.[train,test,callbacks]'
	@touch $@
