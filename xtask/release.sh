#!/bin/sh
# Writes everything that a release publishes, and its checksums.
# Arguments: the output folder and the architectures, as for package.sh.
set -eu
cd "$(dirname "$0")/.."
output=$1
shift
rm -rf "$output"
xtask/package.sh "tar deb rpm oci" "$output" "$@"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
tar --create --directory deploy --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX kubernetes | gzip -9 -n >"$output/plumb-kubernetes.tar.gz"
for word; do
    arch=${word%%=*}
    tar --extract --to-stdout --gzip --file "$output"/plumb-*-"$arch"-linux.tar.gz --wildcards '*/plumb.cdx.json' \
        >"$output/plumb-$arch.cdx.json"
done
install xtask/install.sh "$output/"
cd "$output"
sums=$(sha256sum -- *)
echo "$sums" | tee SHA256SUMS
