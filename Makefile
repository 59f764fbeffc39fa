# `make demo` and `make test` are all that a newcomer needs; both install or name what is missing.

SHELL := /bin/bash
CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
PLUGINS := $(CARGO_TARGET_DIR)/plugins
# wasm-tools, where setup had to bring it.
export PATH := $(PATH):$(CARGO_TARGET_DIR)/tools/bin

.PHONY: help setup plugins build demo test test-newest lint deny soak bench bench-smoke bench-build

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

setup: ## check for what is needed, and install it or print the command
	@scripts/setup

plugins: setup ## build the example handlers as WebAssembly components
	@CARGO_TARGET_DIR=$(PLUGINS) plugins/build.sh --all

build: setup ## build the host: target/debug/wonce (for production: cargo build --release -p wonce-host)
	cargo build -p wonce-host -p wonce-demo

demo: build plugins ## one command: a host, its handlers, a stream of troublesome events, the proof
	@scripts/demo

test: plugins ## every test, on a Postgres that the run starts itself
	@scripts/setup test
	cargo build --workspace --all-targets
	$(CARGO_TARGET_DIR)/debug/with-postgres cargo test --workspace --no-fail-fast
	cd plugins && CARGO_TARGET_DIR=$(PLUGINS) cargo test --workspace

test-newest: plugins ## every test, on the newest Postgres: scripts/newest-postgres brings it into a cache folder
	@scripts/setup test
	cargo build --workspace --all-targets
	export WONCE_PG_BIN="$$(scripts/newest-postgres)" && "$$WONCE_PG_BIN/postgres" --version && \
		$(CARGO_TARGET_DIR)/debug/with-postgres cargo test --workspace --no-fail-fast

lint: ## formatting, clippy and documentation, as CI checks them
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cd plugins && cargo fmt --all --check && CARGO_TARGET_DIR=$(PLUGINS) cargo clippy --workspace --all-targets -- -D warnings

DENY ?= advisories licenses bans sources
deny: ## the dependencies: known faults, licences, sources (needs cargo-deny; DENY="licenses bans sources" works offline)
	cargo deny --locked check --hide-inclusion-graph $(DENY)
	cargo deny --locked --manifest-path plugins/Cargo.toml --config deny.toml check --hide-inclusion-graph $(DENY)

soak: plugins ## the long runs, about 15 minutes: many kills; memory and dead rows under a long load
	cargo build --workspace --all-targets
	WONCE_SOAK=1 $(CARGO_TARGET_DIR)/debug/with-postgres cargo test --workspace --test crash -- --nocapture soak
	cargo build --release -p wonce-host
	WONCE_SOAK=1 WONCE_TEST_PROGRAM=$(CARGO_TARGET_DIR)/release/wonce \
		$(CARGO_TARGET_DIR)/debug/with-postgres cargo test --workspace --test soak -- --nocapture soak

bench: bench-build ## wonce, hand-written consumers and pgbench in turn: the table, bench/report.json, bench/drain.svg
	$(CARGO_TARGET_DIR)/release/wonce-bench $(BENCH_FLAGS)

bench-smoke: bench-build ## the two figures that guard a change, in under two minutes; fails when they are bad
	$(CARGO_TARGET_DIR)/release/wonce-bench --quick

bench-build: plugins
	@scripts/setup bench
	cargo build --release -p wonce-host -p wonce-bench
