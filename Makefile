# Tabs. Each target says what it does; `make run` is where to begin.
.DEFAULT_GOAL := build
.PHONY: run build test bench soak generate lint fmt assets test-needs

# Some shells have no HOME, and no sbin, where Debian puts nginx.
HOME ?= $(CURDIR)/.cache/home
PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin
export HOME PATH

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
SOURCES := $(shell find static/src static/css static/img static/schemes.json -type f 2>/dev/null)

# run: build, serve the machine you are on, and print the login address. Installs tmux when it is missing.
run: build
	@.ci/need tmux
	bin/tabs serve

# build: bin/tabs and bin/pt, one file each with everything in it. Installs Node.js and npm when they are missing.
build: assets sandbox/runc/initbin/init
	$(GOBUILD) -o bin/tabs ./cmd/tabs
	$(GOBUILD) -o bin/pt ./cmd/pt

# test: everything, as CI does: installs the programs and the browser that tests use, and then nothing may skip. The
# browser's tests come last and alone: they need both cores.
test: test-needs lint
	go run ./cmd/assets -tests .cache/js-tests
	node --test .cache/js-tests/*.mjs
	TABS_TEST_ALL=1 go test -race -shuffle=on -count=1 -timeout=30m $$(go list ./... | grep -v /e2e)
	TABS_TEST_ALL=1 go test -race -shuffle=on -count=1 -timeout=45m ./e2e

# bench: what is measured, each against a baseline of the same run, as one table. TABS_BENCH_DOC=FILE keeps it there.
bench: test-needs
	TABS_TEST_ALL=1 go test -run='^$$' -bench='^BenchmarkTabs$$' -benchtime=1x -timeout=60m ./e2e

# soak: the long versions of the randomised tests.
soak: test-needs
	TABS_TEST_ALL=1 TABS_SOAK=1 go test -run=Soak -count=1 -timeout=0 -v ./...

# generate: the Go code of the templates.
generate:
	go tool templ generate -path web/view

# lint: what compilers and checkers say without running anything.
lint: assets
	go vet ./...
	go tool staticcheck ./...
	cd static && node_modules/.bin/tsc --noEmit

# fmt: the one true layout.
fmt:
	gofmt -w $$(git ls-files '*.go' | grep -v _templ.go)
	go tool templ fmt .

assets: static/dist/manifest.json

static/dist/manifest.json: $(SOURCES) $(wildcard cmd/assets/*.go) go.mod static/node_modules/.package-lock.json
	go run ./cmd/assets

static/node_modules/.package-lock.json: static/package-lock.json
	@.ci/need node=nodejs npm
	cd static && npm ci --no-audit --no-fund
	@touch $@

# gcc is for the race detector; the rest is what real terminals show and real users have in front of them.
test-needs: .cache/playwright/package/cli.js .cache/debian.tar
	@.ci/need tmux gcc /usr/include/stdio.h=libc6-dev chromium nginx git python3 vim less man=man-db htop fish \
		ps=procps /usr/share/fonts/truetype/noto/NotoColorEmoji.ttf=fonts-noto-color-emoji \
		/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc=fonts-noto-cjk \
		runc lxcfs nft=nftables ip=iproute2 mkfs.ext4=e2fsprogs

# PID 1 of sandboxes, which the server embeds.
sandbox/runc/initbin/init: $(wildcard cmd/init/*.go sandbox/runc/agent/*.go sandbox/login/*.go) go.mod
	$(GOBUILD) -o $@ ./cmd/init

# A Debian as bare as its container image, for the tests of sandboxes.
.cache/debian.tar:
	@.ci/need mmdebstrap
	mkdir -p .cache
	mmdebstrap --quiet --variant=minbase bookworm .cache/debian.new.tar
	mv .cache/debian.new.tar $@

# The driver of the version that go.mod's playwright-go speaks to.
.cache/playwright/package/cli.js:
	@.ci/need node=nodejs npm
	mkdir -p .cache/playwright
	cd .cache/playwright && tar -xzf "$$(npm pack --silent playwright-core@1.52.0)"
	@touch $@
