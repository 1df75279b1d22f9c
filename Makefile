# mustlink: one target per habit. `make help` lists them.
GO        ?= go
BIN       ?= bin
FUZZTIME  ?= 20s
FUZZPARALLEL ?=
FUZZJOBS  ?= 1
SOAKTIME  ?= 30m
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The netlib build if OpenBLAS and LAPACKE are found, otherwise the default build.
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

# RELEASE adds flags, such as -platforms linux/amd64, or -key FILE for minisign.
RELEASE ?=

# Every target is a name, but for files that rules make.
.PHONY: $(shell sed -n 's/^\([a-z][a-z0-9-]*\):\( .*\)\{0,1\}$$/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/mustlink: netlib if pkg-config finds openblas and lapacke, otherwise default
	@echo "mustlink: $(if $(BUILD_TAGS),$(BUILD_TAGS) build (OpenBLAS and LAPACKE through pkg-config),default build (Go and assembly, no C library))"
	$(GO) build $(TAGFLAG) -o $(BIN)/mustlink ./cmd/mustlink
	@$(BIN)/mustlink info 2>/dev/null | sed -n 's/^advice  */mustlink: /p'

# The tests that take longest begin first, so that at the end no processor waits for them.
LONGEST = ./algorithms/catalog ./cmd/mustlink/filestest ./cmd/mustlink ./internal/metamorphic

# make lint vets all three builds, and checks that generated files are up to date.
test: ## test the default build
	$(GO) test -vet=off -timeout 30m $(LONGEST) ./...

# The numerical packages: those whose tests depend on the kernels or on the backends, except the
# tests of files, pipes and messages (filestest). The other packages are the same in every build:
# make test tests them.
COMPUTING = list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | grep -v '/filestest\.test ' | \
	sed -nE 's,^([^ ]+)\.test .*github\.com/mustlink/mustlink/(asm|blas)([ /].*)?$$,\1,p'

# With 4 OpenBLAS's threads soon sleep. By default they wait for work in a loop, and take the
# processors from the tests of other packages.
test-netlib test-bench test-lib test-python hostile: export OPENBLAS_THREAD_TIMEOUT = 4

test-netlib: ## test the numerical packages on OpenBLAS and LAPACKE
	$(GO) test -vet=off -timeout 30m -tags netlib $$($(GO) $(COMPUTING))

test-purego: ## test the numerical packages without assembly and cgo
	$(PUREGO) test -vet=off -timeout 30m $(PURETAGS) $$($(PUREGO) $(COMPUTING))

test-all: test test-netlib test-purego ## test all three builds

# It requires the package qemu-user-static; set QEMU to nothing on arm64.
QEMU ?= qemu-aarch64-static

test-arm64: ## test the kernels for arm64, and matrix products with them, under emulation
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) test $(if $(QEMU),-exec $(QEMU)) ./asm/... ./blas/tile

# Tests choose smaller and fewer problems with package internal/racetest.
RACEPACKAGES = $$($(GO) list . ./blas/... ./engine/... ./algorithms/... ./label ./internal/session | grep -v /blas/gonum)

race: ## run the tests of concurrent code under the race detector, on fewer problems
	$(GO) test -race -vet=off -timeout 20m $(RACEPACKAGES)
	cd $(LABORATORY) && $(GO) test -race -vet=off ./paper ./soak

# Other targets draw the same problems every time.
PROPERTYCOUNT ?= 10
PROPERTYPACKAGES = $$($(GO) list -f '{{.ImportPath}} {{.TestImports}}{{.XTestImports}}' ./... | grep propertytest | cut -d' ' -f1)

properties: ## run property tests PROPERTYCOUNT (10) times, on different problems each time
	MUSTLINK_DRAWS=random $(GO) test $(TAGFLAG) -count $(PROPERTYCOUNT) -timeout 2h $(PROPERTYPACKAGES)
	cd $(LABORATORY) && MUSTLINK_DRAWS=random $(GO) test $(TAGFLAG) -count $(PROPERTYCOUNT) -timeout 2h $(PROPERTYPACKAGES)

