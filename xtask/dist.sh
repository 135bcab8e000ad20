#!/bin/sh
# Builds `plumb` for packages from the tree in the current folder. The program does not depend on the location of the
# tree or of cargo's home.
set -eu
home=${CARGO_HOME:-$HOME/.cargo}
# Use --config, because RUSTFLAGS would replace the flags in .cargo/config.toml.
CFLAGS_x86_64_unknown_linux_musl="-ffile-prefix-map=$PWD=/plumb -ffile-prefix-map=$home=/cargo" \
    cargo build --quiet --locked --profile dist --bin plumb --config \
    "target.x86_64-unknown-linux-musl.rustflags=['--remap-path-prefix=$PWD=/plumb', '--remap-path-prefix=$home=/cargo']"
