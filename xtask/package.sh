#!/bin/sh
# Writes packages with the program, shell completions, manual pages and a bill of materials.
# Arguments: the kinds (deb, rpm, tar, oci), the output folder and the architectures (x86_64, aarch64). To skip a
# build, append an existing program, e.g. x86_64=target/plumb. The first program has to run on this machine,
# because it writes the completions and manual pages.
set -eu
cd "$(dirname "$0")/.."
kinds=$1 output=$(mkdir -p "$2" && realpath "$2")
shift 2
# Go's own installer uses this folder.
PATH=$PATH:/usr/local/go/bin
case $kinds in *deb* | *rpm*)
    if ! command -v nfpm >/dev/null; then
        command -v go >/dev/null || { echo "package: needs nfpm, or Go 1.21 or newer to build nfpm" >&2; exit 1; }
        nfpm() { go run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0 "$@"; }
    fi
esac
# nfpm, cargo-cyclonedx and tar write this time instead of the current time.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
id=$(cargo pkgid --package plumb)
VERSION=${id##*[#@]}
export VERSION

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

# Puts the program into $stage. If no program is given, dist.sh builds it.
install_program() {
    [ -n "$program" ] || xtask/dist.sh "$arch"
    installed=$stage/usr/bin/plumb
    install -D "${program:-${CARGO_TARGET_DIR:-target}/$arch-unknown-linux-musl/dist/plumb}" "$installed"
    [ "$arch" != "$(uname -m)" ] || strip --strip-all "$installed"
}

write_common() {
    share=$common/usr/share
    mkdir -p "$share/bash-completion/completions" "$share/fish/vendor_completions.d" "$share/doc/plumb"
    "$installed" completions bash >"$share/bash-completion/completions/plumb"
    "$installed" completions fish >"$share/fish/vendor_completions.d/plumb.fish"
    # The destination folder depends on the kind of package; see nfpm.yaml.
    "$installed" completions zsh >"$common/_plumb"
    "$installed" man -o "$share/man/man1" 2>/dev/null
    gzip -9 -n --recursive "$share/man/man1"
    cp LICENSE "$share/doc/plumb/copyright"
    cp CHANGELOG.md "$share/doc/plumb/changelog"
}

archive() {
    archive=$1 folder=$2
    shift 2
    tar --create --file "$archive" --directory "$folder" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
        --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "$@"
}

# The archive has one folder with the layout of a prefix such as /usr/local.
package_tar() {
    name=plumb-$VERSION-$arch-linux
    mkdir "$stage/tar"
    cp -r "$stage/usr" "$stage/tar/$name"
    install -D "$stage/_plumb" "$stage/tar/$name/share/zsh/site-functions/_plumb"
    archive "$stage/$name.tar" "$stage/tar" "$name"
    gzip -9 -n <"$stage/$name.tar" >"$output/$name.tar.gz"
    echo "created package: $output/$name.tar.gz"
}

# Adds a file to the image as a blob and prints its descriptor without the closing brace.
blob() {
    digest=$(sha256sum <"$2" | cut -d ' ' -f 1)
    printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%s' "$1" "$digest" "$(stat --format %s "$2")"
    mv "$2" "$stage/image/blobs/sha256/$digest"
}

# https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
package_oci() {
    mkdir -p "$stage/image/blobs/sha256" "$stage/layer/usr/bin"
    cp "$installed" "$stage/layer/usr/bin/"
    archive "$stage/layer.tar" "$stage/layer" usr
    difference=$(sha256sum <"$stage/layer.tar" | cut -d ' ' -f 1)
    printf '{"created":"%s","architecture":"%s","os":"linux","config":{"Entrypoint":["/usr/bin/plumb"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
        "$(date --utc --date "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" "$ARCH" "$difference" >"$stage/config.json"
    gzip -9 -n "$stage/layer.tar"
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s},"layers":[%s}]}' \
        "$(blob config.v1+json "$stage/config.json")" "$(blob layer.v1.tar+gzip "$stage/layer.tar.gz")" >"$stage/manifest.json"
    printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"plumb:%s"}}]}' \
        "$(blob manifest.v1+json "$stage/manifest.json")" "$VERSION" >"$stage/image/index.json"
    printf '{"imageLayoutVersion":"1.0.0"}' >"$stage/image/oci-layout"
    archive "$output/plumb-$VERSION-$arch-oci.tar" "$stage/image" blobs index.json oci-layout
    echo "created package: $output/plumb-$VERSION-$arch-oci.tar"
}

common=$work/common
for word; do
    arch=${word%%=*} program=${word#"$arch"} stage=$work/${word%%=*}
    program=${program#=}
    case $arch in
    x86_64) ARCH=amd64 ;;
    aarch64) ARCH=arm64 ;;
    *) echo "package: unknown architecture $arch" >&2 && exit 1 ;;
    esac
    export ARCH
    install_program
    [ -e "$common" ] || write_common
    cp -r "$common/." "$stage/"
    xtask/sbom.sh "$arch" >"$stage/usr/share/doc/plumb/plumb.cdx.json"
    # Guests require x86-64.
    sed "$([ "$arch" = x86_64 ] || echo '/- qemu-system-x86\|- linux-image/d')" xtask/nfpm.yaml >"$stage/nfpm.yaml"
    for kind in $kinds; do
        case $kind in
        deb | rpm) (cd "$stage" && nfpm package --config nfpm.yaml --packager "$kind" --target "$output/") ;;
        *) "package_$kind" ;;
        esac
    done
done
