#!/usr/bin/env bash
# Checks `deploy/kubernetes`:
#   try-kubernetes.sh              validates manifests with the published schemas, and command lines with plumb
#   try-kubernetes.sh api-server   applies them to a real API server and the controllers that create pods (building both
#                                  with Go takes 15 minutes)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r deploy/kubernetes "$work/kubernetes"
manifests=$work/kubernetes
program=${CARGO_TARGET_DIR:-$root/target}/x86_64-unknown-linux-musl/debug/plumb
[ -x "$program" ] || { echo "there is no $program: cargo build --bin plumb" >&2; exit 1; }

schemas() {
    xtask/setup.sh /usr/share/doc/python3-venv:python3-venv
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check kubernetes-validate
    secrets
    "$work/venv/bin/kubernetes-validate" --strict --quiet "$manifests"/{namespace,broker,store,members,watch,web}.yaml
    # Unknown options are errors, even with --help.
    "$work/venv/bin/python" - "$manifests" "$program" <<'PYTHON'
import pathlib, subprocess, sys, yaml
folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
started = 0
for file in folder.glob("*.yaml"):
    if file.name in ("node-members.yaml", "pod-members.yaml"):
        continue  # templates of members.yaml
    for document in yaml.safe_load_all(file.read_text()):
        template = document.get("spec", {}).get("template", {})
        for container in template.get("spec", {}).get("containers", []):
            if container["image"] == "plumb":
                given = {"$(NODE_NAME)": "node1", "$(POD_IP)": "198.18.0.1"}
                words = [given.get(word, word) for word in container["args"]]
                subprocess.run([program, *words, "--help"], check=True, stdout=subprocess.DEVNULL)
                started += 1
assert started == 6, f"{started} containers have plumb"

# Only the member's pod has the Secret with the member's key.
secrets = {file.name: file.read_text().split() for file in (folder / "secrets").iterdir()}
seeds = {file.stem: file.read_text().split()[-1] for file in (folder / "fleet").glob("*.nk")}
holders = {name: {user for user, seed in seeds.items() if seed in words} for name, words in secrets.items()}
members = [user for user in seeds if user not in ("watch", "ops")]
expected = {name: set() for name in secrets} | {"plumb-watch": {"watch"}} | {f"plumb-member-{name}": {name} for name in members}
assert holders == expected and len(members) == 4, holders
for document in yaml.safe_load_all((folder / "members.yaml").read_text()):
    pod = document["spec"]["template"]["spec"]
    name = pod["containers"][0]["args"][3].replace("$(NODE_NAME)", pod["nodeName"])
    mounted = [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume]
    assert mounted == [f"plumb-member-{name}"] and name in members, (name, mounted)
    members.remove(name)
assert not members, members
print(f"every document is valid, and plumb accepts the arguments of {started} containers")
PYTHON
    # A member checks the keys of the fleet's controllers before it resolves the server's address.
    sed -i 's|^server = .*|server = "x"|; s|^key = .*||' "$manifests/member.toml"
    { "$program" member "$manifests/member.toml" --name node1 2>&1 || true; } | grep -q 'invalid NATS server address `x`'
    "$program" scenario check "$manifests/cluster.toml" >/dev/null
    "$program" watch "$manifests/nightly.toml" --dry-run --db "$work/runs.db" >/dev/null
}

fleet() {
    "$program" fleet init nats://plumb-broker:4222 --folder "$work/kubernetes/fleet" >/dev/null
    for user in "watch --controller" "ops --controller" node1 node1.pod \
        ip-198-18-0-2.example.internal ip-198-18-0-2.example.internal.pod; do
        # shellcheck disable=SC2086 # a name and an option
        "$program" fleet add $user --folder "$work/kubernetes/fleet" >/dev/null
    done
}

# Runs secrets.sh with a kubectl that writes each Secret's files to the folder `secrets`.
secrets() {
    fleet
    mkdir -p "$work/fake" "$manifests/secrets"
    cat >"$work/fake/kubectl" <<'KUBECTL'
#!/usr/bin/env bash
[ "$3 $4" = "create secret" ] || { cat >/dev/null; exit 0; }
for word in "${@:7}"; do
    case $word in --from-file=*) cat "${word##*=}" >>"$SECRETS/$6" ;; --from-literal=*) : >>"$SECRETS/$6" ;; esac
done
KUBECTL
    chmod +x "$work/fake/kubectl"
    SECRETS=$manifests/secrets PATH=$work/fake:$PATH "$manifests/secrets.sh" "$manifests/fleet" </dev/null
}

