#!/usr/bin/env bash
# Runs the program for aarch64 under user-mode emulation, except for commands that need namespaces or BPF, which QEMU
# does not emulate.
# Argument: the program (default: from `make release`).
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/aarch64-unknown-linux-musl/dist/plumb}")
emulator=$(command -v qemu-aarch64-static) ||
    { echo "skipped: there is no qemu-aarch64-static (qemu-user-static)" >&2; exit 0; }
[ -x "$program" ] || { echo "there is no build to try: make release" >&2; exit 1; }
tree=$PWD data=$PWD/crates/import/tests/data
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$work"' EXIT
cd "$work"
export HOME=$work PLUMB_DB=$work/runs.db
plumb() { "$emulator" "$program" "$@"; }
# Arguments: a pattern, and a command. The command's output has to match the pattern.
check() {
    local pattern=$1 began=$SECONDS
    shift
    # Doctor exits with 3, because labs cannot be measured under emulation.
    plumb "$@" >output 2>&1 || [ "$1 $?" = "doctor 3" ] || { cat output >&2; echo "failed: plumb $*" >&2; exit 1; }
    grep -E -e "$pattern" output >/dev/null || { cat output >&2; echo "no \"$pattern\": plumb $*" >&2; exit 1; }
    echo "ok: plumb $* ($((SECONDS - began)) s)"
}

check '^Usage: ' --help
check '^plumb 0' --version
check 'any user can run them' doctor
check '^imported .* trials' import "$data/vhost-net.md"
check '^Imported from' report
check 'bulk: vxlan-offload off instead of on' report "$tree/crates/analysis/tests/golden/egress.run.json"
check 'report written' report -o report.html
check 'written to results.png' plot --kind results -o results.png
head -c 4 results.png | grep -q PNG
check 'written to cdf.svg' plot "$data/flent-tcp-download.flent" --kind cdf -o cdf.svg
# The expected picture was drawn on x86-64.
cmp cdf.svg "$tree/docs/guide/pictures/cdf.svg"

port=$((20000 + RANDOM % 10000))
# QEMU has its own threads and no seccomp, so the server cannot be confined here.
coproc SERVER { exec "$emulator" "$program" server --bind 127.0.0.1 --port "$port" --unconfined 2>&1; }
server=$SERVER_PID
read -r line <&"${SERVER[0]}"
echo "server: $line"
grep -q '^serving' <<<"$line"
check '[GM]bit/s' client 127.0.0.1 --port "$port" --time 1
check '[GM]bit/s' client 127.0.0.1 --port "$port" --time 1 --reverse --parallel 2
check 'Mbit/s' client 127.0.0.1 --port "$port" --time 1 --udp --bitrate 10M
check 'median' ping 127.0.0.1 --port "$port" --time 1
