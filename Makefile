# Heddle. "make run" starts the service with what is at hand, "make test" runs all checks of behaviour.

GO ?= go

.PHONY: run test setup bench lint fmt build fuzz fidelity

run:
	$(GO) run ./cmd/heddle

# Tests use a race detector, which needs a C compiler, git, which people have in workspaces, and a browser.
test: setup
	$(GO) test -race ./...

# setup installs what tests need, if it is missing.
setup:
	@missing=""; \
	command -v git >/dev/null || missing="$$missing git"; \
	command -v cc >/dev/null || missing="$$missing gcc libc6-dev"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	if [ -n "$$missing" ]; then \
		command -v apt-get >/dev/null || { echo "please install:$$missing"; exit 1; }; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi

# fidelity proves the Slack and the Discord of the tests with clients that others have written for Node 20,
# of the versions in the lock files. It needs the npm registry the first time.
# The page is held to the rules of accessibility in bots/web/axe, in a browser.
FIDELITY = bots/slack/fidelity bots/discord/fidelity
fidelity: setup $(FIDELITY:%=%/node_modules/.package-lock.json) bots/web/axe/node_modules/.package-lock.json
	$(GO) vet -tags fidelity $(FIDELITY:%=./%) ./cmd/heddle
	$(GO) test -count=1 -v -tags fidelity $(FIDELITY:%=./%)
	$(GO) test -count=1 -v -tags fidelity -run TestAxe ./cmd/heddle

%/node_modules/.package-lock.json: %/package.json %/package-lock.json
	@missing=""; \
	command -v node >/dev/null || missing="$$missing nodejs"; \
	command -v npm >/dev/null || missing="$$missing npm"; \
	if [ -n "$$missing" ]; then \
		command -v apt-get >/dev/null || { echo "please install:$$missing"; exit 1; }; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	fi
	@node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || \
		{ echo "please install Node 20 or newer: the clients need it, and this is $$(node --version)"; exit 1; }
	cd $* && npm ci --ignore-scripts
	touch $@

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# fuzz gives every fuzz target some seconds.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 20s $$pkg; \
		done; \
	done

lint:
	@out="$$(gofmt -l .)"; if [ -n "$$out" ]; then echo "not formatted, run make fmt:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff

fmt:
	gofmt -w .

# build makes a program that needs no libraries of the system; it takes less memory than one with libc.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o bin/heddle ./cmd/heddle