# In its own repository, Kubernetes replaces its modules with folders. Elsewhere, the modules have their own versions.
build() {
    local version=v1.35.4 from
    mkdir "$work/module" && cd "$work/module"
    from=$(go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
    {
        printf 'module try\ngo 1.25\nrequire k8s.io/kubernetes %s\n' "$version"
        sed -n "s/^[[:space:]]*\(k8s\.io\/[a-z0-9-]*\) => \.\/staging.*/replace \1 => \1 ${version/v1/v0}/p" "$from"
    } >go.mod
    printf 'package try\nimport (\n_ "k8s.io/kubernetes/cmd/%s/app"\n_ "k8s.io/kubernetes/cmd/%s/app"\n_ "k8s.io/kubectl/pkg/cmd"\n)\n' \
        kube-apiserver kube-controller-manager >try.go
    go mod tidy
    go build -o "$work/bin/" k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kubectl}
    cd "$root"
}

until_true() {
    local tries=120
    until "$@" >/dev/null 2>&1; do
        ((tries-- > 0)) || { echo "gave up waiting for: $*" >&2; return 1; }
        sleep 1
    done
}

pods() { [ "$(kubectl -n plumb get pods -o name | wc -l)" -eq 8 ]; }

# Runs in a private network namespace.
applied() {
    ip link set lo up
    children=()
    # Stops processes in reverse order, because an API server waits for its etcd.
    trap 'while ((${#children[@]})); do kill "${children[-1]}"; wait "${children[-1]}" || true; unset "children[-1]"; done' EXIT
    cd "$work"
    local etcd=http://127.0.0.1:2379
    etcd --data-dir etcd --listen-client-urls "$etcd" --advertise-client-urls "$etcd" --listen-peer-urls http://127.0.0.1:2380 2>etcd.log &
    children+=($!)
    openssl genrsa -out key 2048 2>/dev/null
    echo 'token,admin,1,system:masters' >tokens
    bin/kube-apiserver --etcd-servers "$etcd" --service-account-issuer https://plumb.example --service-account-key-file key \
        --service-account-signing-key-file key --token-auth-file tokens --authorization-mode RBAC --cert-dir certificates \
        --bind-address 127.0.0.1 --advertise-address 198.18.0.1 --service-cluster-ip-range 198.18.128.0/20 2>api-server.log &
    children+=($!)
    cat >config <<'CONFIG'
apiVersion: v1
kind: Config
clusters: [{name: try, cluster: {server: "https://127.0.0.1:6443", insecure-skip-tls-verify: true}}]
users: [{name: try, user: {token: token}}]
contexts: [{name: try, context: {cluster: try, user: try}}]
current-context: try
CONFIG
    export KUBECONFIG=$work/config PATH=$work/bin:$PATH
    until_true kubectl get --raw /readyz
    bin/kube-controller-manager --kubeconfig config --service-account-private-key-file key --cert-dir certificates 2>controllers.log &
    children+=($!)

    for node in node1 ip-198-18-0-2.example.internal; do
        kubectl apply -f - <<NODE
{apiVersion: v1, kind: Node, metadata: {name: $node, labels: {kubernetes.io/os: linux, kubernetes.io/arch: amd64}}}
NODE
    done
    # A second run must leave existing objects unchanged.
    "$manifests/secrets.sh" "$manifests/fleet"
    "$manifests/secrets.sh" "$manifests/fleet"
    kubectl apply -k "$manifests" --validate=strict
    until_true pods
    kubectl -n plumb get pods
    # Everything except the host network satisfies the strictest pod security standard.
    restricted=$(kubectl label --dry-run=server --overwrite namespace plumb pod-security.kubernetes.io/enforce=restricted 2>&1)
    grep 'plumb-node-member.* (and 1 other pod): host namespaces' <<<"$restricted"
    [ "$(grep -c '^Warning: plumb-' <<<"$restricted")" -eq 1 ] || { echo "$restricted" >&2; return 1; }
    echo "a real API server accepts every document, and its controllers create the pods"
}

case ${1:-} in
'') schemas ;;
api-server)
    command -v go >/dev/null || { echo "skipped: there is no Go to build an API server with" >&2; exit 0; }
    schemas
    xtask/setup.sh etcd:etcd-server openssl:openssl unshare:util-linux ip:iproute2
    build
    export root manifests work program
    export -f applied pods until_true
    unshare --net bash -euo pipefail -c applied
    ;;
*) echo "usage: $0 [api-server]" >&2; exit 64 ;;
esac
