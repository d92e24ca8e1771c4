# A fresh clone needs Python 3.10 or later, make and a C compiler. Everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# What is not free software has environments of its own.
CUTE := .venv-cute
CUDA := .venv-cuda
BENCH := .venv-bench
DISTRIBUTIONS := .venv-distributions
# MLIR distributions besides torch-mlir and jaxlib; the last is not free software either.
BINDINGS := iree-base-compiler==3.13.0 flydsl==0.4.2 nvidia-cutlass-dsl==4.8.1
# For an example; 1 GB. Each version has other metadata, and needs a later Python.
TRITON := triton==3.9.0; python_version >= "3.11"
# What `make mutants` changes, and of which changes: a function's are numbered from 1 on, and those
# are tried whose numbers end like this.
MODULES ?= plan spec builder providers
SAMPLE ?= _3
# tests/test_project.py sees that all are here that need PyTorch, JAX or Numba.
FRAMEWORK_TESTS := tests/abi tests/arrays tests/docs tests/examples tests/frontends \
  tests/runtime/test_results.py tests/testing
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-frameworks test-cuda test-cute test-distributions check lint \
  format types fuzz soak bench bench-compare bench-instructions bench-launch coverage mutants dev clean

help: ## Show this list.
	@sed -n 's/^\([a-z-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.demo ## Run the main job on real input, and print what it did.
	$(PY) examples/quickstart.py

test: $(VENV)/.test ## Pass the tests (those that need PyTorch, JAX or Numba are skipped).
	$(PY) -m pytest

test-fast: $(VENV)/.dev ## Pass the tests that are not marked slow.
	$(PY) -m pytest -m 'not slow'

test-frameworks: $(VENV)/.frameworks ## Install CPU builds of PyTorch and JAX, and Numba, and run the tests that need them.
	$(PY) -m pytest $(FRAMEWORK_TESTS)

test-cuda: $(CUDA)/.made ## Install NVIDIA's CUDA compilers (proprietary) and Triton apart, and test what uses them.
	$(CUDA)/bin/python -m pytest tests/kernel_image tests/cuda_tools tests/cuda tests/examples/test_triton.py \
	  'tests/docs/test_docs.py::test_python_blocks_run_and_print_what_is_written[docs/cuda-tools.md]'

test-cute: $(CUTE)/.made ## Install NVIDIA's CuTe DSL (proprietary) apart, and test examples/cute_dsl.
	$(CUTE)/bin/python -m pytest tests/examples/test_cute_convert.py tests/examples/test_cute_provider.py tests/examples/test_cute_dsl.py

test-distributions: $(DISTRIBUTIONS)/.made ## Install other MLIR bindings (CUTLASS's are proprietary) apart, and test with each.
	$(DISTRIBUTIONS)/bin/python -m pytest tests/distributions

lint: $(VENV)/.dev ## Check format, lint rules and the layers.
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(VENV)/bin/lint-imports --no-cache

format: $(VENV)/.dev ## Format, and fix what lint can fix.
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

types: $(VENV)/.dev ## Check types (pyright, strict).
	$(PY) -m pyright --project pyproject.toml

# The tests take one core and pyright another.
check: $(VENV)/.dev ## Run lint, types and test-fast: before each commit, two minutes.
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint types test-fast

fuzz: $(VENV)/.test ## Run the differential tests with 200,000 examples.
	FFI_BUILDER_EXAMPLES=200000 $(PY) -m pytest tests/differential

soak: $(VENV)/.test ## Compile, call and drop 10,000 modules, and see that memory does not grow.
	FFI_BUILDER_CYCLES=10000 $(PY) -m pytest tests/runtime/test_lifetime.py -k cycles

bench: $(VENV)/.demo ## Measure what a wrapper costs.
	$(PY) benchmarks/wrapper.py

bench-compare: $(VENV)/.demo ## Measure it beside other makers of TVM-FFI functions (3 GB in .venv-bench, partly proprietary).
	$(PY) benchmarks/compare.py --environments $(BENCH) --output benchmarks

bench-instructions: $(VENV)/.demo ## Print how many instructions a call takes (needs valgrind).
	$(PY) benchmarks/instructions.py

bench-launch: $(VENV)/.demo ## Measure what a launch of a CUDA kernel costs on the host (without a GPU too).
	$(PY) benchmarks/launch.py

coverage: $(VENV)/.test ## Run the tests and show which lines they miss.
	$(PY) -m coverage run -m pytest
	$(PY) -m coverage report

mutants: $(VENV)/.mutants ## Change the code in small ways, and print the changes that no test sees (docs/mutants.md).
	$(PY) benchmarks/mutants.py $(MODULES) --sample '$(SAMPLE)'

dev: $(VENV)/.dev ## Install everything to work on ffi_builder.

clean: ## Remove what the other targets made.
	rm -rf $(VENV) $(CUTE) $(CUDA) $(BENCH) $(DISTRIBUTIONS) build dist .pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or later is needed: make PYTHON=…" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp for each set of packages; an edited pyproject.toml makes them all old.
$(VENV)/.demo: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[demo]'
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.mutants: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[mutants]'
	@touch $@

$(VENV)/.frameworks: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[test,frameworks]'
	@touch $@

$(CUDA)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,cuda]' '$(TRITON)'
	@touch $@

$(CUTE)/.made: pyproject.toml
	$(PYTHON) -m venv $(CUTE)
	$(CUTE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' nvidia-cutlass-dsl==4.8.1
	@touch $@

# One by one: what has no wheel for this Python or machine is skipped by the tests, and said so.
$(DISTRIBUTIONS)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(DISTRIBUTIONS)
	$(DISTRIBUTIONS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	for package in $(BINDINGS); do \
	  $(DISTRIBUTIONS)/bin/python -m pip install --quiet --disable-pip-version-check $$package || echo "$$package cannot be installed here"; \
	done
	@touch $@
