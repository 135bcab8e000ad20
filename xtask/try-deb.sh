#!/usr/bin/env bash
# The Debian package of the program that is built already, installed into an empty root and tried there.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$(find target -maxdepth 3 -path "*/release/plumb" -type f | head -n 1)
cargo xtask deb --program "$program" --output "$work"

root=$work/root
mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/tmp"
touch "$root/var/lib/dpkg/"{status,available}
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --install "$work"/plumb_*.deb

# A static program needs nothing of that root.
chroot "$root" /usr/bin/plumb --version
for file in usr/share/bash-completion/completions/plumb usr/share/zsh/vendor-completions/_plumb \
    usr/share/fish/vendor_completions.d/plumb.fish usr/share/man/man1/plumb-run.1.gz usr/share/doc/plumb/copyright \
    usr/share/doc/plumb/plumb.cdx.json; do
    test -s "$root/$file" || { echo "the package has no $file" >&2; exit 1; }
done
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --remove plumb
test ! -e "$root/usr/bin/plumb"
