# What there is to run. Every target works on a fresh checkout; docs/testing.md
# says what each takes and needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
GOBUILD := CGO_ENABLED=0 go
BUILDFLAGS := -trimpath -ldflags '-s -w'

comma := ,

.PHONY: help
help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: build
build: ## Build bin/laketap and bin/laketap-lake
	@mkdir -p bin
	$(GOBUILD) build $(BUILDFLAGS) -o bin/laketap ./cmd/laketap
	$(GOBUILD) -C cmd/laketap-lake build $(BUILDFLAGS) -o ../../bin/laketap-lake .

.PHONY: demo
demo: build ## Try it: TPC-H on a local lake through real engines (ENGINES=all adds Spark and Trino)
	@test/engines/setup demo $(filter-out duckdb pyiceberg,$(subst $(comma), ,$(ENGINES)))
	bin/laketap demo $(if $(ENGINES),--engines=$(ENGINES))

.PHONY: test
test: ## Everything CI runs
	@tools/test

.PHONY: unit
unit: ## Unit tests of all modules
	@tools/unit

.PHONY: race
race: ## Unit tests of all modules under the race detector
	@tools/unit -race

.PHONY: lint
lint: ## The linter over all modules
	@tools/lint

.PHONY: fmt
fmt: ## Format all modules
	@tools/lint fmt

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME (5s) each
	@tools/fuzz $(or $(FUZZTIME),5s)

.PHONY: fuzz-long
fuzz-long: ## Fuzz every target (RUN=folder for some) for FUZZTIME (30m) each
	@tools/fuzz $(or $(FUZZTIME),30m) $(RUN)

.PHONY: bench-lake
bench-lake: ## The readers of the lake beside the libraries they replace; lines end in ok or short
	@failed=0; for reader in parquet iceberg; do go -C lake/$$reader/oracletest run ./bench || failed=1; done; exit $$failed

.PHONY: bench-pass
bench-pass: build ## What the storage tap adds to a read that it passes on; lines end in ok or short
	@go -C test build -o $(CURDIR)/bin/bench-pass ./bench/pass
	bin/bench-pass

.PHONY: bench-catalog
bench-catalog: build ## What the catalog tap adds to a LoadTable and a commit; lines end in ok or short
	@go -C test build -o $(CURDIR)/bin/bench-catalog ./bench/catalog
	bin/bench-catalog

.PHONY: bench-hit
bench-hit: build ## What a repeated read costs, beside nginx and Varnish; lines end in ok or short
	@command -v nginx varnishd >/dev/null || PATH=$$PATH:/usr/sbin command -v nginx varnishd >/dev/null || { \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends nginx varnish; } >&2
	@go -C test build -o $(CURDIR)/bin/bench-hit ./bench/hit
	bin/bench-hit

.PHONY: bench-observe
bench-observe: build ## What observing costs a repeated read; lines end in ok or short
	$(GOBUILD) build $(BUILDFLAGS) -tags unobserved -o bin/laketap-unobserved ./cmd/laketap
	@go -C test build -o $(CURDIR)/bin/bench-observe ./bench/observe
	bin/bench-observe

.PHONY: bench-cold
bench-cold: build ## What a first read costs through the cache; lines end in ok or short
	@go -C test build -o $(CURDIR)/bin/bench-cold ./bench/cold
	bin/bench-cold

.PHONY: bench-second
bench-second: build ## What one engine's run saves the next one; lines end in ok or short
	@test/engines/setup spark
	@set -o pipefail; go -C test test -tags bench -count=1 -timeout 30m -run TestBenchSecond -v ./bench/second | grep -v '^[=-]'

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what is called (network)
	@for m in $$(tools/modules); do echo "$$m"; go -C $$m run -modfile=$(CURDIR)/tools/go.mod golang.org/x/vuln/cmd/govulncheck ./... || exit 1; done

.PHONY: footprint
footprint: build ## Check the size of bin/laketap and the cost of its start
	@tools/footprint

.PHONY: engines
engines: ## Install the engines that the end-to-end tests run
	@test/engines/setup e2e

.PHONY: e2e
e2e: build engines ## End-to-end tests: real engines, a real lake, real processes (RUN=regexp for some)
	go -C test test -p 1 -count=1 -timeout 60m $(if $(RUN),-run '$(RUN)' -v) ./...

.PHONY: e2e-long
e2e-long: build ## The end-to-end tests that CI has no time for: engines on more catalogs (RUN=regexp for some)
	@test/engines/setup all
	go -C test test -count=1 -timeout 120m -tags long -run '$(or $(RUN),^TestLong)' -v ./...

.PHONY: restdiff
restdiff: build engines ## Iceberg's own catalog tests on four catalogs, directly and through Laketap; the last line counts
	@go -C test test -c -o ../bin/restdiff.test ./restdiff
	@cd test/restdiff && ../../bin/restdiff.test -test.v -test.run SameVerdicts -test.timeout 2h -whole

.PHONY: memory-long
memory-long: ## 10 M observations over 90 days: what the memory takes, and how fast it answers
	@go test -tags long -count=1 -timeout 60m -run '^TestLongMemory$$' -v ./remember

.PHONY: test-long
test-long: restdiff e2e-long memory-long ## What takes too long for CI

.PHONY: bench-evict
bench-evict: ## How near the cache's order comes to the best there is, beside other policies
	@set -o pipefail; go test -tags bench -count=1 -run TestBenchEvict -v ./reuse/block | grep -v '^[=-]'

.PHONY: s3diff
s3diff: build ## A public S3 suite directly and through the storage tap: the same verdicts
	@test/engines/setup versitygw
	@for mode in observe accelerate; do \
	  S3DIFF_MODE=$$mode S3DIFF_SUMMARY=$(CURDIR)/bin/s3diff-$$mode.txt go -C test test -tags long -count=1 -timeout 30m -run TestVerdicts ./s3diff || exit 1; \
	done
	@cat bin/s3diff-observe.txt bin/s3diff-accelerate.txt

.PHONY: clean
clean: ## Remove what was built here (engines stay in the user's cache)
	rm -rf bin
