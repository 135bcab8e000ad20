#!/bin/sh
# Writes a package (deb or rpm) with the program, shell completions, manual pages and a bill of materials.
# Arguments: the kind, the output folder and, to skip the build, an existing program.
set -eu
cd "$(dirname "$0")/.."
kind=$1 output=$(mkdir -p "$2" && realpath "$2") program=${3:-}
# The folder of Go's own installer.
PATH=$PATH:/usr/local/go/bin
if ! command -v nfpm >/dev/null; then
    command -v go >/dev/null || { echo "package: needs nfpm, or Go 1.21 or newer to build nfpm" >&2; exit 1; }
    nfpm() { go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0 "$@"; }
fi
if [ -z "$program" ]; then
    xtask/dist.sh
    program=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-musl/dist/plumb
fi
# nfpm and cargo-cyclonedx write this time instead of the current time.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
umask 022
installed=$stage/usr/bin/plumb
install -D "$program" "$installed"
strip --strip-all "$installed"
share=$stage/usr/share
mkdir -p "$share/bash-completion/completions" "$share/fish/vendor_completions.d" "$share/doc/plumb"
"$installed" completions bash >"$share/bash-completion/completions/plumb"
"$installed" completions fish >"$share/fish/vendor_completions.d/plumb.fish"
# The destination folder depends on the kind of package; see nfpm.yaml.
"$installed" completions zsh >"$stage/_plumb"
"$installed" man -o "$share/man/man1" 2>/dev/null
gzip -9 -n --recursive "$share/man/man1"
cp LICENSE "$share/doc/plumb/copyright"
cp CHANGELOG.md "$share/doc/plumb/changelog"
xtask/sbom.sh >"$share/doc/plumb/plumb.cdx.json"

id=$(cargo pkgid --package plumb)
config=$PWD/xtask/nfpm.yaml
cd "$stage"
VERSION=${id##*[#@]} nfpm package --config "$config" --packager "$kind" --target "$output/"
