# The commands people type. `make help` lists them; scripts/ has what is typed rarely.

GO      ?= go
# Go before 1.21 cannot read go.mod and complains about its form; from then on Go fetches the version that go.mod names.
ENOUGH   = $(if $(shell $(GO) version 2>/dev/null | grep -E 'go(1\.(2[1-9]|[3-9][0-9])|[2-9])'),,$(error wick needs Go 1.26, and "$(GO)" is \
	$(shell $(GO) version 2>&1 | head -n 1): get it from https://go.dev/dl and say where it is, as in make run GO=/usr/local/go/bin/go))
# Nothing here uses C, even if there is a compiler, except the race detector.
export CGO_ENABLED = 0
# A test makes little garbage, so it is collected rarely; no test takes a minute.
TEST     = $(ENOUGH)GOGC=400 $(GO) test -timeout 10m $(TESTFLAGS)
# The packages with the longest tests come first, so that no core waits for them at the end. The tests of server mostly
# wait, so one package more than there are cores may run.
LONGEST := ./trade ./server ./indicators ./market
PACKAGES = ./...
MORE    := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
BUILD    = $(ENOUGH)$(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid='

.PHONY: help run build build-core test check fuzz bench docs demo e2e torture release clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## build and serve on 127.0.0.1:9315 with the embedded defaults
	./wick --serve --trade

build: ## build the static binary ./wick
	$(BUILD) -o wick .

build-core: ## build ./wick-core, without cluster, brokers, messages and page
	$(BUILD) -tags core -o wick-core .

test: ## run all tests
	$(TEST) $(MORE) $(LONGEST) $(PACKAGES)

check: ## what CI runs: formatting, vet, staticcheck, gosec, tests with and without the race detector, benchmarks once, a short fuzz round, and what the tools at hand allow of the rest
	scripts/check

fuzz: ## run every fuzz target for FUZZTIME (default 500x; a time such as 5m works too); FRESH=yes forgets what earlier runs found
	scripts/fuzz

bench: ## run the benchmarks of our own packages; scripts/bench compares with others
	$(GO) test -run '^$$' -bench . -benchmem ./...

docs: ## make docs/indicators.md, docs/gallery.md, their pictures, those of docs/trading.md and the contact sheet anew
	$(GO) run ./release/docs
	$(GO) run ./release/contactsheet

demo: build ## walk through login, chart, order and alert with built-in data, and make the pictures of README anew (needs Node 20 and chromium)
	cd test/e2e/app && { test -d node_modules || npm install --no-audit --no-fund; } && node demo.mjs

e2e: ## drive the binary with real clients (needs Node 20, Python 3.11, and scripts/e2e tools once; half an hour or more)
	scripts/e2e all

torture: ## kill the binary KILLS times (default 300) under load, with logins that end after 40 seconds instead of 7 days, and check what it remembers
	scripts/torture single

release: ## build dist/: binaries, packages, the desktop bundle, the image, recipes, bill of materials, provenance, checksums
	scripts/release

clean: ## remove what the build made
	rm -rf wick wick-core dist bin
