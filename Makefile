# Every target works in a fresh clone with rustup and apt; see `make help`. Tests use the dev profile, and always
# build the whole workspace: building a single package selects other features and so rebuilds all its dependencies.
# `make build` uses the release profile; benches and packages use dist. The demos use dev, which builds in half the
# time. Their reports mention this.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:
.NOTPARALLEL:

TARGET := x86_64-unknown-linux-musl
BUILT  := $(or $(CARGO_TARGET_DIR),target)/$(TARGET)
PLUMB  := $(BUILT)/debug/plumb
XTASK  := cargo run --quiet --bin xtask --

FUZZ_SECONDS := 15
ARCHS := x86_64 aarch64
# Tools run for only a second, so they are not optimised. cargo runs in another directory, because the configuration of
# this one sets $(TARGET).
CARGO_TOOL := CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off cargo install --quiet --locked
# npm writes this file last, so it marks a complete installation.
NODE := tests/browser/node_modules/.package-lock.json

# Arguments for xtask/setup.sh.
TO_BUILD := cc:gcc /usr/include/stdio.h:libc6-dev musl-gcc:musl-tools git:git clang:clang /usr/include/bpf/bpf_helpers.h:libbpf-dev
GUESTS   := /usr/share/doc/busybox-static/copyright:busybox-static qemu-system-x86_64:qemu-system-x86 /var/lib/dpkg/info/linux-image-cloud-amd64.list:linux-image-cloud-amd64 /var/lib/dpkg/info/linux-image-6.12-cloud-amd64.list:linux-image-6.12-cloud-amd64?
CONTAINERS := podman:podman runc:runc /usr/lib/podman/netavark:netavark iptables:iptables ovs-vswitchd:openvswitch-switch slirp4netns:slirp4netns
TO_TEST  := ip:iproute2 iperf3:iperf3 sockperf:sockperf ping:iputils-ping tcpdump:tcpdump ethtool:ethtool /bin/kill:procps strace:strace perf:linux-perf setpriv:util-linux unshare:util-linux sshd:openssh-server nats-server:nats-server nft:nftables chromium:chromium npm:npm openssl:openssl curl:curl rpm:rpm /var/lib/dpkg/info/postgresql.list:postgresql $(CONTAINERS) $(GUESTS)
TO_FLEET := ip:iproute2 unshare:util-linux sshd:openssh-server nft:nftables nats-server:nats-server /var/lib/dpkg/info/postgresql.list:postgresql
TO_CROSS := /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
TO_BENCH := unshare:util-linux ip:iproute2 ping:iputils-ping iperf3:iperf3 sockperf:sockperf
TO_EMULATE := qemu-aarch64-static:qemu-user-static
# With systemd, Debian's Docker package starts a daemon with its own bridge, so users must install it themselves.
TO_SOAK  := sqlite3:sqlite3 $(if $(wildcard /run/systemd/system),,dockerd:docker.io containerd:containerd /usr/lib/cni/bridge:containernetworking-plugins)
CRICTL   := sigs.k8s.io/cri-tools/cmd/crictl@v1.37.0
# Optional. Benches omit the rows of missing tools.
MININET  := mn:mininet brctl:bridge-utils
PERF     := perf:linux-perf
TRACERS  := bpftrace:bpftrace strace:strace

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: toolchain ## Install missing packages for building and testing
	@xtask/setup.sh $(TO_BUILD) $(TO_TEST)
	@$(MAKE) --no-print-directory --silent $(NODE)

.PHONY: build
build: setup-build ## Build the release binary
	cargo build --release --bin plumb
	@echo "built $(BUILT)/release/plumb"

.PHONY: demo
demo: setup-build ## Run the scenario `quick` (under 90 s) and write its report to out/quick.html
	cargo build --bin plumb
	@mkdir -p out
	$(PLUMB) run quick --db out/runs.db --output out/quick.html
	@echo "The report for a browser: out/quick.html. On the terminal: $(PLUMB) report --db out/runs.db"

.PHONY: demo-fleet
demo-fleet: setup-build ## Find a slow host and a lossy path among six hosts in namespaces, with members, a broker and PostgreSQL (root; a few minutes)
	@xtask/setup.sh $(TO_FLEET)
	@cargo build --quiet --bin plumb --example demo_fleet
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT INT TERM && chmod 711 "$$folder" && TMPDIR=$$folder $(BUILT)/debug/examples/demo_fleet $(abspath $(PLUMB))

.PHONY: test
test: setup ## Run every test; the last line counts passed, failed and skipped
	@$(XTASK) test