drawn: ## say which statements of property tests few problems reach, or none
	@$(call tool,drawn)
	$(TOOLBIN)/drawn

# Of these options MUTANTS takes all, such as -seed 7 -n 200 -time 30m, and folders.
MUTANTS ?=
MUTANTS_BASE ?= HEAD~1

mutants: ## plant faults in the code (MUTANTS="-n 200 -seed 7 engine/...") and say which ones no test finds
	@$(call tool,mutants)
	$(TOOLBIN)/mutants $(MUTANTS)

mutants-changed: ## the same for five minutes on the lines that changed since MUTANTS_BASE (HEAD~1): survivors fail
	@$(call tool,mutants)
	$(TOOLBIN)/mutants -time 5m -changed $(MUTANTS_BASE) $(MUTANTS)

# Tests that draw many problems, or go through a large table, run a part of them in other targets:
# package internal/drawstest says which. Here run the tests of all files that import it.
DRAWTESTS = $$(grep -rl --include='*_test.go' internal/drawstest . | xargs sed -n 's/^func \(Test[A-Za-z0-9]*\)(.*/\1/p' | paste -sd'|')
DRAWPACKAGES = $$($(GO) list -f '{{.ImportPath}} {{.TestImports}}{{.XTestImports}}' ./... | grep internal/drawstest | cut -d' ' -f1)

draws: ## run the tests with many draws in full, default build
	MUSTLINK_DRAWS=all $(GO) test -vet=off -timeout 30m -run "^($(DRAWTESTS))\$$" $(DRAWPACKAGES)

# The packages with files that depend on the tags of the other builds.
TAGGED = ./asm/... ./blas/... ./algorithms/catalog ./cmd/mustlink

vet:
	$(GO) vet ./...
	$(GO) vet -tags netlib $(TAGGED)
	$(PUREGO) vet $(PURETAGS) $(TAGGED)

fresh: ## check that generated files are up to date: assembly, api/v1.txt, docs/cli.md, the Python estimators
	@GO=$(GO) .ci/fresh

