#!/usr/bin/env bash
# Packages the existing build, installs the package into an empty root and tries it there.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! PATH=$PATH:/usr/local/go/bin command -v go >/dev/null && ! command -v nfpm >/dev/null; then
    echo "skipped: there is neither nfpm nor Go to build it with" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$(find target -maxdepth 3 -path "*/debug/plumb" -type f | head -n 1)
[ -n "$program" ] || { echo "there is no build to package: cargo build --bin plumb" >&2; exit 1; }
xtask/package.sh deb "$work" "$program"

root=$work/root
mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/tmp"
touch "$root/var/lib/dpkg/"{status,available}
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --install "$work"/plumb_*.deb

# A static program needs no other files in this root.
chroot "$root" /usr/bin/plumb --version
for file in usr/share/bash-completion/completions/plumb usr/share/zsh/vendor-completions/_plumb \
    usr/share/fish/vendor_completions.d/plumb.fish usr/share/doc/plumb/copyright usr/share/doc/plumb/plumb.cdx.json; do
    test -s "$root/$file" || { echo "the package has no $file" >&2; exit 1; }
done
# The bill of materials lists the linked crates, but no crates that only tests use, and no paths of this
# machine.
bom=$root/usr/share/doc/plumb/plumb.cdx.json
grep -q '"purl": "pkg:cargo/rsa@' "$bom" || { echo "the bill of materials has no crate rsa" >&2; exit 1; }
if grep -e libtest-mimic -e plumb-tests -e "$PWD" "$bom" >&2; then
    echo "the bill of materials has crates of tests, or paths of this machine" >&2
    exit 1
fi
for page in plumb plumb-run; do
    zcat "$root/usr/share/man/man1/$page.1.gz" | grep -q "^\.TH $page 1" || { echo "no manual page $page" >&2; exit 1; }
done
completed=$(bash --norc -c 'source "$0"; COMP_WORDS=(plumb run q); COMP_CWORD=2; _plumb plumb q run; echo "${COMPREPLY[*]}"' \
    "$root/usr/share/bash-completion/completions/plumb")
[ "$completed" = quick ] || { echo "bash completes \`plumb run q\` to \`$completed\`" >&2; exit 1; }

# A run needs /proc and /sys. These mounts are private and disappear with the shell.
mkdir "$root/proc" "$root/sys"
unshare --mount bash -euc 'mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    chroot "$0" /usr/bin/plumb run quick --trials 1 --plain --db /var/lib/runs.db -o /var/lib/quick.html' "$root"
test -s "$root/var/lib/quick.html"
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --remove plumb
test ! -e "$root/usr/bin/plumb"
