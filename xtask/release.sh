#!/bin/sh
# Writes everything that a release publishes, and its checksums.
# Arguments: the output folder and, to skip the build, an existing program.
set -eu
cd "$(dirname "$0")/.."
output=$1
rm -rf "$output"
xtask/package.sh "tar deb rpm oci" "$output" "${2:-}"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
tar --create --directory deploy --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX kubernetes | gzip -9 -n >"$output/plumb-kubernetes.tar.gz"
tar --extract --to-stdout --gzip --file "$output"/plumb-*-x86_64-linux.tar.gz --wildcards '*/plumb.cdx.json' >"$output/plumb.cdx.json"
install xtask/install.sh "$output/"
cd "$output"
sums=$(sha256sum -- *)
echo "$sums" | tee SHA256SUMS