lint: vet fresh ## gofmt, vet (three builds), generated files, staticcheck, words, and the lines of the product
	@unformatted=$$(gofmt -s -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt -s would change:"; echo "$$unformatted"; exit 1; fi
	$(GO) run $(STATICCHECK) ./...
	@$(call tool,words)
	$(TOOLBIN)/words
	$(TOOLBIN)/words -code
	@$(TOOLBIN)/words -count
	@.ci/lines

fuzz: ## run every fuzz target for FUZZTIME (20s), FUZZJOBS (1) at a time, each with FUZZPARALLEL workers
	@GO="$(GO)" FUZZTIME=$(FUZZTIME) FUZZPARALLEL=$(FUZZPARALLEL) FUZZJOBS=$(FUZZJOBS) .ci/fuzz

bench: ## run the Go benchmarks of every package
	$(GO) test $(TAGFLAG) -run '^$$' -bench . -benchmem ./...
	cd $(LABORATORY) && $(GO) test $(TAGFLAG) -run '^$$' -bench . -benchmem ./...

# The first Python with scikit-learn; Debian's own is the second choice.
PYTHON ?= $(shell for p in python3 /usr/bin/python3; do $$p -c 'import sklearn' 2>/dev/null && echo $$p && break; done)

# The benchmarks are a separate module with its own dependencies. LAB_TAGS=netlib tests it on
# OpenBLAS.
LABORATORY = bench
LAB_TAGS     ?=
LAB_PACKAGES ?= ./...
LAB_BUILD  = cd $(LABORATORY) && $(GO) build -buildvcs=true -o $(CURDIR)/$(BIN)

bench-build: ## build bin/mustlink-bench, the measurements, in the same build as make build
	$(LAB_BUILD)/mustlink-bench $(TAGFLAG) ./mustlink-bench

test-bench: ## test the benchmarks, default build
	cd $(LABORATORY) && $(GO) test -vet=off -timeout 30m $(if $(LAB_TAGS),-tags $(LAB_TAGS)) $(LAB_PACKAGES)

lint-bench: ## vet, staticcheck, go.mod and docs/bench-cli.md of the benchmarks; make lint checks its formatting
	cd $(LABORATORY) && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff
	@page=$$(mktemp) && (cd $(LABORATORY) && $(GO) run ./mustlink-bench reference --markdown $$page) && \
	diff docs/bench-cli.md $$page || (echo "docs/bench-cli.md is out of date: run make docs-cli"; exit 1)

# The tools of the project are a separate module: $(call tool,NAME) builds one into TOOLBIN, and it
# runs in the root of the repository.
TOOLS   = tools
TOOLBIN = $(BIN)/tools
tool    = $(GO) build -C $(TOOLS) -o $(CURDIR)/$(TOOLBIN)/$(1) ./$(1)

test-tools: ## test the tools of the project, and what they check: layers of packages, doc comments, licenses
	cd $(TOOLS) && $(GO) test -vet=off ./...

lint-tools: ## vet, staticcheck and go.mod of the tools; make lint checks their formatting
	cd $(TOOLS) && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff

# OpenBLAS has its best kernels for this processor, unless OPENBLAS_CORETYPE chooses others.
ON_BEST_CORE = $(if $(OPENBLAS_CORETYPE),,env $$($(BIN)/mustlink-bench info | sed -n 's/^advice .* set //p'))

bench-micro: bench-build ## time single operations relative to OpenBLAS (in the default build: to gonum)
	$(ON_BEST_CORE) $(BIN)/mustlink-bench micro

bench-peers: bench-build ## time the same work in NumPy, SciPy and scikit-learn, in turn, and print ratios
	@if [ -z "$(PYTHON)" ]; then echo "no python3 with scikit-learn: on Debian, apt-get install python3-sklearn libopenblas0-pthread"; exit 1; fi
	$(BIN)/mustlink-bench peers --python $(PYTHON)

# An interrupted run resumes from the state files in bin, which are removed at the end; the results
# stay there as JSON.
STREAMROWS ?= 100000000
BUILDS = $(BIN)/mustlink-bench-default,$(BIN)/mustlink-bench-netlib,$(BIN)/mustlink-bench-purego
PERFORMANCE = --page docs/results/speed.md -o $(BIN)/performance

bench-cores: ## make bin/cores, a folder whose script measures many cores on any Linux server in six minutes
	@rm -rf $(BIN)/cores && mkdir -p $(BIN)/cores
	cd $(LABORATORY) && CGO_ENABLED=0 $(GO) build -buildvcs=true -o $(CURDIR)/$(BIN)/cores/mustlink-bench ./mustlink-bench
	@cp $(LABORATORY)/cores.sh $(BIN)/cores/run
	@echo "copy $(BIN)/cores to the server and start ./run there"

bench-performance: builds ## measure methods, builds and throughput, and rewrite these parts of docs/results/speed.md
	$(GO) build -o $(BIN)/mustlink-default ./cmd/mustlink
	$(BIN)/mustlink-bench-default methods --state $(BIN)/methods.state $(PERFORMANCE)-methods.json
	$(BIN)/mustlink-bench-default methods --builds $(BUILDS) --state $(BIN)/builds.state $(PERFORMANCE)-builds.json
	$(BIN)/mustlink-bench-default throughput --mustlink $(BIN)/mustlink-default --stream-rows $(STREAMROWS) $(PERFORMANCE)-throughput.json
	@rm -f $(BIN)/methods.state $(BIN)/builds.state

# The module of the scale-out command, with its own dependencies.
BEAM = cmd/mustlink-beam

build-beam: ## build bin/mustlink-beam, the default build
	cd $(BEAM) && $(GO) build -o $(CURDIR)/$(BIN)/mustlink-beam .

test-beam: ## test the scale-out command, default build
	cd $(BEAM) && $(GO) test -vet=off -timeout 30m ./...

lint-beam: ## vet, staticcheck and go.mod of the scale-out command; make lint checks its formatting
	cd $(BEAM) && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff

bench-beam: build-beam ## compare embed, kmeans and fit on Prism with mustlink (24 GB of disk), and print the estimated cost of jobs
	$(GO) build -o $(BIN)/mustlink-default ./cmd/mustlink
	$(BIN)/mustlink-beam bench embed --mustlink $(BIN)/mustlink-default
	$(BIN)/mustlink-beam bench kmeans
	$(BIN)/mustlink-beam bench fit --mustlink $(BIN)/mustlink-default
	$(BIN)/mustlink-beam bench costs

# The C library and the Python package that uses it. LIB_TAGS=netlib builds it on OpenBLAS.
LIBRARY_SOURCE = cmd/libmustlink
LIB         ?= $(BIN)/lib
LIB_TAGS    ?=
LIB_VERSION ?= 0.1.0
LIB_BUILD    = $(GO) build $(if $(LIB_TAGS),-tags $(LIB_TAGS),)
ifeq ($(shell uname -s),Linux)
LIB_LINK = -ldflags "-extldflags '-Wl,--version-script=$(CURDIR)/$(LIBRARY_SOURCE)/libmustlink.map -Wl,-soname,libmustlink.so.1'"
endif
SANITIZE = -g -O1 -Wall -Wextra -Werror -fsanitize=address,undefined

build-lib: ## build bin/lib: libmustlink.so, libmustlink.a, mustlink.h and mustlink.pc
	@rm -rf $(LIB)/lib && mkdir -p $(LIB)/lib/pkgconfig $(LIB)/include
	$(LIB_BUILD) -buildmode=c-shared $(LIB_LINK) -o $(LIB)/lib/libmustlink.so.1 ./$(LIBRARY_SOURCE)
	$(LIB_BUILD) -buildmode=c-archive -o $(LIB)/lib/libmustlink.a ./$(LIBRARY_SOURCE)
	@rm -f $(LIB)/lib/*.h && ln -s libmustlink.so.1 $(LIB)/lib/libmustlink.so
	@cp $(LIBRARY_SOURCE)/mustlink.h $(LIB)/include
	@sed -e 's/@VERSION@/$(LIB_VERSION)/' -e 's/@REQUIRES@/$(if $(filter netlib,$(LIB_TAGS)),openblas lapacke)/' $(LIBRARY_SOURCE)/mustlink.pc.in > $(LIB)/lib/pkgconfig/mustlink.pc

PKG = PKG_CONFIG_PATH=$(LIB)/lib/pkgconfig pkg-config

test-lib: build-lib ## test the C library: Go code, example (static and shared), and C code under AddressSanitizer
	$(GO) test ./$(LIBRARY_SOURCE)/...
	$(CC) -Wall -Wextra -Werror $(LIBRARY_SOURCE)/c/example.c -o $(LIB)/example $$($(PKG) --cflags --libs mustlink) -lm -Wl,-rpath,$(CURDIR)/$(LIB)/lib
	$(LIB)/example
	$(CC) -Wall -Wextra -Werror $(LIBRARY_SOURCE)/c/example.c -o $(LIB)/example-static $$($(PKG) --cflags mustlink) $(LIB)/lib/libmustlink.a $$($(PKG) --static --libs-only-l mustlink | sed 's/-lmustlink//')
	$(LIB)/example-static
	$(CC) $(SANITIZE) $(LIBRARY_SOURCE)/c/abi_test.c -o $(LIB)/abi-test $$($(PKG) --cflags --libs mustlink) -lm -lpthread -Wl,-rpath,$(CURDIR)/$(LIB)/lib
	$(LIB)/abi-test

PYTHON_ENVIRONMENT = PYTHONDONTWRITEBYTECODE=1 MUSTLINK_LIBRARY=$(CURDIR)/$(LIB)/lib/libmustlink.so

test-python: build-lib ## test the Python package with that library, and compare it with the command of the same build
	@if [ -z "$(PYTHON)" ]; then echo "no python3 with scikit-learn: on Debian, apt-get install python3-sklearn"; exit 1; fi
	$(LIB_BUILD) -o $(LIB)/mustlink ./cmd/mustlink
	@$(call tool,tables)
	$(TOOLBIN)/tables $(LIB)/tables
	cd $(LIBRARY_SOURCE)/python && $(PYTHON_ENVIRONMENT) PYTHONPATH=$(CURDIR)/$(LIBRARY_SOURCE)/python MUSTLINK_COMMAND=$(CURDIR)/$(LIB)/mustlink MUSTLINK_TABLES=$(CURDIR)/$(LIB)/tables $(PYTHON) -m unittest discover -t . -s tests

# The checkout is fetched for the run: git clone https://github.com/scikit-learn-contrib/metric-learn
test-metric-learn: build-lib ## run metric-learn's own tests, from the checkout METRIC_LEARN, on mustlink.compat.metric_learn
	@if [ -z "$(PYTHON)" ]; then echo "no python3 with scikit-learn: on Debian, apt-get install python3-sklearn python3-pytest"; exit 1; fi
	@if [ -z "$(METRIC_LEARN)" ]; then echo "METRIC_LEARN is empty: want the path of a checkout of metric-learn"; exit 1; fi
	$(PYTHON_ENVIRONMENT) $(PYTHON) $(LIBRARY_SOURCE)/python/suite/run.py $(METRIC_LEARN) docs/results/metric-learn-suite.md

# The release of onnxruntime-node; its package has the library for the processor.
ONNXRUNTIME = onnxruntime-node@1.30.0

test-onnx: ## compare exported ONNX graphs, evaluated by onnxruntime (npm) and checked by python3-onnx, with embed
	@if ! command -v npm >/dev/null; then echo "no npm: on Debian, apt-get install nodejs npm"; exit 1; fi
	npm install --prefix $(BIN)/onnx --ignore-scripts --no-audit --no-fund --loglevel=error $(ONNXRUNTIME)
	MUSTLINK_ONNXRUNTIME=$(CURDIR)/$(BIN)/onnx $(GO) test -count=1 -vet=off -run Runtime ./export

# The modules write files, and DuckDB reads what we read. CASES are folders of further files.
FORMAT_MODULES := @duckdb/node-api@1.5.6-r.1 nodejs-polars@0.26.1 nodejs-polars-linux-x64-gnu@0.26.1 parquet-wasm@0.8.0 apache-arrow@21.2.0
test-formats: ## compare the cells of CSV files with those of pandas, and of Parquet files with those of DuckDB (npm)
	@if ! command -v npm >/dev/null; then echo "no npm: on Debian, apt-get install nodejs npm"; exit 1; fi
	npm install --prefix $(BIN)/formats --ignore-scripts --no-audit --no-fund --loglevel=error $(FORMAT_MODULES)
	@$(call tool,cells)
	$(PYTHON) tools/cells/compare.py $(TOOLBIN)/cells $(BIN)/formats/csv $(CASES:%=%/csv)
	node tools/cells/compare.mjs $(TOOLBIN)/cells $(CURDIR)/$(BIN)/formats $(BIN)/formats/parquet $(CASES:%=%/parquet) $(CASES:%=%/arrow)

python-methods: ## rewrite the estimators of the Python package after a change in the catalog
	@$(call tool,pygen)
	$(TOOLBIN)/pygen $(LIBRARY_SOURCE)/python/mustlink/_estimators.py

# pip does not use the network here: setuptools and wheel must be installed (Debian: python3-wheel
# python3-pip).
wheel: build-lib ## build bin/wheel/mustlink-*.whl, which contains the library, and try it from an empty folder
	@rm -rf $(BIN)/wheel && mkdir -p $(BIN)/wheel && cp -r $(LIBRARY_SOURCE)/python $(BIN)/wheel/source
	@cp $(LIB)/lib/libmustlink.so.1 $(BIN)/wheel/source/mustlink/libmustlink.so
	$(PYTHON) -m pip wheel -q --no-index --no-deps --no-build-isolation -w $(BIN)/wheel $(BIN)/wheel/source
	$(PYTHON) -m pip install -q --no-index --no-deps --target $(BIN)/wheel/site $(BIN)/wheel/mustlink-*.whl
	@cd $(BIN)/wheel && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=site $(PYTHON) -c "import mustlink; print(mustlink.__file__, mustlink.info()['backend_detail'])"
	@ls $(BIN)/wheel/*.whl

lib-figures: build-lib ## measure calls, embeddings, memory and threads of the Python package
	cd $(LIBRARY_SOURCE)/python && $(PYTHON_ENVIRONMENT) PYTHONPATH=$(CURDIR)/$(LIBRARY_SOURCE)/python GO=$(GO) $(PYTHON) bench/figures.py

# The JavaScript package. wasm_exec.js, which comes with Go, connects the program with JavaScript.
WASM         ?= $(BIN)/wasm
WASM_VERSION ?= $(LIB_VERSION)
WASM_SOURCE   = $(LIBRARY_SOURCE)/javascript

wasm: ## build bin/wasm, the JavaScript package with the library as WebAssembly, for npm pack and web pages
	@rm -rf $(WASM) && mkdir -p $(WASM)
	GOOS=js GOARCH=wasm $(GO) build -trimpath -buildvcs=auto -ldflags '-s -w -buildid=' -o $(WASM)/mustlink.wasm ./$(WASM_SOURCE)
	@cp -r LICENSE $(addprefix $(WASM_SOURCE)/,README.md mustlink.js mustlink.d.ts examples) "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" $(WASM)
	@sed 's/"version": .*/"version": "$(WASM_VERSION)",/' $(WASM_SOURCE)/package.json > $(WASM)/package.json

test-wasm: wasm ## test the JavaScript package under node, and compare it with the command
	@if ! command -v npm >/dev/null; then echo "no node and npm: on Debian, apt-get install nodejs npm"; exit 1; fi
	GOOS=js GOARCH=wasm $(GO) vet -trimpath ./$(WASM_SOURCE)
	$(GO) build -o $(BIN)/mustlink-default ./cmd/mustlink
	MUSTLINK_PACKAGE=$(CURDIR)/$(WASM) MUSTLINK_COMMAND=$(CURDIR)/$(BIN)/mustlink-default node --test $(WASM_SOURCE)/tests/mustlink.test.js

generate: ## rewrite generated code
	$(GO) generate ./...

# The library packages, which programs link.
LIBRARY = ./asm/... ./blas/... ./engine/... ./solvers/... ./algorithms/...

cover: ## coverage of the library packages by their own tests, default build: the total and the least covered functions
	$(GO) test -coverprofile=cover.out -coverpkg=$$(echo $(LIBRARY) | tr ' ' ,) $(LIBRARY)
	@$(GO) tool cover -func=cover.out | awk '$$1 != "total:" {print $$NF, $$1, $$2}' | sort -n | head -n 20
	@$(GO) tool cover -func=cover.out | tail -n 1

soak: bench-build ## fit and embed at random for SOAKTIME (30m), and check memory, goroutines and results
	$(BIN)/mustlink-bench soak --for $(SOAKTIME)

# HOSTILE="-only files -from 5000" goes on with other files; -quick takes some seconds.
HOSTILE ?=
CAMPAIGN = $(BIN)/hostile

hostile: ## run the three builds on hostile input, failures, kills, forks and limits, and count how they end
	$(MAKE) build-lib LIB=$(CAMPAIGN)/default
	$(MAKE) build-lib LIB=$(CAMPAIGN)/netlib LIB_TAGS=netlib
	$(GO) build -o $(CAMPAIGN)/default/mustlink ./cmd/mustlink
	$(GO) build -tags netlib -o $(CAMPAIGN)/netlib/mustlink ./cmd/mustlink
	$(PUREGO) build $(PURETAGS) -o $(CAMPAIGN)/purego/mustlink ./cmd/mustlink
	@$(call tool,hostile)
	$(TOOLBIN)/hostile $(HOSTILE) -library default=$(CAMPAIGN)/default,netlib=$(CAMPAIGN)/netlib \
		-bin default=$(CAMPAIGN)/default/mustlink,netlib=$(CAMPAIGN)/netlib/mustlink,purego=$(CAMPAIGN)/purego/mustlink

image: ## build the container image mustlink, and run it once (needs docker)
	docker build -t mustlink .
	docker run --rm mustlink info

builds: ## build the three builds of the benchmarks: bin/mustlink-bench-default, -netlib and -purego
	@pkg-config --exists openblas lapacke 2>/dev/null || (echo "no OpenBLAS and LAPACKE for the netlib build: on Debian, apt-get install libopenblas-dev liblapacke-dev pkg-config"; exit 1)
	$(LAB_BUILD)/mustlink-bench-default ./mustlink-bench
	$(LAB_BUILD)/mustlink-bench-netlib -tags netlib ./mustlink-bench
	export CGO_ENABLED=0; $(LAB_BUILD)/mustlink-bench-purego $(PURETAGS) ./mustlink-bench

builds-differ: builds ## print the differences between the results of the three builds, as Markdown
	@for build in default netlib purego; do $(BIN)/mustlink-bench-$$build builds -q > $(BIN)/$$build.json || exit 1; done
	@$(BIN)/mustlink-bench-default builds $(BIN)/default.json $(BIN)/netlib.json $(BIN)/purego.json

api: ## write api/v1.txt, the promised names of the library
	@$(call tool,apilist)
	$(TOOLBIN)/apilist api/v1.txt
	@git --no-pager diff --stat -- api

vuln: ## look for known vulnerabilities in called code; exit code 3 if the database is not reachable
	@GO=$(GO) .ci/vuln

licenses: ## check that every module in the builds has a permissive license
	cd $(TOOLS) && $(GO) test -count=1 -v -run TestLicenses ./supply

sbom: build ## write bin/sbom.cdx.json, the bill of materials of bin/mustlink (CycloneDX)
	@$(call tool,supply)
	$(TOOLBIN)/supply $(BIN)/mustlink > $(BIN)/sbom.cdx.json

release: ## build dist/VERSION: archives, Debian packages, wheels, image, sums, bills of materials; see docs/install.md
	@$(call tool,release)
	@$(TOOLBIN)/release -version '$(VERSION)' $(RELEASE)

test-release: ## install the files of dist/VERSION, each into an empty folder, and use them
	@.ci/installed 'dist/$(VERSION)'

tags: ## check that the tags of VERSION could be made
	@$(call tool,release)
	@$(TOOLBIN)/release -version '$(VERSION)' -check

reproducible: ## check that two builds of the commit, in two folders, are bit-identical
	@.ci/reproducible

# Without tables for debuggers, the first build takes a tenth less time.
demo: ## learn a metric from pairs and see clustering improve (Go only, no C library)
	CGO_ENABLED=0 $(GO) build -trimpath -gcflags=all=-dwarf=false -ldflags=-w -o $(BIN)/mustlink ./cmd/mustlink
	$(BIN)/mustlink demo xor spiral --repetitions 1 -o $(BIN)/demo

PAGES = README.md CONTRIBUTING.md $(wildcard docs/*.md docs/methods/*.md)
DOCRUN = CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/docs/mustlink ./cmd/mustlink && $(call tool,docrun) && \
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(CURDIR)/$(LIBRARY_SOURCE)/python PYTHON=$(PYTHON) $(TOOLBIN)/docrun -bin $(BIN)/docs

docs-test: ## run the commands and programs in README and docs (Python with MUSTLINK_LIBRARY), and compare their output
	@$(DOCRUN) $(PAGES)

docs-update: ## replace shown output that differs in README and docs; read the difference before you commit
	@$(DOCRUN) -update $(PAGES)

data: ## check the files in the folder MUSTLINK_DATA by docs/data.sha256, and name those that are missing
	@if [ -z "$(MUSTLINK_DATA)" ]; then echo "MUSTLINK_DATA is empty: want the folder of the data sets of docs/data.md"; exit 1; fi
	@cd "$(MUSTLINK_DATA)" && sed -n 's/^[0-9a-f]*  //p' $(CURDIR)/docs/data.sha256 | while read -r file; do \
		packed="$$file.gz"; [ -e "$$file" ] || [ -e "$$packed" ] || echo "missing: $$file (docs/data.md says where to get it)"; done
	@cd "$(MUSTLINK_DATA)" && sha256sum --ignore-missing --quiet --check $(CURDIR)/docs/data.sha256 && echo "the files that are there are those that were measured"

docs-pictures: ## redraw the pictures of README, docs/methods, docs/deduplicate.md and groups.md
	CGO_ENABLED=0 $(GO) build -o $(BIN)/docs/mustlink ./cmd/mustlink
	docs/pictures/spirals.sh $(BIN)/docs/mustlink docs/pictures/spirals.svg
	docs/pictures/methods.sh $(BIN)/docs/mustlink docs/pictures/methods
	docs/pictures/pages.sh $(BIN)/docs/mustlink docs

docs-cli: ## rewrite docs/cli.md and docs/bench-cli.md, the help of all commands
	$(GO) run ./cmd/mustlink reference --markdown docs/cli.md
	cd $(LABORATORY) && $(GO) run ./mustlink-bench reference --markdown $(CURDIR)/docs/bench-cli.md

# The site needs Debian's Sphinx and the modules that docs/site/conf.py names, and no network. The
# pages of the Python package come from its source, so the C library is not needed.
SITE       ?= $(BIN)/site
SITEPYTHON ?= /usr/bin/python3
SITENEEDS   = python3-sphinx python3-myst-parser python3-numpydoc python3-sphinx-rtd-theme python3-numpy libjs-mathjax

site: ## build bin/site, the documentation as web pages with search, and what make wasm built; warnings are errors
	@$(SITEPYTHON) -c 'import sphinx, myst_parser, numpydoc, sphinx_rtd_theme' 2>/dev/null && test -d "$${MATHJAX:-/usr/share/javascript/mathjax}" || \
	(echo "the site needs Sphinx, MyST, numpydoc, a theme and MathJax: on Debian, apt-get install $(SITENEEDS)"; exit 1)
	@rm -rf $(SITE)
	PYTHONDONTWRITEBYTECODE=1 $(SITEPYTHON) -m sphinx -W --keep-going -q -b html -c docs/site -d $(BIN)/site-doctrees docs $(SITE)
	@[ ! -d $(WASM) ] || cp -r $(WASM) $(SITE)/javascript # after make wasm: javascript/examples/moons.html
	@echo "$(SITE)/index.html: $$(find $(SITE) -name '*.html' | wc -l) pages"

PREFIX  ?= /usr/local
DESTDIR ?=
SHARE = $(DESTDIR)$(PREFIX)/share

install: build ## install the command, its manual pages and shell completions below PREFIX (/usr/local)
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	install -m 755 $(BIN)/mustlink $(DESTDIR)$(PREFIX)/bin/mustlink
	$(BIN)/mustlink reference --man $(SHARE)/man
	$(BIN)/mustlink completion bash > $(SHARE)/bash-completion/completions/mustlink
	$(BIN)/mustlink completion zsh > $(SHARE)/zsh/site-functions/_mustlink
	$(BIN)/mustlink completion fish > $(SHARE)/fish/vendor_completions.d/mustlink.fish

uninstall: ## remove what make install installed
	rm -f $(DESTDIR)$(PREFIX)/bin/mustlink $(SHARE)/man/man1/mustlink.1 $(SHARE)/man/man1/mustlink-*.1 $(SHARE)/man/man7/mustlink-*.7
	rm -f $(SHARE)/bash-completion/completions/mustlink $(SHARE)/zsh/site-functions/_mustlink $(SHARE)/fish/vendor_completions.d/mustlink.fish

clean:
	rm -rf $(BIN) cover.out
