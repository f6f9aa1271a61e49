# `make` lists the tasks. Everything runs from .venv, which is made on first use: by uv where it is installed, by
# venv and pip where not. Settings of pip and uv (index, proxy, cache) are used as they are.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXAMPLE := examples/container-shared-memory
DEMO_DATA := build/demo
JVM_TESTS := $(patsubst %,tests/integration/test_%.py,client match queries)

.DEFAULT_GOAL := help
.PHONY: help demo test jvm lint types format bench eval docs clean

help: ## list the tasks
	@echo "Usage: make TASK"
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## explain a real incident of examples/ (embedded, or on your Neo4j when NEO4J_URI is set)
	@$(BIN)/failgraph --data-dir $(DEMO_DATA) triage $(EXAMPLE)

test: $(STAMP) ## run the whole test suite, on the embedded engine and on a real Neo4j where there is one
	@$(BIN)/pytest

# Java's runtime uses the signal of a bad memory access for itself; Python's fault handler would report each as a crash.
# It may also take a Ctrl-C into a thread of its own, so that a query ends late: that test is for the native edition.
jvm: $(STAMP) ## run the tests that need the embedded engine on its Java edition
	@FAILGRAPH_TEST_ENGINE=jvm $(BIN)/pytest -p no:faulthandler -m "not neo4j" -k "not ctrl_c" $(JVM_TESTS)

lint: $(STAMP) ## check style, layout and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports

types: $(STAMP) ## check types
	@$(BIN)/mypy

format: $(STAMP) ## lay out the code as `make lint` wants it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: $(STAMP) ## measure speed; each table says what is compared
	@for benchmark in benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark || exit 1; done

eval: $(STAMP) ## measure the matching on labelled cases: make eval CASES=DIRECTORY
	@$(BIN)/failgraph --data-dir build/eval eval --cases $(or $(CASES),$(error say where the labelled cases are: make eval CASES=DIRECTORY))

docs: $(STAMP) ## write the pages of docs/ that are made from the code
	@$(BIN)/python docs/generate.py

clean: ## remove what was built; .venv stays
	rm -rf build dist failgraph.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Written last, so an install that was broken off is done again.
$(STAMP): requirements.lock pyproject.toml
	@.ci/install $(VENV)
	@touch $@
