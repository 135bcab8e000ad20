#!/bin/sh
# Builds the packaged program twice from copies of the tree and compares the results. Both builds use the same
# folder, because the path of a build script's output becomes part of a crate's hash (in `rustversion`, which
# reads a file there).
# Arguments: the architecture (default: x86_64) and the folder for both copies (default: temporary).
set -eu
cd "$(dirname "$0")/.."
arch=${1:-x86_64} folder=${2:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
for copy in tree one other; do
    [ ! -e "$folder/$copy" ] || { echo "$folder/$copy exists from an earlier build; remove it" >&2; exit 1; }
done
for copy in one other; do
    mkdir "$folder/tree"
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory "$folder/tree"
    (cd "$folder/tree" && CARGO_TARGET_DIR=$PWD/target xtask/dist.sh "$arch")
    mv "$folder/tree" "$folder/$copy"
done
program=target/$arch-unknown-linux-musl/dist/plumb
cmp "$folder/one/$program" "$folder/other/$program" || {
    echo "the builds differ; pass a folder to keep both, and compare them with diffoscope" >&2
    exit 1
}
echo "both builds have the same $(stat --format %s "$folder/one/$program") bytes"
