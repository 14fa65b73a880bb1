# Two commands: `make demo` and `make test`. Each sets itself up in .venv first. `make quick` is a part
# of the tests for whoever changes a line.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find dse fitness results -name '*.py')

.PHONY: setup demo test quick lint types unit wheel wheel-libraries docs clean

setup: $(VENV)/.installed-dev $(VENV)/.compiled

# Bytecode is made where a module is first imported: few of the packages' modules ever are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable

# What an earlier build of a wheel left here has its entry points, which hide those of pyproject.toml.
$(VENV)/.installed: pyproject.toml
	rm -rf paretosoc.egg-info
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	@touch $@

# What tests and checks need besides. Tests start many processes: bytecode for all of them, once.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) '.[dev]'
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	@touch $@

# Compiles all kernels into libraries beside the sources.
$(VENV)/.compiled: $(VENV)/.installed $(SOURCES)
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

# With bytecode of the sources, too: tests start hundreds of processes. Three workers for two cores:
# some tests wait for a browser, a server or a script.
unit quick: export PYTHONDONTWRITEBYTECODE =
unit:
	$(BIN)/python -m pytest --numprocesses 3 --dist worksteal

# Neither kernels nor processes, and no test that takes long: no need to compile anything.
quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --quick --numprocesses 2 --dist worksteal --quiet

# Builds what is released, the wheel from the source archive, with machine code for processors of these
# levels, each of which takes some three minutes of one core. Installs it into an empty environment, and
# uses it outside the sources.
LEVELS ?= $(if $(filter x86_64,$(shell uname -m)),x86-64-v3)
PIP := -m pip install --quiet --disable-pip-version-check
wheel:
	rm -rf .wheel build
	$(PYTHON) -m venv .wheel/build
	.wheel/build/bin/python $(PIP) build wheel
	.wheel/build/bin/python -m build --outdir .wheel/dist .
	$(PYTHON) -m venv .wheel/empty
	.wheel/empty/bin/python $(PIP) .wheel/dist/*.whl
	$(if $(LEVELS),$(MAKE) --no-print-directory wheel-libraries)
	cd .wheel && empty/bin/paretosoc explore alexnet resnet18 --platform jetson-orin-nano-8gb \
		--groups 5 --max-evaluations 2000 --output front
	cd .wheel && empty/bin/paretosoc verify front && empty/bin/paretosoc report front
	cd .wheel && empty/bin/python -c "import paretosoc, dse; assert paretosoc is dse"

# Compiles the kernels of the installed wheel for all levels, and puts the libraries into it, which
# makes it a wheel of a platform. It needs no compiler: its requirements leave numba out.
wheel-libraries:
	cd .wheel && for level in $(LEVELS); do \
		NUMBA_CPU_NAME=$$level NUMBA_CPU_FEATURES=+cx8 NUMBA_CACHE_DIR=$$PWD/code \
		empty/bin/python -m paretosoc.dse.compile || exit; done
	cd .wheel && build/bin/python -m wheel unpack dist/*.whl && rm dist/*.whl
	cd .wheel/paretosoc-*/paretosoc/common/machine_code && mkdir libraries && \
		cd $(CURDIR)/.wheel/code && find . -name '*.so' -exec cp --parents {} $$OLDPWD/libraries \;
	sed -i '/^Requires-Dist: numba[^;]*$$/d' .wheel/paretosoc-*/*.dist-info/METADATA
	cd .wheel && build/bin/python -m wheel pack --dest-dir dist paretosoc-*
	cd .wheel && build/bin/python -m wheel tags --remove \
		--platform-tag manylinux_2_17_$(shell uname -m) dist/*.whl
	rm -rf .wheel/empty && $(PYTHON) -m venv .wheel/empty
	.wheel/empty/bin/python $(PIP) .wheel/dist/*.whl
	cd .wheel && empty/bin/python -c "import importlib.util as modules; \
		assert modules.find_spec('numba') is None"

# The site, in site/: pages, references from the program itself (so of extras' commands, too),
# pictures drawn now; links checked.
docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs,mcp]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) .wheel site runs build *.egg-info .mypy_cache .pytest_cache .ruff_cache
