# make demo   builds xoff, compares three schemes on a fat-tree, and prints the path of the report
# make test   every check: formatting, lints, types, tests in Rust and Python, the report in a browser
#             .venv has a build for tests then, a fifth slower than that of `make demo`
# make check  what fails most often, a minute once it is built: formatting, lints, types, each crate's own tests
# make fast   builds xoff twice, the second time guided by a profile of its own benchmarks; takes a quarter of an hour
# make docs   writes docs/reference and python/xoff/settings anew from the code
# make figures   re-runs the papers' experiments, shortened, and draws their figures for the site: ten minutes
# make site   makes the documentation a site, out/site/index.html, with the simulator for a browser if Rust comes from rustup
# make wasm   makes that simulator alone: out/wasm/release
# All need Python 3.11 or later; .venv is made here. The wheel's build fetches Rust where there is none.

SHELL := /bin/bash
.DEFAULT_GOAL := demo
.PHONY: demo fast check test built-for-tests test-rust test-python run-python docs figures site wasm wasm-for-tests browser tshark cargo clean
.DELETE_ON_ERROR:

# The toolchain may be installed without being on the path.
export PATH := $(PATH):$(HOME)/.cargo/bin

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
SOURCES := pyproject.toml Cargo.toml Cargo.lock $(shell find crates python -type f \
	-not -name '*.pyc' -not -name '*.so' -not -path '*/tests/*' 2>/dev/null)
SCHEMES := fncc hpcc dcqcn
# The demo records all that its report can show, which makes a run some four times as slow, so its traffic is 2 ms long.
DEMO := traffic.0.stop=2ms record.roots=true record.breakdown=true record.queues=all
PAPERS := fncc sqcc srcc tcd pft

demo: .venv/installed
	@for scheme in $(SCHEMES); do \
		echo "== $$scheme"; \
		$(BIN)/xoff run scenarios/fat_tree_websearch.toml -o out/demo/$$scheme --set scheme.name=$$scheme \
			$(DEMO:%=--set %) || exit; \
	done
	@echo "== report"
	@$(BIN)/xoff report $(SCHEMES:%=out/demo/%) -o $(CURDIR)/out/demo/report.html

fast: .venv/bin/python
	@command -v rustup >/dev/null || { echo "A guided build needs Rust from rustup: https://rustup.rs" >&2; exit 1; }
	rustup component add llvm-tools
	MATURIN_PGO=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch .venv/installed

# What is tested here needs no build of the package: tools and libraries of an earlier `make test` are enough.
check: cargo $(if $(wildcard $(BIN)/mypy),,.venv/installed-for-tests)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace --lib
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Two steps at a time, so that no core waits for a step that uses a single one, or for the network: first packages are fetched while
# what their last step links is compiled, then both languages are tested. Cargo builds for one of them at a time, so that nothing is
# left to build for Python's tests. The output of each step comes when it has ended.
TOGETHER := --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

test:
	@$(MAKE) $(TOGETHER) built-for-tests .venv/installed-for-tests browser tshark
	@$(MAKE) $(TOGETHER) test-rust run-python

# What the packages' last step links, and what the tests of pages load.
built-for-tests: cargo
	cargo build --quiet -p xoff-py
	@$(MAKE) --no-print-directory wasm-for-tests

test-rust: cargo
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace

test-python: wasm-for-tests
	@$(MAKE) --no-print-directory run-python

run-python: .venv/installed-for-tests browser tshark
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/stubtest --concise xoff._xoff
	$(BIN)/pytest -n auto --dist loadfile

docs: .venv/installed
	$(BIN)/python -m xoff.cli.reference docs/reference
	$(BIN)/python -m xoff.cli.settings_writer python/xoff/settings

figures: $(PAPERS:%=out/papers/%/index.html)

out/papers/%/index.html: $(SOURCES) | .venv/installed-for-figures
	$(BIN)/xoff reproduce $* --quick -o out/papers/$* > /dev/null

