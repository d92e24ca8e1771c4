# A fresh clone needs Python 3.10 or later, make and a C compiler. Everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Environments for proprietary packages, apart from .venv.
CUTE := .venv-cute
CUDA := .venv-cuda
GPU := .venv-gpu
BENCH := .venv-bench
DISTRIBUTIONS := .venv-distributions
OLDER := .venv-tvm-ffi
TILELANG := .venv-tilelang
ROCM := .venv-rocm
LIBCLANG := .venv-libclang
# Other versions of PyTorch and JAX than pyproject.toml pins have an environment of their own.
TORCH ?=
JAX ?=
FRAMEWORKS := $(if $(TORCH)$(JAX),.venv-frameworks,$(VENV))
# An arm64 system, and a command that runs in it.
AARCH64 := .venv-aarch64
ON_AARCH64 := tests/aarch64/run.sh $(AARCH64)
# MLIR distributions besides torch-mlir and jaxlib; the last one is proprietary.
BINDINGS := iree-base-compiler==3.13.0 flydsl==0.4.2 nvidia-cutlass-dsl==4.8.1
GPU_FRAMEWORKS := torch==2.13.0 'jax[cuda13]==0.10.2' jax-tvm-ffi cupy-cuda13x
# For examples/triton_aot.py and benchmarks/calls.py; 1 GB. Metadata and launchers differ between
# versions, so one is pinned. It needs a later Python than the package.
TRITON := triton==3.9.0; python_version >= "3.11"
# For images of AMD's GPUs. FlyDSL imports PyTorch, and does not say so.
ROCM_COMPILERS := '$(TRITON)' iree-base-compiler==3.13.0 flydsl==0.5.0 torch==2.13.0
CUTILE := cuda-tile==1.7.0 nvidia-cuda-tileiras>=13.5,<14
# The packages that `make mutants` changes, and a sample of the changes: those of each function are
# numbered from 1, and the ones whose number matches this ending are tried.
MODULES ?= plan spec diagnosis builder providers
SAMPLE ?= _3
# The oldest apache-tvm-ffi that pyproject.toml allows, and the tests of what depends on it.
TVM_FFI ?= 0.1.11
TVM_FFI_TESTS := tests/abi tests/arrays tests/compatibility tests/entry tests/errors tests/malformed tests/packed \
  tests/providers/test_results.py tests/testing $(addprefix tests/runtime/test_,$(addsuffix .py,allocators callable \
  callable_arguments export export_library loaded metadata older_tvm_ffi results))
# Tests that need PyTorch, JAX or Numba. tests/test_project.py checks that none is missing.
FRAMEWORK_TESTS := tests/abi/test_arrivals.py tests/arrays tests/benchmarks/test_gpt.py tests/benchmarks/test_jax_calls.py \
  tests/docs/test_docstrings.py $(patsubst %,'tests/docs/test_docs.py::test_blocks_run_and_print_what_is_written[docs/%.md]', \
  frontends integrating jax packages torch) tests/entry $(addprefix tests/examples/test_,compilers.py \
  examples.py::test_quickstart_takes_torch_tensors_where_there_is_torch frontends.py gpt.py jax.py toy_dsl.py) \
  tests/frameworks tests/frontends tests/packaging/test_frameworks.py tests/packaging/test_hub.py tests/providers/test_results_like_arguments.py \
  tests/providers/test_workspaces.py tests/runtime/test_results.py \
  $(patsubst %,tests/testing/test_%.py,check_intents check_kernel lists make_args) tests/wrapping/test_addresses.py
# Tests that call from Python, which test-frameworks also runs without the extension. Those of
# tests/entry call in each way themselves.
CALL_TESTS := tests/arrays tests/packed tests/providers/test_results.py \
  $(patsubst %,tests/runtime/test_%.py,callable callable_arguments loaded mistakes results threads) \
  $(patsubst %,tests/wrapping/test_%.py,doors gil null sources)
