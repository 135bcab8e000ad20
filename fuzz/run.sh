#!/bin/sh
# Runs every target for so many seconds (the first argument), as many at once as there are CPUs; with a second
# argument, that target only. New inputs are kept beside the build, not in the corpus; a crash ends with its input in
# artifacts/ and a status that is not zero. FUZZ_FEATURES= leaves out what takes most of the product to build.
set -eu
cd "$(dirname "$0")"
seconds=$1
features=${FUZZ_FEATURES-whole}
host=$(rustc --print host-tuple)
built=${CARGO_TARGET_DIR:-target}

# What `cargo fuzz run --sanitizer none` asks of the compiler; to build that takes longer than to run the targets.
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-sanitizer-coverage-stack-depth
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Ccodegen-units=1"
RUSTFLAGS="$(echo $coverage) --cfg fuzzing -Cdebug-assertions" \
    cargo build --release --quiet --target "$host" --features "$features"

# The rows of the table in src/main.rs, those behind the feature only with it.
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
# An input has 25 s, since targets may run beside other work.
FUZZ_TARGET=$target "$built/$host/release/fuzz" "$found" "corpus/$target" \
    -artifact_prefix="artifacts/$target/" -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=512 -timeout=25 \
    >"$log" 2>&1 || status=1
# The last lines: runs made and the memory that they took; of a failure, what led to it.
echo "fuzz: $target for $seconds s
$(if [ $status -eq 0 ]; then grep -E '^(Done|stat::|#[0-9]+.*DONE)' "$log" | tail -n 2; else tail -n 60 "$log"; fi)"
exit $status
