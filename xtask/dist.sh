#!/bin/sh
# Builds `plumb` for packages from the tree in the current folder. The result does not depend on the location of
# the tree or of cargo's home.
# Argument: the architecture (x86_64 or aarch64).
set -eu
target=$1-unknown-linux-musl
home=${CARGO_HOME:-$HOME/.cargo}
test -d "$(rustc --print target-libdir --target "$target")" || rustup target add "$target"
# Uses --config and TARGET_CFLAGS, because RUSTFLAGS and CFLAGS_* would replace the flags in .cargo/config.toml.
TARGET_CFLAGS="-ffile-prefix-map=$PWD=/plumb -ffile-prefix-map=$home=/cargo" \
    cargo build --quiet --locked --profile dist --bin plumb --target "$target" --config \
    "target.$target.rustflags=['--remap-path-prefix=$PWD=/plumb', '--remap-path-prefix=$home=/cargo']"
