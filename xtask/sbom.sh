#!/bin/sh
# Prints the crates that are linked into the program or run during its build, as CycloneDX 1.5.
# Argument: the architecture (x86_64 or aarch64).
set -eu
cd "$(dirname "$0")/.."
command -v cargo-cyclonedx >/dev/null ||
    { echo "sbom: needs cargo-cyclonedx: cargo install --locked cargo-cyclonedx@0.5.9" >&2; exit 1; }
name=plumb.cdx
# cargo-cyclonedx writes a file next to each manifest, with absolute paths as identifiers.
trap 'find benches crates tests xtask -name "$name.json" -delete' EXIT
cargo cyclonedx --quiet --format json --spec-version 1.5 --target "$1-unknown-linux-musl" \
    --override-filename "$name" --manifest-path crates/plumb/Cargo.toml >&2
sed "s|file://$PWD/|file:///plumb/|g" "crates/plumb/$name.json"
