# What one does with Pawl. Only make is needed beforehand: targets install what they miss and say so.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

COUNT ?= 400
MINUTES ?= 3
SEED ?= $(shell date +%s)
SHARES ?=
REFERENCE ?= $(wildcard ../shared/bench)
PREFIX ?= /usr/local

ORACLE := build/dev/tests/calendar/recurrence_oracle
# ctest says how many tests passed before it says how long they took; here it comes last.
CLOSING_LINE_LAST := sed -u '/tests passed, .* failed out of/{h;d};$$G'

.PHONY: help run tour pipe-demo install components test test-more test-time mutants soak bench bench-10m lint format fuzz clean

help:  ## Print this help
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

run:  ## Build Pawl and serve the machines in machines/, with data in ./pawl-data
	@scripts/setup.sh build
	@scripts/build.sh dev pawl
	@scripts/run.sh

tour:  ## Build Pawl and show what it does with machine files
	@scripts/setup.sh build
	@scripts/build.sh dev pawl
	@scripts/tour.sh

pipe-demo:  ## Run a pipe between a real Kafka and OpenSearch, kill all three, and show that nothing is lost
	@scripts/pipe_demo.sh

install:  ## Install the program, the library and its headers under PREFIX (/usr/local)
	@scripts/setup.sh build
	@scripts/build.sh release pawl pawl_embedded
	@cmake --install build/release --prefix $(PREFIX)

components:  ## Install the Kafka, OpenSearch and Elasticsearch that the tests use (make test needs the first two)
	@scripts/setup.sh pipe
	@tests/components/kafka.sh install
	@tests/components/search.sh install
	@SEARCH_ENGINE=es8 tests/components/search.sh install

test:  ## Build and run every test that needs no second build
	@scripts/setup.sh build pipe
	@tests/components/kafka.sh install
	@tests/components/search.sh install
	@scripts/build.sh dev
	@ctest --preset dev -j3 --no-tests=error 2>&1 | $(CLOSING_LINE_LAST)

test-more:  ## Run the other tests within 45 minutes: headers, sanitizers, Clang, mutants, fuzzing, random runs (SHARES="fuzz rules" for some)
	@scripts/setup.sh build more
	@scripts/test_more.sh $(SHARES)

test-time:  ## Check recurrences and time zones against two independent implementations (SEED=n repeats a run)
	@scripts/setup.sh build
	@SEED=$(SEED) scripts/simulation.sh --rules 200000
	@$(ORACLE) --zones
	@$(ORACLE) --dump 20000 --seed $(SEED) | /usr/bin/python3 tests/calendar/dateutil_oracle.py

mutants:  ## Break COUNT (400) rules of src/decide and src/policy; the tests must detect 90 % of them (SEED=n)
	@scripts/setup.sh build more
	@scripts/mutants/run.py --count $(COUNT) --seed $(SEED)

soak:  ## Like test-more, but with the full counts, however long that takes
	@scripts/setup.sh build more
	@scripts/test_more.sh --full $(SHARES)

bench:  ## Benchmark the release build (REFERENCE=DIR: the bare loop to compare store and engine with)
	@scripts/setup.sh build more
	@cmake --preset bench >/dev/null
	@scripts/build.sh release
	@scripts/bench.sh
	@bench/store_rounds.py build/release/bench $(REFERENCE)
	@bench/engine_bench.py build/release/pawl $(REFERENCE)
	@bench/http_bench.py build/release/pawl build/release/bench/http_load
	@scripts/setup.sh pipe rsyslog
	@scripts/build.sh dev topic_tool
	@bench/pipe_bench.py build/release/pawl build/dev/tests/components/topic_tool $(REFERENCE)

bench-10m:  ## Measure how long it takes to open a store of ten million records, and how much memory
	@scripts/setup.sh build more
	@cmake --preset bench >/dev/null
	@scripts/build.sh release store_loop
	@bench/store_rounds.py build/release/bench --sleeping 10000000

lint:  ## Check formatting, files that no build names, and clang-tidy findings in code changed since LINT_SINCE (the last tag)
	@scripts/setup.sh build more
	@scripts/lint.sh

format:  ## Format all sources in place
	@scripts/setup.sh more
	@find $(wildcard bench examples fuzz include src tests) -name '*.h' -o -name '*.cc' | xargs clang-format -i

fuzz:  ## Fuzz every target, for MINUTES (3) in total
	@scripts/setup.sh build more
	@scripts/fuzz.sh --minutes $(MINUTES)

clean:  ## Remove all build output
	@rm -rf build
