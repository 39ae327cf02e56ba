# The commands people type. `make help` lists them.

GO      ?= go
# Nothing here uses C, even if there is a compiler, except the race detector.
export CGO_ENABLED = 0
# A test makes little garbage, so it is collected rarely; no test takes a minute.
TEST     = GOGC=400 $(GO) test -timeout 10m $(TESTFLAGS)
# The packages with the longest tests come first, so that no core waits for them at the end. The tests of server mostly
# wait, so one package more than there are cores may run.
LONGEST := ./trade ./server ./indicators ./market
MORE    := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# The race detector needs a C compiler. With it tests are five to ten times slower, so -short leaves out repetitions
# (seeds, crash points, catalogue entries, pairs of intervals), which have all run without it. Every test runs in both.
# Few run at once: with many, an answer of the fake etcd may come later than the 2 seconds for which wick waits.
RACE    := $(shell command -v $${CC:-gcc} >/dev/null 2>&1 || command -v cc >/dev/null 2>&1 && echo -race)
LDFLAGS := -s -w -buildid=
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOSEC := github.com/securego/gosec/v2@v2.22.0
# A number of runs and not a time: with a time, the fuzzer may report its own deadline as a failure.
FUZZTIME ?= 500x

.PHONY: help run build build-core test short check fuzz bench bench-peers bench-look cover docs release sign e2e e2e-clients e2e-ship e2e-tools e2e-browser e2e-app app-test e2e-notify e2e-alpaca demo-exchange cluster e2e-cluster torture torture-broker torture-cluster torture-notify clean

help: ## list the commands
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: build ## build and serve on 127.0.0.1:9315 with the embedded defaults
	./wick --serve --trade

build: ## build the static binary ./wick
	$(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o wick .

build-core: ## build ./wick-core, without cluster, brokers, messages and page
	$(GO) build -tags core -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o wick-core .

test: ## run all tests, then with -short under the race detector where a C compiler is at hand
	$(TEST) $(MORE) $(LONGEST) ./...
	@test -n "$(RACE)" || echo "no C compiler: tested without the race detector"
	$(if $(RACE),CGO_ENABLED=1 $(TEST) -race -short -vet=off -parallel 4 $(LONGEST) ./...)

short: ## run every test once, with fewer repetitions
	$(TEST) -short $(MORE) $(LONGEST) ./...

check: ## what CI runs: formatting, vet, staticcheck, gosec, tests, benchmarks once, a short fuzz round, and what the tools at hand allow of the rest
	@fmt=$$(gofmt -l .); test -z "$$fmt" || { echo "gofmt would change: $$fmt"; exit 1; }
	$(GO) vet ./...
	GOOS=windows $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOGC=400 $(GO) run $(STATICCHECK) ./...
	$(MAKE) test TESTFLAGS=-vet=off
	$(MAKE) build-core
	$(GO) test -tags core -vet=off ./test/conversations
	# Once each, so that a change cannot break a benchmark unseen. Those of indicators are too many.
	$(GO) test -short -vet=off -run '^$$' -bench . -benchtime 1x ./archive ./chart ./delivery ./market ./mcp/... ./indicators/rules ./trade >/dev/null
	$(MAKE) fuzz FUZZTIME=$(FUZZTIME) FRESH=yes
	# The commands of the documents mostly wait, so gosec runs beside them.
	@if command -v curl >/dev/null && command -v ssh-keygen >/dev/null; then $(MAKE) -j 2 gosec docs-check; \
	else $(MAKE) gosec; echo "no curl or ssh-keygen: the commands of the documents were not run"; fi
	@if command -v node >/dev/null; then $(MAKE) app-test; else echo "no Node: the page's own functions were not tested"; fi
	@if command -v node >/dev/null && test -d e2e/node_modules; then $(MAKE) e2e-clients; else echo "no clients, which make e2e installs: none has driven the binary"; fi

fuzz: ## run every fuzz target for FUZZTIME (default 500x; a time such as 5m works too); FRESH=yes forgets what earlier runs found
	@set -e; temp=$$(mktemp -d); bin=$$temp/fuzz.test; trap 'rm -r "$$temp"' EXIT; cache=$(if $(FRESH),$$temp,$$($(GO) env GOCACHE))/fuzz; \
	for dir in $$(grep -l '^func Fuzz' $$($(GO) list -f '{{$$d := .Dir}}{{range .TestGoFiles}}{{$$d}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$d}}/{{.}} {{end}}' ./...) | xargs -n 1 dirname | sort -u); do \
		cd $$dir; pkg=$$($(GO) list); $(GO) test -c -fuzz . -o $$bin; \
		for f in $$($$bin -test.list '^Fuzz'); do \
			echo "$$pkg $$f"; $$bin -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzztime $(FUZZTIME) -test.fuzzcachedir $$cache/$$pkg; \
		done; done

bench: ## run the benchmarks of our own packages
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers: build ## compare with other projects in one run (downloads them; needs wrk, and Python for two of them; about ten minutes)
	cd bench && for program in indicators rules chart http stdio sse e2e; do \
		echo; echo "== $$program"; $(GO) run ./$$program $$(case $$program in http|stdio|e2e) echo -wick ../wick;; esac) || exit 1; done
	$(MAKE) bench-look

