#!/bin/sh
# Builds the Rust handlers as components and reports where they are and how large. With --all also those in C.
# The components land in $CARGO_TARGET_DIR (default plugins/target)/wasm32-wasip2/release/<name>.wasm, with `_` for `-`.
set -eu
cd "$(dirname "$0")"

target="${CARGO_TARGET_DIR:-$PWD/target}"
handlers="payments wallet shipments probe bench-blind bench-payment conformance-rust"

if ! rustc --print target-libdir --target wasm32-wasip2 2>/dev/null | xargs test -d; then
    echo "build.sh: the Rust target wasm32-wasip2 is not installed; run: rustup target add wasm32-wasip2" >&2
    exit 1
fi

packages=""
for name in $handlers; do packages="$packages -p $name"; done
# shellcheck disable=SC2086  # one word per option is meant
cargo build --locked --release --target wasm32-wasip2 $packages

for name in $handlers; do
    file="$target/wasm32-wasip2/release/$(echo "$name" | tr - _).wasm"
    printf '%-17s %4d KiB  %s\n' "$name" "$(($(wc -c < "$file") / 1024))" "$file"
done

if [ "${1:-}" = "--all" ]; then
    CARGO_TARGET_DIR="$target" ./sdk-c/build.sh ../c-audit/audit.c=c-audit ../conformance/c/conformance.c=conformance_c
fi
