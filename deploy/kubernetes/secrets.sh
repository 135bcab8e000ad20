#!/bin/sh
# Creates or updates the namespace, its Secrets and members.yaml from a folder created by `plumb fleet init`:
# secrets.sh FOLDER
set -eu
folder=${1:?the folder that \`plumb fleet init\` created}
here=$(dirname "$0")
in="kubectl -n plumb"
kubectl apply -f "$here/namespace.yaml"

put() {
    name=$1
    shift
    $in create secret generic "$name" --dry-run=client -o yaml "$@" | $in apply -f -
}
draw() { head -c 24 /dev/urandom | base64 | tr '+/' '-_'; }

put plumb-broker --from-file="$folder/nats.conf" --from-file="$folder/users.conf"
put plumb-watch --from-file=fleet.toml="$folder/watch.toml" --from-file="$folder/watch.nk"

# Each member has its own Secret, and a DaemonSet that runs only on its node. A node can read only the Secrets
# of its own pods, so it cannot read other members' or controllers' keys.
members=$(awk -F '"' '/^name = /{name = $2} /^role = "member"/{print name}' "$folder/register.toml")
: >"$here/members.yaml"
for member in $members; do
    put "plumb-member-$member" --from-file=member.nk="$folder/$member.nk"
    case $member in
    *.pod) template=pod-members.yaml ;;
    *) template=node-members.yaml ;;
    esac
    { echo ---; sed "s/NODE-NAME/${member%.pod}/g" "$here/$template"; } >>"$here/members.yaml"
    controllers=$(grep '^controllers = ' "$folder/$member.toml")
done
[ -z "$members" ] || sed -i "s/^controllers = .*/$controllers/" "$here/member.toml"

# The store's password never changes, because a new one would lock out all clients.
once() { $in create secret generic "$@" 2>&1 | grep -v ' already exists$' || true; }
once plumb-store --from-literal=password="$(draw)"
once plumb-web --from-literal=token="$(draw)"
# Earlier versions put all keys into one Secret, which every node could read.
$in delete secret plumb-members --ignore-not-found