bench-look: build ## the same bars drawn by wick and others on one page (needs Node, Chromium; Python's mplfinance for one more)
	cd bench/look && npm install --no-package-lock --no-audit --no-fund >/dev/null && node run.mjs ../../wick

cover: ## statement coverage per package
	$(GO) test -cover ./...

e2e: build ## drive the binary with real clients (needs Node 20, Python 3.11, and make e2e-tools once; half an hour or more)
	@echo "installing into e2e/node_modules, e2e/browser/node_modules and e2e/app/node_modules, from the npm registry:"
	@node -p "Object.entries({...require('./e2e/package.json').dependencies, ...require('./e2e/browser/package.json').dependencies, ...require('./e2e/app/package.json').dependencies}).map(e => '    ' + e.join(' ')).join('\n')"
	@echo "and Go modules, at the versions of e2e/goclients/go.mod; Python's clients and the agents, at those of"
	@echo "e2e/python.mjs and e2e/agents.mjs, into ~/.cache/wick-e2e (2.5 GB, which takes a while the first time)"
	cd e2e && npm install --no-package-lock --no-audit --no-fund
	cd e2e/browser && npm install --no-package-lock --no-audit --no-fund
	cd e2e/app && npm install --no-package-lock --no-audit --no-fund
	cd e2e && WICK_BIN=../wick node run.mjs

e2e-clients: build ## the part of e2e that needs neither a browser nor Python, and three minutes (needs what make e2e installs)
	cd e2e && WICK_BIN=../wick node run.mjs walks conformance eras

e2e-ship: release ## walk through what make release made: bundle, packages, image, source, each from nothing (needs root and make e2e-tools)
	cd e2e && npm install --no-package-lock --no-audit --no-fund
	cd e2e && node run.mjs bundle registry manual deb rpm container source

e2e-tools: ## install Debian's packages for make e2e and make e2e-ship (needs root)
	apt-get install -y --no-install-recommends chromium nginx caddy haproxy openssl curl \
		debootstrap systemd-container lintian rpm skopeo buildah podman man-db bash zsh fish python3-venv

docs: ## make docs/indicators.md, docs/gallery.md, their pictures, those of docs/trading.md and the contact sheet anew
	$(GO) run ./cmd/docs
	$(GO) run ./cmd/contactsheet

e2e-alpaca: ## let Alpaca's own Go client speak to the fake that wick's broker is tested with (downloads it)
	cd e2e/alpaca && $(GO) test ./...

demo-exchange: ## serve fakes of the data services on 127.0.0.1:9317 and print the settings
	$(GO) run ./cmd/demo-exchange

CHROMIUM ?= /usr/bin/chromium
e2e-browser: build ## drive the consent page in a real Chromium (needs Node 20 and Chromium; installs playwright-core)
	@command -v node >/dev/null || { echo "e2e-browser needs Node 20 or later"; exit 1; }
	@test -x $(CHROMIUM) || { echo "e2e-browser needs Chromium: install it, or name it with CHROMIUM=/path"; exit 1; }
	@echo "installing playwright-core, at the version of e2e/browser/package.json, into e2e/browser/node_modules"
	cd e2e/browser && npm install --no-package-lock --no-audit --no-fund
	cd e2e/browser && CHROMIUM=$(CHROMIUM) node run.mjs

app-test: ## test the page's own functions (needs Node 20, and nothing else)
	@command -v node >/dev/null || { echo "app-test needs Node 20 or later"; exit 1; }
	node --test app/test

e2e-app: build ## drive the owner's page and the chart for chats in a real Chromium (needs Node 20 and Chromium; installs from npm)
	@command -v node >/dev/null || { echo "e2e-app needs Node 20 or later"; exit 1; }
	@test -x $(CHROMIUM) || { echo "e2e-app needs Chromium: install it, or name it with CHROMIUM=/path"; exit 1; }
	@echo "installing into e2e/app/node_modules, at the versions of e2e/app/package.json"
	cd e2e/app && npm install --no-package-lock --no-audit --no-fund
	cd e2e/app && CHROMIUM=$(CHROMIUM) node run.mjs

