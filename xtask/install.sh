#!/bin/sh
# Installs plumb from a release after verifying the checksum.
#   install.sh [--from FOLDER|URL] [--prefix FOLDER]
# --from is the folder or URL of the release (default: the folder of this script, or $PLUMB_RELEASE).
# --prefix is the folder for bin/ and share/ (default: /usr/local for root, otherwise ~/.local).
set -eu
fail() {
    echo "install.sh: $*" >&2
    exit 1
}
from=${PLUMB_RELEASE:-$(dirname "$0")}
prefix=/usr/local
[ "$(id -u)" = 0 ] || prefix=$HOME/.local
while [ $# -gt 0 ]; do
    case $1 in
    --from) from=${2:?"--from needs a folder or URL"} && shift 2 ;;
    --prefix) prefix=${2:?"--prefix needs a folder"} && shift 2 ;;
    *) fail "unknown argument $1; usage: install.sh [--from FOLDER|URL] [--prefix FOLDER]" ;;
    esac
done
arch=$(uname -m)
case $(uname -s)-$arch in
Linux-x86_64 | Linux-aarch64) ;;
*) fail "plumb needs Linux on x86-64 or aarch64; this is $(uname -s) on $arch" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
    case $from in
    http://* | https://*)
        if [ -n "$(command -v curl)" ]; then
            curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"
        else
            wget -q -O "$work/$1" "$from/$1"
        fi || fail "cannot download $from/$1"
        ;;
    *) cp "$from/$1" "$work/$1" || fail "$from is not a folder with a release; name one with --from" ;;
    esac
}
fetch SHA256SUMS
archive=$(sed -n 's/^[0-9a-f]\{64\}  \(plumb-[0-9A-Za-z.+-]*-'"$arch"'-linux\.tar\.gz\)$/\1/p' "$work/SHA256SUMS")
[ -n "$archive" ] || fail "$from/SHA256SUMS lists no archive for $arch"
fetch "$archive"
checked=$(cd "$work" && grep -F "  $archive" SHA256SUMS | sha256sum -c - 2>&1) ||
    fail "$archive does not match its checksum in SHA256SUMS; nothing was installed: $checked"
mkdir "$work/files"
gzip -dc "$work/$archive" | tar -xf - -C "$work/files"
mkdir -p "$prefix"
# A running program can be replaced only with -f.
cp -Rf "$work/files/${archive%.tar.gz}/." "$prefix/" || fail "cannot write to $prefix; choose another folder with --prefix"
echo "installed $("$prefix/bin/plumb" --version) in $prefix/bin"
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "add $prefix/bin to your PATH" ;; esac
