#!/bin/sh
# Makes the namespace and its secrets from a folder of `plumb fleet init`, or brings them up to date: secrets.sh FOLDER
set -eu
folder=${1:?the folder that \`plumb fleet init\` made}
in="kubectl -n plumb"
kubectl apply -f "$(dirname "$0")/namespace.yaml"

put() {
    name=$1
    shift
    $in create secret generic "$name" --dry-run=client -o yaml "$@" | $in apply -f -
}
draw() { head -c 24 /dev/urandom | base64 | tr '+/' '-_'; }

put plumb-broker --from-file="$folder/nats.conf" --from-file="$folder/users.conf"
put plumb-watch --from-file=fleet.toml="$folder/watch.toml" --from-file="$folder/watch.nk"
set --
for key in "$folder"/*.nk; do
    [ "$key" = "$folder/watch.nk" ] || set -- "$@" --from-file="$key"
done
put plumb-members "$@"
# Another password than the store was made with would lock everybody out.
once() { $in create secret generic "$@" 2>&1 | grep -v ' already exists$' || true; }
once plumb-store --from-literal=password="$(draw)"
once plumb-web --from-literal=token="$(draw)"
