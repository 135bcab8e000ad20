#!/bin/sh
# Runs every target for the given number of seconds, in parallel on all CPUs. A second argument selects a single
# target. New inputs go to the build directory, not to the corpus. After a crash, the input is in artifacts/ and the
# exit status is not zero. FUZZ_FEATURES= skips the targets that need most of the product.
set -eu
cd "$(dirname "$0")"
seconds=$1
features=${FUZZ_FEATURES-whole}
host=$(rustc --print host-tuple)
built=${CARGO_TARGET_DIR:-target}

# The flags of `cargo fuzz run --sanitizer none`. Building cargo-fuzz would take longer than running the targets.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Ccodegen-units=1"
RUSTFLAGS="$(echo $coverage) --cfg fuzzing -Cdebug-assertions" \
    cargo build --release --quiet --target "$host" --features "$features"

# The targets in src/main.rs that the features enable.
targets=$(awk -F '"' -v features="$features" '/cfg\(feature/ { is_whole = 1; next }
    /^    \("/ { if (!is_whole || features == "whole") print $2; is_whole = 0 }' src/main.rs)
if [ $# -eq 1 ]; then
    echo "$targets" | xargs -P "$(nproc)" -n 1 ./run.sh "$seconds"
    exit
fi

target=$2
echo "$targets" | grep -qx "$target" || { echo "fuzz: no target $target; there are:" $targets >&2; exit 64; }
found="$built/found/$target"
mkdir -p "$found" "artifacts/$target"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# Allow 25 s per input, because the machine may be busy.
FUZZ_TARGET=$target "$built/$host/release/fuzz" "$found" "corpus/$target" \
    -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=512 -timeout=25 \
    >"$log" 2>&1 || status=1
# The last lines show the number of runs and the memory used, or the cause of a failure.
echo "fuzz: $target for $seconds s
$(if [ $status -eq 0 ]; then grep -E '^(Done|stat::|#[0-9]+.*DONE)' "$log" | tail -n 2; else tail -n 60 "$log"; fi)"
exit $status