.PHONY: stats
stats: setup-build ## Test every statistical claim on 1,000 synthetic data sets per case (under 3 minutes; SEED=n, PEERS=1 adds Otava)
	@cargo run --release --quiet --example simulations -- $(if $(SEED),seed=$(SEED))
	@$(if $(PEERS),[ -d target/otava ] || { python3 -m venv target/otava && target/otava/bin/pip install --quiet apache-otava==0.8.0; })
	@$(if $(PEERS),cargo run --release --quiet --example simulations -- nights sets=200 $(if $(SEED),seed=$(SEED)) | target/otava/bin/python crates/stats/tests/reference/peer_otava.py)

.PHONY: lint
lint: setup-build $(NODE) ## Check every house rule: fmt, clippy, edges, licences, generated files, ...
	@command -v cargo-deny >/dev/null || { cd / && $(CARGO_TOOL) cargo-deny@0.20.2; }
	@$(XTASK) check

.PHONY: soak
soak: setup ## Run long tests (an hour or more) under load and faults (ARGS="NAME", e.g. kills or storm; ROUNDS=n, SEED=n)
	@xtask/setup.sh $(TO_SOAK) >&2
	@command -v crictl >/dev/null || ! command -v go >/dev/null || GOBIN=/usr/local/bin go install $(CRICTL) || echo "soak: continues without crictl" >&2
	@$(if $(ROUNDS),SOAK_ROUNDS=$(ROUNDS)) $(if $(SEED),SOAK_SEED=$(SEED)) cargo test --quiet --workspace --test soak -- $(ARGS)

.PHONY: fuzz
fuzz: setup-build ## Fuzz every parser, FUZZ_SECONDS (15) per target
	@fuzz/run.sh $(FUZZ_SECONDS)

.PHONY: bench
bench: setup-build ## Compare plumb with its peers (ARGS="--only NAME --json")
	@xtask/setup.sh $(TO_BENCH) >&2
	@xtask/setup.sh $(MININET) >&2 || echo "bench: continues without Mininet" >&2
	@xtask/setup.sh $(PERF) >&2 || echo "bench: continues without system call counts" >&2
	@xtask/setup.sh $(TRACERS) >&2 || echo "bench: continues without other tracers" >&2
	@cargo build --profile dist --quiet --bin plumb --bin plumb-benches
	@cargo run --profile dist --quiet --bin plumb-benches -- $(ARGS)

.PHONY: docs
docs: setup ## Repeat the measurements for all pictures and captures in docs/ (5 minutes on an idle machine)
	@$(XTASK) pictures
	@cargo build --quiet --bin plumb --example page_pictures
	@$(BUILT)/debug/examples/page_pictures $(abspath $(BUILT)/debug/plumb) docs/guide/pictures/pages
	@$(XTASK) captures

.PHONY: figures
figures: setup-build ## Redraw pictures in docs/ from raw records in the tree, without measuring
	@$(XTASK) pictures --no-runs

.PHONY: site
site: setup-build ## Build the documentation as a web site with offline search into out/site
	@command -v mdbook >/dev/null || cargo install --quiet --locked mdbook --version 0.5.4 --target "$$(rustc --print host-tuple)"
	@mdbook build
	@echo "The documentation: out/site/index.html"

.PHONY: release
release: setup-build cyclonedx ## Write a release into out/release (needs nfpm or Go; ARCHS="x86_64 aarch64")
	@$(if $(filter aarch64,$(ARCHS)),xtask/setup.sh $(TO_CROSS))
	@xtask/release.sh out/release $(ARCHS)

.PHONY: try-aarch64
try-aarch64: setup-build ## Run the aarch64 program of a release under emulation (root is not needed)
	@xtask/setup.sh $(TO_CROSS) $(TO_EMULATE)
	@xtask/dist.sh aarch64
	@xtask/try-aarch64.sh

.PHONY: deb
deb: setup-build cyclonedx ## Build a Debian package into out/ (needs nfpm or Go)
	@xtask/package.sh $@ out x86_64

.PHONY: rpm
rpm: setup-build cyclonedx ## Build an RPM package into out/ (needs nfpm or Go)
	@xtask/package.sh $@ out x86_64

.PHONY: cyclonedx
cyclonedx:
	@command -v cargo-cyclonedx >/dev/null || { cd / && $(CARGO_TOOL) cargo-cyclonedx@0.5.9; }

$(NODE): tests/browser/package-lock.json
	@xtask/setup.sh npm:npm
	@npm ci --prefix tests/browser --silent --no-audit --no-fund

.PHONY: setup-build
setup-build: toolchain
	@xtask/setup.sh $(TO_BUILD)

# rustup may be configured not to install rust-toolchain.toml's toolchain automatically.
.PHONY: toolchain
toolchain:
	@command -v rustup >/dev/null || command -v cargo >/dev/null || { echo "no Rust toolchain; see https://rustup.rs" >&2; exit 1; }
	@cargo --version >/dev/null 2>&1 || rustup toolchain install
	@rustc --print target-libdir --target $(TARGET) | xargs test -d || rustup target add $(TARGET)
