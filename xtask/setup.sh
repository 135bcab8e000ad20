#!/bin/sh
# Installs a Debian package for each argument, COMMAND:PACKAGE or /FILE:PACKAGE, if the command or file is missing.
# PACKAGE? is skipped if apt does not know it. If nothing is missing, the script returns quickly without root.
set -eu

PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
packages=""
unknown=""
for need in "$@"; do
    [ ! -e "${need%%:*}" ] && ! command -v "${need%%:*}" >/dev/null 2>&1 || continue
    package="${need#*:}"
    case "$package" in
    *\?)
        package="${package%?}"
        apt-cache show "$package" >/dev/null 2>&1 || { unknown="$unknown $need"; continue; }
        ;;
    esac
    packages="$packages $package"
done
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: this machine has no apt-get; install the equivalents of:$packages" >&2
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
# The package lists may be missing or outdated.
$install </dev/null >/dev/null 2>&1 || {
    $as_root apt-get update --quiet </dev/null >/dev/null
    $install </dev/null
}
# Checks unknown packages again with the new package lists.
[ -z "$unknown" ] || exec "$0" $unknown
