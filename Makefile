# Two commands: `make demo` and `make test`. Each sets itself up in .venv first. `make quick` is a part
# of the tests for whoever changes a line.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find dse fitness results -name '*.py')

.PHONY: setup demo test quick lint types unit wheel docs clean

setup: $(VENV)/.warmed

# Bytecode is made where a module is first imported: few of the packages' modules ever are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	@touch $@

# What tests and checks need besides. Tests start many processes: bytecode for all of them, once.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) '.[dev]'
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	@touch $@

# Compiles all kernels into libraries beside the sources.
$(VENV)/.warmed: $(VENV)/.installed-dev $(SOURCES)
	$(BIN)/python -m paretosoc.dse.compile
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/dse explore examples/workloads/camera.yaml -p jetson-orin-nano-8gb -o runs/demo --force
	$(BIN)/dse report runs/demo --force

test: setup lint types unit

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types:
	$(BIN)/mypy

unit:
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# Neither kernels nor processes, and no test that takes long: no need to compile anything.
quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --quick --numprocesses 2 --dist worksteal --quiet

# Builds what is released, the wheel from the source archive, installs it into an empty environment,
# and uses it outside the sources.
wheel:
	rm -rf .wheel build
	$(PYTHON) -m venv .wheel/build
	.wheel/build/bin/python -m pip install --quiet --disable-pip-version-check build
	.wheel/build/bin/python -m build --outdir .wheel/dist .
	$(PYTHON) -m venv .wheel/empty
	.wheel/empty/bin/python -m pip install --quiet --disable-pip-version-check .wheel/dist/*.whl
	cd .wheel && empty/bin/paretosoc explore alexnet resnet18 --platform jetson-orin-nano-8gb \
		--groups 5 --max-evaluations 2000 --output front
	cd .wheel && empty/bin/paretosoc verify front && empty/bin/paretosoc report front
	cd .wheel && empty/bin/python -c "import paretosoc, dse; assert paretosoc is dse"

# The site, in site/: pages, references from the program itself, pictures drawn now; links checked.
docs: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) .wheel site runs build *.egg-info .mypy_cache .pytest_cache .ruff_cache