# Any warning, such as a link that leads nowhere, is an error.
site: .venv/installed-for-docs wasm
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --doctree-dir out/site-cache . out/site
	@echo $(CURDIR)/out/site/index.html

# The simulator for a browser, and the JavaScript that calls it. Cargo sees what has changed. Without the means the site has a page
# that says so, and the page's tests are skipped.
WASM := wasm32-unknown-unknown
wasm: PROFILE := release
wasm: OPTIONS := --release
wasm: LEVEL :=
wasm-for-tests: PROFILE := debug
# Its runs are so short that to optimize the simulator takes longer, by a minute and a half of a processor.
wasm-for-tests: LEVEL := CARGO_PROFILE_DEV_OPT_LEVEL=0
wasm wasm-for-tests:
	@if command -v rustup >/dev/null; then rustup target list --installed | grep -qx $(WASM) || rustup target add $(WASM); fi; \
	test -d "$$(rustc --print sysroot 2>/dev/null)/lib/rustlib/$(WASM)" || { \
		echo "The simulator for a browser is left out: it needs Rust's target $(WASM), which rustup adds: https://rustup.rs"; exit 0; }; \
	CARGO_PROFILE_RELEASE_DEBUG=false $(LEVEL) cargo rustc --quiet --locked -p xoff-wasm --lib --target $(WASM) $(OPTIONS) -- -D warnings && \
	cargo run --quiet --locked -p wasm-glue --features bindgen -- target/$(WASM)/$(PROFILE)/xoff_wasm.wasm out/wasm/$(PROFILE)

# uv fetches packages side by side, in half a minute what takes pip up to nine. pip does it where packages come from an index of one's
# own, which uv does not know, and where uv does not succeed. A change of the source is never taken for what uv has built before.
INSTALL = install() { \
	local pip="$(BIN)/python -m pip" of; \
	of=$$($$pip config list 2>/dev/null); \
	if [[ $$of != *index-url* ]] && $$pip install --quiet --disable-pip-version-check 'uv>=0.13,<0.14' && $(BIN)/uv pip install \
		--quiet --python $(BIN)/python --compile-bytecode --reinstall-package xoff --refresh-package xoff "$$1"; then return; fi; \
	$$pip install --quiet --disable-pip-version-check "$$1"; \
}; install

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "xoff needs Python 3.11 or later: https://www.python.org/downloads/" >&2; exit 1; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python $(SOURCES)
	@$(INSTALL) .
	@touch $@

.venv/installed-for-figures: .venv/bin/python $(SOURCES)
	@$(INSTALL) '.[plot]'
	@touch $@ .venv/installed

.venv/installed-for-docs: .venv/bin/python $(SOURCES)
	@$(INSTALL) '.[docs]'
	@touch $@ .venv/installed

# Tests take an extension of the profile that `cargo test` has, so that all libraries are compiled once: a release build takes
# five minutes more, and the tests' runs are short. What is no test builds the release again.
.venv/installed-for-tests: .venv/bin/python $(SOURCES)
	@export MATURIN_PEP517_ARGS="--profile dev"; $(INSTALL) '.[test]'
	@rm -f .venv/installed .venv/installed-for-figures .venv/installed-for-docs
	@touch $@

cargo:
	@command -v cargo >/dev/null || { echo "The Rust tests need Rust 1.88 or later with rustfmt and clippy:" >&2; \
		echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2; exit 1; }

# The report is tested in a real browser.
browser:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } || \
		{ echo "The report's test needs Chromium: install it, for instance with: sudo apt-get install chromium" >&2; exit 1; }

# Captures are tested with Wireshark's dissectors. Only one of the two is installed at a time.
tshark: | browser
	@command -v tshark >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tshark; } || \
		{ echo "The test of captures needs tshark: install it, for instance with: sudo apt-get install tshark" >&2; exit 1; }

clean:
	rm -rf .venv target out
