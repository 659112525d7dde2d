# Needs Python 3.11 or newer, pip and make; everything else is installed into .venv.

PYTHON ?= python3
WORKERS ?= 2

BIN := .venv/bin
OLDEST := .venv/oldest
STAMP := .venv/.stamp

export PIP_DISABLE_PIP_VERSION_CHECK := 1

# Tests start many processes, which begin sooner where bytecode is kept. Test tools are installed without any
# (--no-compile): most of their modules are never imported.
unexport PYTHONDONTWRITEBYTECODE

# Stamps count only in the folder they were made in and while .venv works: an environment that was
# moved, copied, killed while installing or bereft of its interpreter is set up anew. Whoever starts
# make has this looked at once, not also by the makes that it starts, which may install side by side.
NOT_INSTALLING = [ -z "$$(ls -d .venv/.installing* 2>/dev/null)" ]
ifndef SHOAL_STAMPS_COUNT
$(shell $(BIN)/python -c 'import pip' 2>/dev/null && $(NOT_INSTALLING) \
  && [ "$$(cat $(STAMP)-place 2>/dev/null)" = "$$(pwd -P)" ] || rm -f $(STAMP)-*)
endif
beside = SHOAL_STAMPS_COUNT=1 $(MAKE) --no-print-directory

# Only a kill leaves the mark behind; a failed install has been rolled back by pip.
install = touch .venv/.installing$(suffix $@); \
  $(BIN)/python -m pip $(2) install -qq $(4) --constraint $(or $(3),constraints.txt) --editable '$(1)'; \
  status=$$?; rm -f .venv/.installing$(suffix $@); exit $$status

comma := ,

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test java browser boundscheck examples coverage lint smoke-oldest test-oldest format bench fingerprints figures size fuzz docs map wheel clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
	@echo "Another interpreter for a new .venv: make clean test PYTHON=python3.12"

demo: $(STAMP)-package ## Anonymize the sample table, end to end
	@$(BIN)/shoal demo
	@echo "With a table of your own, in the browser: $(BIN)/shoal app"

# What waits for the network goes beside what computes: Java and chromium are fetched and the oldest versions are installed
# and tried while shoal is installed, test tools while kernels are compiled, those of tests as well, each once; then style
# and types are checked. Tests have the machine to themselves: some must not wait long.
test: $(STAMP)-venv ## Check style and types, run all tests, and the usual path on the oldest versions
	@trap 'kill $$fetching $$oldest $$compiling 2>/dev/null; exit 130' INT TERM; status=0; \
	$(beside) java browser & fetching=$$!; \
	echo "Trying the oldest versions, beside what follows ..."; \
	$(beside) smoke-oldest >.venv/.oldest 2>&1 & oldest=$$!; \
	if $(beside) $(STAMP)-package; then \
	  echo "Compiling all kernels, beside what follows ..."; \
	  $(BIN)/python -m tests.ahead --processes $(WORKERS) >.venv/.compiled 2>&1 & compiling=$$!; \
	  $(beside) lint || status=1; \
	  wait $$compiling || status=1; cat .venv/.compiled; wait $$fetching; \
	  [ ! -e $(STAMP)-test ] || $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder || status=1; \
	else status=1; fi; \
	wait $$oldest || status=1; cat .venv/.oldest; exit $$status
	@$(HAS_JAVA) || echo "Spark was not tested: it needs Java, and there is none here (Debian: openjdk-17-jre-headless)."
	@$(HAS_CHROMIUM) || echo "The app was not tested in a browser: there is no chromium here."

# Spark is tested wherever there is Java and the app wherever there is chromium; root fetches both.
HAS_JAVA = { command -v java >/dev/null || [ -n "$$JAVA_HOME" ]; }
HAS_CHROMIUM = command -v chromium >/dev/null
fetch = $(1) || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || { \
  echo "Installing $(2) for the tests ..."; apt-get update -qq >/dev/null 2>&1; \
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y $(2) >/dev/null 2>&1; } || true

java:
	@$(call fetch,$(HAS_JAVA),openjdk-17-jre-headless)

browser:
	@$(call fetch,$(HAS_CHROMIUM),chromium)

smoke-oldest: $(STAMP)-oldest ## Run the usual path on the oldest versions that are allowed
	@rm -rf $(OLDEST)/smoke && mkdir $(OLDEST)/smoke
	@$(OLDEST)/bin/python tests/smoke.py $(OLDEST)/smoke

test-oldest: $(STAMP)-oldest-test ## Run all tests on the oldest versions that are allowed, before a release
	$(OLDEST)/bin/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Tests that call kernels or methods; of random examples, a few are enough here.