CORE_TESTS := $(addprefix tests/,abi builder errors ir malformed packed plan providers rules spec steps test_records.py test_suggest.py)
# Each process takes its share of the tests in order, and then some of another's: most fixtures of
# modules are made once. With `JOBS=0` all run in pytest's own process.
JOBS ?= 2
PARALLEL = --numprocesses=$(JOBS) --dist=worksteal
# Pages that people write, wrapped by mdformat; tests write docs/errors.md.
PAGES := $(wildcard *.md examples/*/*.md ffi_builder/README.md ffi_builder/*/README.md ffi_builder/*/*/README.md) benchmarks/README.md benchmarks/tried.md tools/README.md tools/mutants.md tests/README.md tests/aarch64/README.md $(filter-out docs/errors.md,$(wildcard docs/*.md))
# Tests run with freed memory overwritten, and not reused at once, so that whoever reads it fails in
# every run and not in one of twenty. That makes them 4 % slower. Child processes that crash say where.
test test-core test-fast test-without test-frameworks test-tvm-ffi test-distributions: export GLIBC_TUNABLES := glibc.malloc.perturb=165:glibc.malloc.tcache_count=0
export PYTHONFAULTHANDLER := 1
# Bytecode is written, also where an environment says otherwise: tests start hundreds of processes,
# and each would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=
# Hypothesis draws a fifth of the examples.
test-core test-fast: export FFI_BUILDER_FAST := 1
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -g -O1
# C that people write; the other headers are generated.
SUPPORT := $(filter-out %/plan.h %/numbers.h,$(wildcard $(addsuffix /support/*.[ch],ffi_builder ffi_builder/*)))
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo add-ons test test-core test-fast test-without test-frameworks test-tvm-ffi test-cuda test-cute test-libclang test-rocm test-rocm-gpu test-tilelang test-distributions test-aarch64 \
  test-aarch64-fast test-gpu check lint format support types fuzz soak bench bench-compare bench-instructions bench-calls \
  bench-torch bench-launch coverage mutants docs wheels release-check entry-asan dev clean

help: ## Show this list.
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name text; do printf '%-18s %s\n' "$$name" "$$text"; done

demo: $(VENV)/.demo ## Wrap, compile and call a matmul on NumPy arrays, and print each step.
	$(PY) examples/quickstart.py

test: $(VENV)/.test ## Run all tests, or TESTS (those that need PyTorch, JAX or Numba are skipped), in JOBS processes.
	$(PY) -m pytest $(PARALLEL) $(TESTS)

test-core: $(VENV)/.dev ## Run the tests of the core that are not marked slow: signatures to wrappers, without the runtime and add-ons.
	$(PY) -m pytest $(PARALLEL) -m 'not slow' $(CORE_TESTS)

test-fast: $(VENV)/.dev ## Run the tests that are not marked slow.
	$(PY) -m pytest $(PARALLEL) -m 'not slow'

test-frameworks: $(FRAMEWORKS)/.frameworks ## Install CPU builds of PyTorch and JAX, or the versions TORCH and JAX, and Numba, run the tests that need them, and calls without the extension.
	$(if $(TORCH)$(JAX),$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check \
	  $(TORCH:%='torch==%') $(JAX:%='jax==%') $(JAX:%='jaxlib==%'))
	$(FRAMEWORKS)/bin/python -m pytest $(PARALLEL) $(FRAMEWORK_TESTS)
	FFI_BUILDER_ENTRY=python $(FRAMEWORKS)/bin/python -m pytest $(PARALLEL) -m 'not slow' $(CALL_TESTS)

# `make -s add-ons` prints them alone, for a loop.
add-ons: $(VENV)/.made ## List the add-ons, one a line: the folders that can be deleted.
	@PYTHONPATH=. $(PY) -m tools.without

test-without: $(VENV)/.dev ## Run the tests that are not slow, or TESTS, in a copy without an add-on and what stands on it, as WITHOUT=cli.
	$(PY) -m tools.without $(or $(WITHOUT),$(error WITHOUT=<add-on>: make -s add-ons lists them)) $(PARALLEL) $(TESTS)

# The JIT serves the tests with any version, though pip would not install it with an older one.
test-tvm-ffi: $(OLDER)/.made ## Run the tests of what depends on apache-tvm-ffi with another version, TVM_FFI (the oldest).
	$(OLDER)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps 'apache-tvm-ffi==$(TVM_FFI)'
	$(OLDER)/bin/python -m pytest -m 'not slow' $(TVM_FFI_TESTS)

test-cuda: $(CUDA)/.made ## Install NVIDIA's CUDA compilers (proprietary), Triton and cuTile in .venv-cuda, and test what uses them.
	$(CUDA)/bin/python -m pytest tests/cuda/tools tests/examples/test_triton.py \
	  tests/examples/test_launch_hooks.py \
	  tests/examples/test_ci_without_gpu.py tests/fakecuda/test_fake_cuda.py \
	  'tests/docs/test_docs.py::test_blocks_run_and_print_what_is_written[docs/cuda-tools.md]' \
	  tests/docs/test_docstrings.py

test-gpu: $(GPU)/.made ## Install CUDA builds of PyTorch, JAX and CuPy in .venv-gpu, and try all that needs an NVIDIA GPU, in ten minutes.
	$(GPU)/bin/python -m tests.cuda.gpu
	$(GPU)/bin/python benchmarks/launch.py --output build/gpu

test-libclang: $(LIBCLANG)/.made ## Install a later libclang, of another package, in .venv-libclang, and run the tests of what reads C.
	PYTHONPATH=$(abspath $(LIBCLANG)) $(PY) -m pytest -m 'not slow' tests/wrapping/test_types_of_c.py tests/wrapping/test_headers.py tests/wrapping/test_prototypes.py

test-cute: $(CUTE)/.made ## Install NVIDIA's CuTe DSL (proprietary) in .venv-cute, and test examples/cute_dsl.
	$(CUTE)/bin/python -m pytest tests/examples/test_cute_convert.py tests/examples/test_cute_provider.py tests/examples/test_cute_dsl.py tests/examples/test_cute_maps.py tests/examples/test_cutlass_names.py

test-tilelang: $(TILELANG)/.made ## Install TileLang with the apache-tvm-ffi that it needs in .venv-tilelang, and test what is for it.
	$(TILELANG)/bin/python -m pytest tests/examples/test_tilelang.py $(patsubst %,'tests/docs/test_docstrings.py::test_examples_run_and_print_what_is_written[cuda/tools/%.py]',tilelang tilelang_launch)

test-rocm: $(ROCM)/.made ## Install compilers for AMD GPUs (Triton, IREE, FlyDSL) in .venv-rocm, and test what reads their images; Debian's lld-19 and clang-19 add to it. No GPU is needed.
	$(ROCM)/bin/python -m pytest tests/rocm tests/examples/test_triton_rocm.py

test-rocm-gpu: $(VENV)/.demo ## Try on an AMD GPU what launches there, with ROCm and its ld.lld; a ROCm build of PyTorch in .venv adds to it.
	$(PY) -m tests.rocm.gpu

test-distributions: $(DISTRIBUTIONS)/.made ## Install other MLIR bindings (CUTLASS's are proprietary) in .venv-distributions, and test each.
	$(DISTRIBUTIONS)/bin/python -m pytest tests/distributions tests/examples/test_compilers.py

# The differential tests are those of compiled wrappers. Level 0 has a code generator of its own there.
test-aarch64: $(AARCH64)/.made ## Install an arm64 system in .venv-aarch64 (qemu and Debian's packages), and run the tests in it.
	$(ON_AARCH64) python3 setup.py -q build_ext --inplace
	set -e; for folder in abi rules runtime packed arrays entry builder providers wrapping ir sanitize compatibility; do \
	  $(ON_AARCH64) python3 -m pytest -m 'not slow' tests/$$folder; \
	done
	$(ON_AARCH64) python3 -m pytest tests/cuda tests/malformed tests/runtime/test_header.py tests/packed/test_exported.py
	$(ON_AARCH64) python3 -m pytest tests/runtime/test_unusual.py -k named
	$(ON_AARCH64) python3 -m pytest tests/differential -k compiled
	$(ON_AARCH64) env FFI_BUILDER_OPT_LEVEL=0 python3 -m pytest tests/differential -k compiled
	CPUINFO=tests/aarch64/grace.cpuinfo $(ON_AARCH64) python3 -m pytest tests/abi tests/runtime/test_compile.py tests/runtime/test_floats.py tests/builder/test_rounding.py tests/providers/test_c_numbers.py tests/providers/test_c_registers.py

test-aarch64-fast: $(AARCH64)/.made ## Run the part of test-aarch64 that takes minutes.
	$(ON_AARCH64) python3 setup.py -q build_ext --inplace
	$(ON_AARCH64) python3 -m pytest -m 'not slow' tests/abi tests/builder/test_rounding.py tests/providers/test_c_numbers.py tests/providers/test_c_registers.py tests/providers/test_c_structs.py tests/runtime/test_compile.py tests/runtime/test_link.py tests/runtime/test_threads.py::test_thread_local_variables_are_each_threads_own tests/runtime/test_threads.py::test_threads_may_end_after_the_code_they_ran_was_dropped tests/runtime/test_announce.py tests/entry/test_rules.py tests/entry/test_address.py tests/entry/test_exchange.py
	$(ON_AARCH64) env FFI_BUILDER_EXAMPLES=40 python3 -m pytest tests/differential -k 'compiled and drawn'

wheels: $(VENV)/.release ## Build a wheel for each Python found, and test each in an environment of its own.
	$(PY) -m tools.release.wheels

release-check: $(VENV)/.release ## Build sdist and wheels, and check them in clean environments (PYTHONS, EXTRAS choose).
	$(PY) -m tools.release.check

# The test that is left out measures memory, which AddressSanitizer keeps after it is freed.
entry-asan: $(VENV)/.test ## Test the extension that reads calls under AddressSanitizer and UBSan (with gcc).
	rm -rf build/asan && mkdir -p build/asan && cp -r ffi_builder tests *.toml *.py *.md LICENSE build/asan
	$(PY) -m pip install --quiet --disable-pip-version-check 'setuptools>=77.0.3'
	cd build/asan && rm -f ffi_builder/entry/*.so && CFLAGS='$(SANITIZE)' $(abspath $(PY)) setup.py -q build_ext --inplace
	cd build/asan && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	  PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 $(abspath $(PY)) -m pytest -m 'not slow' -k 'not leave_nothing_behind' tests/entry

lint: $(VENV)/.dev ## Check formatting, lint rules and layers.
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(VENV)/bin/lint-imports --no-cache
	$(PY) -m mdformat --check $(PAGES)
	$(VENV)/bin/clang-format --dry-run --Werror $(SUPPORT)

format: $(VENV)/.dev ## Format the code, and fix what ruff can fix.
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
	$(PY) -m mdformat $(PAGES)
	$(VENV)/bin/clang-format -i $(SUPPORT)

# The files that it writes are checked in. CI cannot have another clang-19, and compares them.
support: $(VENV)/.dev ## Compile the functions in C that wrappers call (with clang-19 and libc6-dev-arm64-cross).
	$(PY) -m tools.support
	$(PIP) --no-deps -e .

types: $(VENV)/.dev ## Check types (pyright, strict).
	$(PY) -m pyright --project pyproject.toml

# Tests and pyright share the cores.
check: $(VENV)/.dev ## Run lint, types and test-fast, in about two minutes on two cores.
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint types test-fast

fuzz: $(VENV)/.test ## Run the tests that draw their examples with others; the differential tests draw 200,000.
	FFI_BUILDER_EXAMPLES=200000 $(PY) -m pytest tests -m hypothesis --hypothesis-profile=random

soak: $(VENV)/.test ## Compile, call and drop 10,000 modules, and check that memory does not grow.
	FFI_BUILDER_CYCLES=10000 $(PY) -m pytest tests/runtime/test_lifetime.py -k cycles

bench: $(VENV)/.demo ## Measure what attaching, compiling and calling a wrapper cost.
	$(PY) benchmarks/wrapper.py

bench-compare: $(VENV)/.demo ## Measure the same beside other builders of TVM-FFI functions (3 GB in .venv-bench, partly proprietary).
	$(PY) benchmarks/compare.py --environments $(BENCH) --output benchmarks

bench-instructions: $(VENV)/.demo ## Print how many instructions a call takes (needs valgrind).
	$(PY) benchmarks/instructions.py

bench-calls: $(VENV)/.frameworks ## Measure calls from Python beside nanobind, pybind11, Cython, Numba, PyTorch and Triton.
	$(PIP) -e '.[calls]' '$(TRITON)'
	$(PY) -m benchmarks.calls

bench-torch: $(VENV)/.frameworks ## Measure operators of PyTorch, eager and in compiled graphs, beside others (needs a C++ compiler).
	$(PY) -m benchmarks.torch_ops
	$(PY) -m benchmarks.torch_first

bench-launch: $(VENV)/.demo ## Measure what launching a CUDA kernel costs the host (needs no GPU).
	$(PY) benchmarks/launch.py

coverage: $(VENV)/.test ## Run the tests and show which lines they miss.
	$(PY) -m coverage run -m pytest
	$(PY) -m coverage report

docs: $(VENV)/.dev ## Draw the pictures and build the site, into build/site; warnings are errors.
	for picture in docs/pictures/*.py; do $(PY) -m docs.pictures.$$(basename $$picture .py) || exit; done
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build

mutants: $(VENV)/.mutants ## Change the code in small ways, and print the changes that no test notices (tools/mutants.md).
	$(PY) tools/mutants.py $(MODULES) --sample '$(SAMPLE)'

dev: $(VENV)/.dev ## Install everything to work on ffi_builder.

clean: ## Remove what the other targets made.
	rm -rf $(VENV) $(CUTE) $(CUDA) $(GPU) $(BENCH) $(DISTRIBUTIONS) $(OLDER) $(TILELANG) $(ROCM) $(LIBCLANG) .venv-frameworks $(AARCH64) build dist .pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.10 or later is needed: make PYTHON=…" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp file for each set of packages. Editing pyproject.toml makes them all out of date.
$(VENV)/.demo: pyproject.toml $(VENV)/.made
	@echo 'Installing MLIR (300 MB), LLVM and NumPy in $(VENV) …'
	$(filter-out --quiet,$(PIP)) -e '.[demo]'
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/.release: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[release]'
	@touch $@

$(VENV)/.mutants: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[mutants]'
	@touch $@

$(VENV)/.frameworks: pyproject.toml $(VENV)/.made
	$(PIP) -e '.[test,frameworks]'
	@touch $@

.venv-frameworks/.frameworks: pyproject.toml
	$(PYTHON) -m venv .venv-frameworks
	.venv-frameworks/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,frameworks]'
	@touch $@

$(CUDA)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(CUDA)
	$(CUDA)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,cuda]' '$(TRITON)' tritonparse==0.6.0 $(CUTILE:%='%')
	@touch $@

# One by one: a package without a wheel for this machine must not stop the others.
$(GPU)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(GPU)
	$(GPU)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,cuda]'
	for package in $(GPU_FRAMEWORKS); do \
	  $(GPU)/bin/python -m pip install --quiet --disable-pip-version-check $$package || echo "$$package cannot be installed here"; \
	done
	@touch $@

# The bindings that are found first are used.
$(LIBCLANG)/.made: Makefile $(VENV)/.test
	rm -rf $(LIBCLANG)
	$(PIP) --no-deps --target $(LIBCLANG) 'libclang-ng==22.1.4.2'
	@touch $@

$(OLDER)/.made: pyproject.toml
	$(PYTHON) -m venv $(OLDER)
	$(OLDER)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(TILELANG)/.made: pyproject.toml
	$(PYTHON) -m venv $(TILELANG)
	$(TILELANG)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[export,prototype,testing,cuda,cuda-testing]' pytest hypothesis torch==2.13.0 tilelang==0.1.15
	@touch $@

$(ROCM)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(ROCM)
	$(ROCM)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,rocm]' $(ROCM_COMPILERS)
	@touch $@

$(CUTE)/.made: pyproject.toml
	$(PYTHON) -m venv $(CUTE)
	$(CUTE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]' nvidia-cutlass-dsl==4.8.1
	@touch $@

$(AARCH64)/.made: tests/aarch64/setup.sh tests/aarch64/requirements.py $(VENV)/.test
	tests/aarch64/setup.sh $(AARCH64) $(PY)
	@touch $@

# One by one: a package without a wheel for this Python or machine must not stop the others. The
# tests skip it and say so.
$(DISTRIBUTIONS)/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(DISTRIBUTIONS)
	$(DISTRIBUTIONS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	for package in $(BINDINGS); do \
	  $(DISTRIBUTIONS)/bin/python -m pip install --quiet --disable-pip-version-check $$package || echo "$$package cannot be installed here"; \
	done
	@touch $@
