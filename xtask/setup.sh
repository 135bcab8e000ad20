#!/bin/sh
# Installs the Debian packages of what is missing. Arguments are COMMAND:PACKAGE or /FILE:PACKAGE.
# Does nothing, quickly and without root, when everything is there.
set -eu

PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
packages=""
for need in "$@"; do
    [ -e "${need%%:*}" ] || command -v "${need%%:*}" >/dev/null 2>&1 || packages="$packages ${need#*:}"
done
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: this machine has no apt-get; install what provides:$packages" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo env"
else
    echo "setup: neither root nor sudo; as root run: apt-get install --yes$packages" >&2
    exit 1
fi

echo "setup: installing$packages"
install="$as_root DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends $packages"
# The package lists may be absent or older than what the mirror still has.
$install </dev/null >/dev/null 2>&1 || {
    $as_root apt-get update --quiet </dev/null >/dev/null
    $install </dev/null
}