KERNEL_TESTS = $(shell grep -lE '^from shoal\.(kernels|solve)' tests/*/test_*.py)

# Compiled code that checks every index is kept apart from what users run.
boundscheck: $(STAMP)-test ## Run the tests of kernels with every index of an array checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --hypothesis-profile few $(KERNEL_TESTS)

examples: $(STAMP)-test ## Run the tests with random examples on 25 times as many, before a release
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --hypothesis-profile many $(shell grep -rlE '^ *@given' tests --include='test_*.py')

coverage: $(STAMP)-test ## Run the tests of kernels without the JIT, and list the lines that none reaches
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --branch --source src/shoal/kernels,src/shoal/solve \
	  -m pytest --hypothesis-profile few -W 'ignore:overflow encountered in scalar' $(KERNEL_TESTS)
	$(BIN)/python -m coverage report --show-missing --skip-covered

lint: $(STAMP)-test ## Check style and types
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: $(STAMP)-test ## Format the code and mend what ruff can mend
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

bench: $(STAMP)-test ## Measure speed and loss of all methods; another: make bench BENCHMARK=targets
	$(BIN)/python -m benchmarks $(or $(BENCHMARK),methods)

fingerprints: $(STAMP)-test ## See whether about ninety jobs release what they did before
	@$(BIN)/python tools/fingerprints.py

# Hours on a busy machine, about one on an idle one. Another call goes on where this one was stopped.
figures: $(STAMP)-test ## Run every benchmark that the documentation shows, and write its tables
	@$(BIN)/python docs/make_figures.py --measure

size: $(STAMP)-test ## Show how many modules, rooms and imports between rooms there are
	@$(BIN)/python tools/size.py

fuzz: $(STAMP)-test ## Try random tables, killed runs, full disks and hostile files: make fuzz MINUTES=30 SEED=0
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10) --start $(or $(SEED),0) --jobs $(WORKERS)
	$(BIN)/python -m tests.fuzz.hostile --files 1000 --start $(or $(SEED),0)
	$(BIN)/python -m tests.fuzz.full_disk
	$(BIN)/python -m tests.fuzz.kills --kills 60 --seed $(or $(SEED),0)

# Material warns of a coming MkDocs that constraints.txt keeps out.
docs: $(STAMP)-docs ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict # --quiet would hide warnings from --strict
	@echo "Open site/index.html; to search as well: $(BIN)/python -m http.server --directory site --bind 127.0.0.1"

map: $(STAMP)-venv ## Write the map of the code into docs/explanation/architecture.md, from docstrings
	@$(BIN)/python tools/make_map.py

wheel: $(STAMP)-test ## Build a wheel with compiled kernels for this Python and platform into dist/
	$(BIN)/python tools/make_wheel.py

clean: ## Remove .venv and everything else that was made here
	@rm -rf .venv shoal-demo build dist site .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find src tests benchmarks -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMP)-package: pyproject.toml constraints.txt $(STAMP)-venv
	@echo "Installing shoal into .venv ..."
	@$(call install,.[app])
	@touch $@

$(STAMP)-test: export DIST_EXTRA_CONFIG := $(CURDIR)/tools/uncompressed.cfg

# Tests compare the audit with pycanon's. It pins old versions of all it imports and works with ours, so it
# comes without them and cannot stand in pyproject.toml.
$(STAMP)-test: pyproject.toml constraints.txt $(STAMP)-venv
	@echo "Installing shoal and its test tools into .venv ..."
	@$(call install,.[test$(comma)duckdb$(comma)spark],,,--no-compile)
	@$(BIN)/python -m pip install -qq --no-deps --constraint constraints.txt pycanon
	@touch $(STAMP)-package $@

$(STAMP)-oldest: pyproject.toml constraints-oldest.txt $(STAMP)-venv
	@echo "Installing shoal and the oldest versions of what it needs into $(OLDEST) ..."
	@rm -rf $(OLDEST) $@-test && $(BIN)/python -m venv --without-pip $(OLDEST)
	@$(call install,.[excel$(comma)pandas$(comma)polars],--python $(OLDEST)/bin/python,constraints-oldest.txt,--no-compile)
	@touch $@

$(STAMP)-oldest-test: $(STAMP)-oldest
	@$(call install,.[test],--python $(OLDEST)/bin/python,constraints-oldest.txt)
	@$(BIN)/python -m pip --python $(OLDEST)/bin/python install -qq --no-deps pycanon --constraint constraints-oldest.txt
	@touch $@

$(STAMP)-docs: pyproject.toml constraints.txt $(STAMP)-venv
	@echo "Installing shoal and what builds its documentation into .venv ..."
	@$(call install,.[docs])
	@touch $(STAMP)-package $@

$(STAMP)-venv:
	@{ $(NOT_INSTALLING) && \
	  $(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; } || { \
	  $(PYTHON) -c '' 2>/dev/null || { \
	    echo "shoal needs Python 3.11 or newer, and '$(PYTHON)' does not run; name one, as in: make test PYTHON=python3.12" >&2; exit 1; }; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "shoal needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1); name another, as in: make test PYTHON=python3.12" >&2; exit 1; }; \
	  $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "'$(PYTHON)' lacks the venv module; install it (Debian, Ubuntu: apt install python3-venv) and run make again." >&2; exit 1; }; \
	  echo "Making .venv ..."; \
	  rm -rf .venv && $(PYTHON) -m venv .venv; }
	@pwd -P > $(STAMP)-place
	@touch $@
