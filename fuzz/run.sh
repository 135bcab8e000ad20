#!/bin/sh
# Runs every target for so many seconds (the only argument). New inputs are kept beside the build, not in the
# corpus; a crash ends with its input in artifacts/ and a status that is not zero.
set -eu
cd "$(dirname "$0")"
seconds=$1
host=$(rustc --print host-tuple)

for target in $(cargo fuzz list); do
    found="target/found/$target"
    mkdir -p "$found"
    echo "fuzz: $target for $seconds s"
    log=$(mktemp)
    cargo fuzz run --sanitizer none --target "$host" "$target" "$found" "corpus/$target" -- \
        -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=512 -timeout=5 >"$log" 2>&1 || {
        tail -n 60 "$log"
        exit 1
    }
    # The last lines: runs made and the memory that they took.
    grep -E '^(Done|stat::|#[0-9]+.*DONE)' "$log" | tail -n 2
    rm -f "$log"
done
