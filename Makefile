# make run    a real job on a private virtual desk, with pictures as evidence
# make test   everything that must hold before a change goes in
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export PATH := $(HOME)/.cargo/bin:$(PATH)

.PHONY: run test lint gen bench clean help setup build

run: ## Build, then do a real job on a private virtual desk (DESK=here: on your own display)
	@scripts/setup --run
	@cargo build --release --locked --bins -p deskhand-cli -p deskhand-host -p deskhand-desk
	@scripts/demo

test: ## Format, lints, tidy, generated files, all tests with real applications
	@scripts/setup --test
	@scripts/test

lint: ## Format, lints, tidy and generated files only
	@scripts/setup --test
	@scripts/test --lint

gen: ## Write schemas/ and docs/reference/ anew
	@cargo xtask gen

bench: ## Measure against peers, as ratios in one run (ROWS=click,idle: only those)
	@scripts/setup --bench
	@cargo xtask bench desktop $(if $(ROWS),--only $(ROWS))

build: ## The finished programs, in target/release
	@scripts/setup --run
	@cargo build --release --locked --bins -p deskhand-cli -p deskhand-host -p deskhand-desk

setup: ## Install what is missing
	@scripts/setup

clean: ## Remove what was built and the evidence of `make run`
	@cargo clean
	@rm -rf artifacts

help: ## This list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | sort | while IFS=$$'\t' read -r name text; do printf '  make %-7s %s\n' "$$name" "$$text"; done
