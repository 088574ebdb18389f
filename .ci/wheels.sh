#!/usr/bin/env bash
# Builds the wheels of this machine, repairs and checks them, and tests them in fresh environments.
#
#   .ci/wheels.sh VENV        what `make wheel` runs; VENV has the extra `wheel` installed
#
# One wheel is for Python 3.11, one for the stable ABI of 3.12 and all later.  Interpreters are python3.X, or
# pyenv's.  A missing one is left out, and the end says so.  Wheels that also run on older systems than this
# are made by cibuildwheel, see .github/workflows/wheels.yml.
set -euo pipefail
tools=$(realpath "$1")/bin
cd "$(dirname "$0")/.."
out=$PWD/build/wheels
rm -rf "$out" && mkdir -p "$out/raw"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
missing=()
tested=()

interpreter() {
    local candidate
    for candidate in "python3.$1" "$HOME"/.pyenv/versions/"3.$1".*/bin/python; do
        if [ "$("$candidate" -c 'import sys; print(sys.version_info.minor)' 2> /dev/null)" = "$1" ]; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

for minor in 11 12; do  # the wheel of 3.12 is for all later ones
    if python=$(interpreter $minor); then
        echo "== building with $python =="
        "$python" -m pip wheel --no-deps --wheel-dir "$out/raw" .
    else
        missing+=("build: no Python 3.$minor")
    fi
done

PATH="$tools:$PATH" auditwheel repair --wheel-dir "$out" "$out"/raw/*.whl
twine=("$tools/twine" check --strict)
"${twine[@]}" "$out"/*.whl
for wheel in "$out"/*-abi3-*.whl; do "$tools/abi3audit" --strict --report "$wheel" > "$out/abi3audit.json"; done

for minor in 11 12 13; do
    if ! python=$(interpreter $minor); then
        missing+=("test: no Python 3.$minor")
        continue
    fi
    echo "== testing with $python =="
    venv=$out/venv-3.$minor
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --no-index --no-deps --find-links "$out" contree
    "$venv/bin/python" -m pip install "contree[cli]" jsonschema hypothesis pytest
    # The tests from another folder: nothing but the wheel can be imported.
    (cd "$out" && CONTREE_TEST_SCALE=${CONTREE_TEST_SCALE:-0.2} "$venv/bin/python" -m pytest -q \
        -c ../../pyproject.toml --rootdir ../.. -p no:cacheprovider \
        ../../tests/test_{classifier,kernels,json,cli_fit}.py)
    tested+=("3.$minor")
done

echo "Wheels: $(cd "$out" && ls ./*.whl | xargs)"
echo "Tested with Python: ${tested[*]:-none}"
for text in "${missing[@]}"; do echo "*** NOT DONE: $text.  Install it, for example with pyenv. ***" >&2; done
