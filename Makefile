# Every target installs what it needs: python >= 3.11 with venv and pip is all that must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The environment's own uv, if the machine brings none.
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
READY := $(VENV)/.ready

export PYDANTIC_AI_NO_BANNER := 1

.PHONY: all demo test lint types bench coverage snapshots clean
all: lint types test

$(READY): pyproject.toml uv.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x "$(UV)" || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	UV_PROJECT_ENVIRONMENT=$(VENV) $(UV) sync --frozen --inexact --quiet
	touch $@

demo: $(READY)
	@$(BIN)/python -m server.cli improve examples/announcement.md --max-words 300 --forbid "world-class=reliable" || test $$? -eq 1

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/codespell

types: $(READY)
	$(BIN)/pyright

coverage: $(READY)
	$(BIN)/python -m coverage run -m pytest
	$(BIN)/python -m coverage report --skip-covered

snapshots: $(READY)
	$(BIN)/python -m tests.snapshots.write

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) dist .pytest_cache .ruff_cache .coverage
