# mustlink: one target per habit. `make help` lists them.
GO        ?= go
BIN       ?= bin
FUZZTIME  ?= 20s
FUZZPARALLEL ?=
FUZZJOBS  ?= 1
SOAKTIME  ?= 30m
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The netlib build is taken when OpenBLAS and LAPACKE are found, the default build otherwise.
HAVE_NETLIB := $(shell pkg-config --exists openblas lapacke 2>/dev/null && command -v cc >/dev/null 2>&1 && echo yes)
ifeq ($(HAVE_NETLIB),yes)
BUILD_TAGS ?= netlib
else
BUILD_TAGS ?=
endif
# With an empty list make keeps the default build.
TAGFLAG = $(if $(BUILD_TAGS),-tags $(BUILD_TAGS),)
PUREGO    = CGO_ENABLED=0 $(GO)
PURETAGS  = -tags purego,noasm

.PHONY: help build test test-all test-netlib test-purego race lint vet fuzz bench bench-micro bench-peers generate cover soak builds-differ api vuln licenses sbom reproducible demo clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/mustlink: netlib when pkg-config finds openblas and lapacke, default otherwise
	@echo "mustlink: $(if $(BUILD_TAGS),$(BUILD_TAGS) build (OpenBLAS and LAPACKE through pkg-config),default build (Go and assembly, no C library))"
	$(GO) build $(TAGFLAG) -o $(BIN)/mustlink ./cmd/mustlink

test: ## test the default build
	$(GO) test ./...

test-netlib: ## test the build on OpenBLAS and LAPACKE
	$(GO) test -tags netlib ./...

test-purego: ## test the build without assembly and without cgo
	$(PUREGO) test $(PURETAGS) ./...

test-all: test test-netlib test-purego ## test all three builds

# Left out: what starts no goroutines, and the torture of numbers, which does so as other tests do and takes ten times as long.
race: ## run the library's tests under the race detector
	$(GO) test -race -skip '^TestTorture' $$($(GO) list ./blas/... ./engine/... ./algorithms/... ./bench/... | grep -v /blas/gonum)

vet:
	$(GO) vet ./...
	$(GO) vet -tags netlib ./...
	$(PUREGO) vet $(PURETAGS) ./...

lint: vet ## gofmt, vet (three builds), staticcheck
	@unformatted=$$(gofmt -s -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt -s would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) run $(STATICCHECK) ./...

fuzz: ## run every fuzz target for FUZZTIME (20s), FUZZJOBS (1) at a time of FUZZPARALLEL workers; a line for each with its executions
	@GO="$(GO)" FUZZTIME=$(FUZZTIME) FUZZPARALLEL=$(FUZZPARALLEL) FUZZJOBS=$(FUZZJOBS) .ci/fuzz

bench: ## run the Go benchmarks of every package
	$(GO) test $(TAGFLAG) -run '^$$' -bench . -benchmem ./...

# The first Python that has scikit-learn; Debian's own is the second choice.
PYTHON ?= $(shell for p in python3 /usr/bin/python3; do $$p -c 'import sklearn' 2>/dev/null && echo $$p && break; done)

bench-micro: build ## time single operations against OpenBLAS (or gonum in the default build)
	$(BIN)/mustlink bench micro

bench-peers: build ## time the same work in NumPy, SciPy and scikit-learn, in turn, and print ratios
	@if [ -z "$(PYTHON)" ]; then echo "no python3 with scikit-learn: on Debian, apt-get install python3-sklearn libopenblas0-pthread"; exit 1; fi
	$(BIN)/mustlink bench peers --python $(PYTHON)

generate: ## regenerate what is generated and committed
	$(GO) generate ./...

# The library packages: what programs link.
LIBRARY = ./asm/... ./blas/... ./engine/... ./solvers/... ./algorithms/...

cover: ## coverage of the library packages by their own tests, default build: the least covered functions and the total
	$(GO) test -coverprofile=cover.out -coverpkg=$$(echo $(LIBRARY) | tr ' ' ,) $(LIBRARY)
	@$(GO) tool cover -func=cover.out | awk '$$1 != "total:" {print $$NF, $$1, $$2}' | sort -n | head -n 20
	@$(GO) tool cover -func=cover.out | tail -n 1

soak: build ## fit and embed at random for SOAKTIME (30m) and watch memory, goroutines and answers
	$(BIN)/mustlink bench soak --for $(SOAKTIME)

builds-differ: ## print how far the results of the three builds are from each other, as Markdown
	@mkdir -p $(BIN)
	$(GO) build -o $(BIN)/mustlink-default ./cmd/mustlink
	$(GO) build -tags netlib -o $(BIN)/mustlink-netlib ./cmd/mustlink
	$(PUREGO) build $(PURETAGS) -o $(BIN)/mustlink-purego ./cmd/mustlink
	@for build in default netlib purego; do $(BIN)/mustlink-$$build bench builds -q > $(BIN)/$$build.json || exit 1; done
	@$(BIN)/mustlink-default bench builds $(BIN)/default.json $(BIN)/netlib.json $(BIN)/purego.json

api: ## write api/v0.txt, the exported names of the library, anew
	$(GO) test -count=1 ./internal/apilist -update
	@git --no-pager diff --stat -- api

vuln: ## known vulnerabilities in what the code calls; code 3 when the database is not reached
	@GO=$(GO) .ci/vuln

licenses: ## every module in the builds has a permissive licence
	$(GO) test -count=1 -v -run TestLicences ./internal/supply

sbom: build ## write bin/sbom.cdx.json, the bill of materials of bin/mustlink (CycloneDX)
	$(GO) run ./internal/supply $(BIN)/mustlink > $(BIN)/sbom.cdx.json

reproducible: ## two builds of the commit, in two folders, have the same bytes
	@.ci/reproducible

demo: ## learn a metric from pairs and see clustering improve (Go only, no C library)
	CGO_ENABLED=0 $(GO) build -o $(BIN)/mustlink ./cmd/mustlink
	$(BIN)/mustlink demo

clean:
	rm -rf $(BIN) cover.out
