#!/usr/bin/env bash
# Makes a release, installs each of its packages into an empty root and tries it there.
# Argument: the program (default: from `cargo build`, because other profiles take longer).
set -euo pipefail
cd "$(dirname "$0")/.."

if ! PATH=$PATH:/usr/local/go/bin command -v go >/dev/null && ! command -v nfpm >/dev/null; then
    echo "skipped: there is neither nfpm nor Go to build it with" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "$*" >&2
    exit 1
}
program=${1:-${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-musl/debug/plumb}
[ -x "$program" ] || fail "there is no build to package: cargo build"
release=$work/release
xtask/release.sh "$release" "x86_64=$program" >/dev/null
xtask/release.sh "$work/again" "x86_64=$program" >/dev/null
diff "$release/SHA256SUMS" "$work/again/SHA256SUMS" || fail "two releases of one commit differ"
(cd "$release" && sha256sum --check --quiet SHA256SUMS)

# A run needs /proc and /sys. These mounts are private and disappear with the shell.
run_in() {
    mkdir -p "$1/proc" "$1/sys" "$1/var/lib"
    unshare --mount bash -euc 'mount -t proc proc "$0/proc"
        mount --rbind /sys "$0/sys"
        chroot "$0" "$1" run quick --trials 1 --plain --db /var/lib/runs.db -o /var/lib/quick.html' "$@"
    test -s "$1/var/lib/quick.html"
}

root=$work/deb
mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/tmp"
touch "$root/var/lib/dpkg/"{status,available}
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --install "$release"/plumb_*.deb
# A static program needs no other files in this root.
chroot "$root" /usr/bin/plumb --version
for file in usr/share/bash-completion/completions/plumb usr/share/zsh/vendor-completions/_plumb \
    usr/share/fish/vendor_completions.d/plumb.fish usr/share/doc/plumb/copyright usr/share/doc/plumb/plumb.cdx.json; do
    test -s "$root/$file" || fail "the package has no $file"
done
# The bill of materials lists the linked crates, but no test crates and no paths of this machine.
bom=$release/plumb-x86_64.cdx.json
grep -q '"purl": "pkg:cargo/rsa@' "$bom" || fail "the bill of materials has no crate rsa"
if grep -e libtest-mimic -e plumb-tests -e "$PWD" "$bom" >&2; then
    fail "the bill of materials has crates of tests, or paths of this machine"
fi
for page in plumb plumb-run; do
    zcat "$root/usr/share/man/man1/$page.1.gz" | grep -q "^\.TH $page 1" || fail "no manual page $page"
done
completed=$(bash --norc -c 'source "$0"; COMP_WORDS=(plumb run q); COMP_CWORD=2; _plumb plumb q run; echo "${COMPREPLY[*]}"' \
    "$root/usr/share/bash-completion/completions/plumb")
[ "$completed" = quick ] || fail "bash completes \`plumb run q\` to \`$completed\`"
run_in "$root" /usr/bin/plumb
dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --remove plumb
test ! -e "$root/usr/bin/plumb"

# Installs the archive in a root that contains only busybox.
root=$work/busybox
mkdir -p "$root/bin" "$root/release" "$root/tmp"
cp "$(command -v busybox)" "$root/bin/"
chroot "$root" /bin/busybox --install -s /bin
cp "$release/"{install.sh,SHA256SUMS,plumb-*-linux.tar.gz} "$root/release/"
# Upgrades plumb while an older version is running, e.g. as a member.
install -D "$(command -v sleep)" "$root/usr/local/bin/plumb"
"$root/usr/local/bin/plumb" 60 &
running=$!
env -u HOME chroot "$root" /bin/sh /release/install.sh | grep -F "in /usr/local/bin"
kill "$running"
run_in "$root" /usr/local/bin/plumb
for file in bin/plumb share/bash-completion/completions/plumb share/man/man1/plumb.1.gz share/zsh/site-functions/_plumb; do
    test -s "$root/usr/local/$file" || fail "the archive has no $file"
done
printf x >>"$root/release/"plumb-*-linux.tar.gz
if refused=$(chroot "$root" /bin/sh /release/install.sh --prefix /opt 2>&1) || [ -e "$root/opt" ]; then
    fail "install.sh installed an archive with another checksum: $refused"
fi
grep -q "does not match its checksum" <<<"$refused" || fail "$refused"

if command -v rpm >/dev/null; then
    rpm --root "$work/rpm" --dbpath /rpmdb --install --nodeps "$release"/plumb-*.rpm
    chroot "$work/rpm" /usr/bin/plumb --version
else
    echo "skipped: there is no rpm to install the RPM with" >&2
fi

if command -v podman >/dev/null; then
    containers() { podman --root "$work/containers" --runroot "$work/containers-run" --storage-driver vfs --cgroup-manager cgroupfs "$@"; }
    image=$(containers load --quiet --input "$release"/plumb-*-oci.tar)
    # A confined root may not raise its limits to the defaults.
    containers run --rm --runtime runc --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 --network none \
        "${image#Loaded image: }" doctor >"$work/doctor" || true
    grep -F "any user can run them" "$work/doctor"
    containers system reset --force >/dev/null 2>&1
else
    echo "skipped: there is no podman to load the image with" >&2
fi
