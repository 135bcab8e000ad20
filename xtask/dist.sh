#!/bin/sh
# Builds `plumb` as for packages from the tree in the current folder: the same program for any location of the tree and of cargo's
# home.
set -eu
home=${CARGO_HOME:-$HOME/.cargo}
# Extends .cargo/config.toml, which RUSTFLAGS would replace.
CFLAGS_x86_64_unknown_linux_musl="-ffile-prefix-map=$PWD=/plumb -ffile-prefix-map=$home=/cargo" \
    cargo build --quiet --locked --profile dist --bin plumb --config \
    "target.x86_64-unknown-linux-musl.rustflags=['--remap-path-prefix=$PWD=/plumb', '--remap-path-prefix=$home=/cargo']"