KILLS ?= 300
torture: ## kill the binary KILLS times (default 300) under load, with logins that end after 40 seconds instead of 7 days, and check what it remembers
	scripts/short-week bin/wick-short-week
	$(GO) build -o bin/torture ./cmd/torture && scripts/torture bin/torture -wick bin/wick-short-week -kills $(KILLS)

cluster: build ## start three replicas and three etcd members on this machine, for trying (needs etcd-server)
	scripts/cluster ./wick

FAULTS ?= 240
torture-cluster: build ## kill, pause and cut off three replicas and three etcd members FAULTS times under load (needs etcd-server; about half an hour)
	$(GO) run ./cmd/torture -cluster -wick ./wick -kills $(FAULTS) -clients 4 -history /tmp/wick-history.jsonl
	cd e2e/cluster && $(GO) run . /tmp/wick-history.jsonl

torture-broker: build ## kill the binary KILLS times while its orders go to a fake of Alpaca, and compare its book with the venue's (about 4 s a kill)
	$(GO) run ./cmd/torture -wick ./wick -broker -clients 3 -kills $(KILLS)

e2e-cluster: build ## run a replica against a guarded etcd and a full one (needs etcd-server and etcd-client)
	cd e2e/cluster && WICK_BIN=$(CURDIR)/wick $(GO) test -count=1 ./guarded

torture-notify: build ## kill the binary 50 times in the middle of firings to four destinations
	$(GO) run ./cmd/torture -wick ./wick -notify -kills 50

e2e-notify: build ## send messages to Gotify, mail servers and a webhook verifier (needs Node 20 and openssl)
	cd e2e/notify && npm install --no-package-lock --no-audit --no-fund
	cd e2e/notify && WICK_BIN=../../wick node run.mjs

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
VERSION   := $(shell sed -n 's/^const version = "\(.*\)"/\1/p' server/version.go)

REVISION  ?= $(shell git rev-parse HEAD 2>/dev/null)
MAINTAINER ?= wick <wick@example.com>
CA_BUNDLE ?= /etc/ssl/certs/ca-certificates.crt
release: ## build dist/: binaries, packages, the desktop bundle, the image, recipes, bill of materials, provenance, checksums
	rm -rf dist && mkdir dist
	@set -e; for p in $(PLATFORMS); do os=$${p%/*}; arch=$${p#*/}; ext=; test $$os = windows && ext=.exe; \
		echo $$p; GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o dist/wick-$(VERSION)-$$os-$$arch$$ext .; done
	$(GO) run ./cmd/sbom $(VERSION) dist/wick-* > dist/wick-$(VERSION).cdx.json
	$(GO) run ./cmd/release -version $(VERSION) -revision '$(REVISION)' -maintainer '$(MAINTAINER)' -ca $(CA_BUNDLE)
	@cd dist && wc -c *

sign: ## sign dist/SHA256SUMS with the owner's SSH key, KEY=~/.ssh/id_ed25519
	@test -n "$(KEY)" || { echo "name the key: make sign KEY=~/.ssh/id_ed25519"; exit 1; }
	rm -f dist/SHA256SUMS.sig && ssh-keygen -Y sign -n file -f $(KEY) dist/SHA256SUMS

repro: ## make the release twice, in two directories with two caches, and compare every byte
	scripts/repro

vuln: ## look for known vulnerabilities; VULNDB=/path/to/db uses a database on disk
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.1.4 $(if $(VULNDB),-db file://$(abspath $(VULNDB))) ./...

gosec: ## static analysis for security; docs/audit.md has the exceptions
	GOSEC=$(GOSEC) scripts/gosec

rootfs: build ## lay out the files of the container image in dist/rootfs
	rm -rf dist/rootfs && install -d dist/rootfs/etc/ssl/certs && install -d -m 0700 dist/rootfs/data
	install -m 0755 wick dist/rootfs/wick
	install -m 0644 $(CA_BUNDLE) dist/rootfs/etc/ssl/certs/ca-certificates.crt

image: release ## load the container image of make release and try it with podman
	scripts/image

deploy-check: build ## parse and judge the files in deploy/
	scripts/deploy-check

SOAK_TIME ?= 1h
flood: build ## all that strangers and a greedy client can do at once, against ./wick on loopback; others and the login must go on
	$(GO) build -o bin/load ./cmd/load && WICK_PASSPHRASE='many strangers at one door' scripts/with-wick bin/load flood

soak: build ## mixed load for SOAK_TIME (default 1h); fails if memory, descriptors or goroutines grow
	$(GO) build -o bin/load ./cmd/load && WICK_PASSPHRASE='an hour of mixed load' scripts/with-wick bin/load soak --time $(SOAK_TIME)

docs-check: build ## run the commands of README.md and docs/ against ./wick
	scripts/docs-check

clean: ## remove what the build made
	rm -rf wick wick-core dist bin
