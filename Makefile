# Two commands: `make demo` and `make test`. Each sets itself up in .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find dse fitness results -name '*.py')

.PHONY: setup demo test lint types unit clean

setup: $(VENV)/.warmed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# Compiles all kernels; numba keeps the machine code beside the sources.
$(VENV)/.warmed: $(VENV)/.installed $(SOURCES)
	$(BIN)/python -m dse.compile
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/dse explore vgg19 resnet50 --platform jetson-agx-xavier --max-transitions 1 \
		--groups 12 --engine nsga2 --max-evaluations 10000 --output runs/demo --force

test: setup lint types unit

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types:
	$(BIN)/mypy

unit:
	$(BIN)/python -m pytest --numprocesses 2

clean:
	rm -rf $(VENV) runs build *.egg-info .mypy_cache .pytest_cache .ruff_cache
