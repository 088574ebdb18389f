# The habits of this project, one command each.  Every target sets up by itself what it
# needs in .venv; a machine needs Python 3.11 or newer, a C++20 compiler and make.
#
#   make demo       fit a tree, print it beside CART's
#   make test       Python and C++ tests, about five minutes; also test-python, test-cpp
#   make test-long  ten times as many random cases, both sanitizers, every kernel, other platforms
#   make test-platforms  C++ tests with clang, on emulated arm64 and Windows, where Debian's compilers are
#   make lint       check the style: ruff, clang-format, clang-tidy; make format applies what it can
#   make types      the types, with mypy
#   make asan       C++ tests under AddressSanitizer and UBSan      make tsan   ThreadSanitizer
#   make asan-quick some of them, for continuous integration
#   make docs       the documentation site, about three minutes; result in build/docs/html/
#   make bench      all experiments, a small set of each, about ten minutes; results in build/bench/
#   make wheel      wheels of this machine, checked and tested; result in build/wheels/
#   make clean      forget everything built
#
# Another interpreter: make clean && make test PYTHON=python3.12

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CMAKE  := $(BIN)/cmake
CTEST  := $(BIN)/ctest --output-on-failure -j $(JOBS) --test-dir

# What the installed package is made of; a change in any of these reinstalls it.
SOURCES := pyproject.toml README.md LICENSE CMakeLists.txt \
           $(shell find core bindings src -type f \( -name '*.[ch]pp' -o -name '*.h' -o -name '*.inl' \
                   -o -name '*.py' -o -name '*.js' -o -name '*.css' -o -name py.typed \
                   -o -name CMakeLists.txt \) -not -path '*/tests/*' 2>/dev/null)

FIND_CPP := find core bindings -name '*.[ch]pp' -o -name '*.inl'

# Installs a list of requirements, read from the one place where it stands.
define install
	@$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); print(*p$(1), sep='\n')" > $@.txt
	$(PIP) -r $@.txt $(2)
	@touch $@
endef

# Those that there are: each runs a small set with --quick.
EXPERIMENTS := $(basename $(notdir $(wildcard $(addprefix benchmarks/,$(addsuffix .py,peers deep anytime \
               out_of_sample baselines pruning scaling distributed sparse general categorical regression)))))

.PHONY: demo test test-python test-long test-cpp test-platforms lint types format asan asan-quick tsan docs docs-links bench wheel clean
.DELETE_ON_ERROR:

demo: $(VENV)/.package $(VENV)/.cli
	$(BIN)/contree demo

test: test-python test-cpp

test-python: $(VENV)/.package $(VENV)/.cli $(VENV)/.test $(VENV)/.test-tools
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

test-cpp: $(VENV)/.tools
	$(call cpp_tests,build/tests,)

asan: $(VENV)/.tools
	$(call cpp_tests,build/asan,-DCONTREE_SANITIZE=address$(comma)undefined)

# Those that reach most of the core in little time.
asan-quick: $(VENV)/.tools
	$(call cpp_tests,build/asan,-DCONTREE_SANITIZE=address$(comma)undefined,test_simplify test_memory \
	    test_row_set test_tree test_frontier test_kernels test_squared_error test_fit_oracle)

tsan: $(VENV)/.tools
	$(call cpp_tests,build/tsan,-DCONTREE_SANITIZE=thread)

# Says which compilers and emulators are missing, and how to install them.
test-platforms: $(VENV)/.tools
	PATH="$(abspath $(BIN)):$$PATH" JOBS=$(JOBS) core/tests/platforms.sh

# The kernels that this machine cannot run are left out.
test-long:
	CONTREE_TEST_SCALE=10 $(MAKE) test
	$(MAKE) asan tsan test-platforms
	for kernel in $$($(BIN)/python -c 'from contree import _core; print(*_core.kernels())'); do \
	    echo "CONTREE_KERNEL=$$kernel"; CONTREE_KERNEL=$$kernel $(CTEST) build/tests || exit 1; \
	done

# Every file of the core compiles with the same flags, so clang-tidy gets them here and needs no build.
lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.citation-file-format CITATION.cff
	$(FIND_CPP) | xargs $(BIN)/clang-format --dry-run -Werror
	find core/src -name '*.cpp' | \
	    xargs -P $(JOBS) -I{} $(BIN)/clang-tidy --quiet {} -- -std=c++20 -Icore/include -Icore/src

# The types of the package as it is installed, with the stub of the core.
types: $(VENV)/.package $(VENV)/.cli $(VENV)/.lint
	cd build && $(abspath $(BIN))/mypy --config-file ../pyproject.toml -p contree

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(FIND_CPP) | xargs $(BIN)/clang-format -i

# Warnings are errors: a broken link inside the site, an example that fails, a name that is not there.
docs: $(VENV)/.package $(VENV)/.cli $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -j $(JOBS) -d build/docs/doctrees -b html docs build/docs/html
	@echo "build/docs/html/index.html"

# The links that leave the site; needs the network.
docs-links: docs
	$(BIN)/sphinx-build -W --keep-going -q -d build/docs/doctrees -b linkcheck docs build/docs/links

bench: $(VENV)/.package $(VENV)/.bench
	$(foreach script,$(EXPERIMENTS),$(BIN)/python benchmarks/$(script).py --quick &&) \
	    $(BIN)/python benchmarks/report.py --quick

wheel: $(VENV)/.wheel
	.ci/wheels.sh $(VENV)

clean:
	rm -rf $(VENV) build docs/auto .pytest_cache .ruff_cache .hypothesis

comma := ,
space := $(subst ,, )

# A build folder, options of CMake, and the tests to run: without any, all.

define cpp_tests
	$(CMAKE) -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) -DCONTREE_BUILD_TESTS=ON $(2)
	$(CMAKE) --build $(1) -j$(JOBS) $(addprefix --target ,$(3))
	$(CTEST) $(1) $(if $(3),-R "^($(subst $(space),|,$(strip $(3))))$$")
endef

# Stamps: each is newer than what it was made from.

$(VENV)/.ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "contree needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.ready
	$(call install,['build-system']['requires'],cmake ninja)

# No build isolation and a build folder that stays: only what changed is compiled again.
$(VENV)/.package: $(SOURCES) $(VENV)/.tools
	PATH="$(abspath $(BIN)):$$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) \
	    $(PIP) --no-build-isolation -Cbuild-dir=build/package .
	@touch $@

$(VENV)/.cli $(VENV)/.test $(VENV)/.docs $(VENV)/.bench $(VENV)/.lint $(VENV)/.wheel: $(VENV)/.%: pyproject.toml $(VENV)/.ready
	$(call install,['project']['optional-dependencies']['$*'])

# One by one, because a tool that cannot be installed must not keep the others away, nor the tests;
# and nothing that is installed already may change its version for a tool's sake.
$(VENV)/.test-tools: pyproject.toml $(VENV)/.cli $(VENV)/.test
	@$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	    print(*p['project']['optional-dependencies']['test-tools'], sep='\n')" > $@.txt
	@$(BIN)/python -m pip freeze --exclude contree > $@.installed.txt
	@while read -r tool; do \
	    echo "installing $$tool"; $(PIP) --retries 1 -c $@.installed.txt "$$tool" || \
	    echo "*** NOT INSTALLED: $$tool; the tests that need it will be skipped ***" >&2; \
	done < $@.txt
	@touch $@
