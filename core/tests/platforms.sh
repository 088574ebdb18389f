#!/usr/bin/env bash
# Builds the core with other compilers, warnings as errors, and runs its tests, emulated where needed.
#
#   core/tests/platforms.sh cmake-options...          what `make test-platforms` runs
#
# Debian's compilers serve.  A platform whose programs are missing is left out, and the end says so.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CONTREE_TEST_SCALE=${CONTREE_PLATFORM_SCALE:-0.05} WINEDEBUG=-all WINEPREFIX=$PWD/build/platforms/wine
unset CONTREE_KERNEL
options=("$@")
tested=()
missing=()

# test_platform name "programs" "Debian packages" cmake-options...
test_platform() {
    local name=$1 program folder=build/platforms/$1
    for program in $2; do
        if ! command -v "$program" > /dev/null; then
            missing+=("$name (no $program): apt-get install --no-install-recommends $3")
            return
        fi
    done
    echo "== $name =="
    cmake -S . -B "$folder" -G Ninja -DCONTREE_BUILD_TESTS=ON "${options[@]}" "${@:4}"
    cmake --build "$folder" -j"${JOBS:-2}"
    ctest --test-dir "$folder" --output-on-failure -j"${JOBS:-2}"
    tested+=("$name")
}

# The oldest clang and libc++ that serve: what Xcode 15 has.
clang=clang++-16
test_platform clang "$clang" "clang-16 libc++-16-dev libc++abi-16-dev" \
    -DCMAKE_CXX_COMPILER=$clang -DCMAKE_CXX_FLAGS=-stdlib=libc++

test_platform aarch64 "aarch64-linux-gnu-g++ qemu-aarch64" "g++-aarch64-linux-gnu qemu-user" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
    "-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64;-L;/usr/aarch64-linux-gnu"

# The posix flavour has std::thread.
test_platform mingw "x86_64-w64-mingw32-g++-posix wine" "g++-mingw-w64-x86-64-posix wine wine64" \
    -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_CXX_COMPILER=x86_64-w64-mingw32-g++-posix \
    -DCMAKE_EXE_LINKER_FLAGS=-static -DCMAKE_CROSSCOMPILING_EMULATOR=wine

echo "Platforms tested: ${tested[*]:-none}"
for text in "${missing[@]}"; do echo "*** NOT TESTED: $text ***" >&2; done
