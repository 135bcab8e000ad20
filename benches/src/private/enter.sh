# The start of every peer's script, which runs in private network, mount and process namespaces.
set -eu
exec 2>&1
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

need() {
    for command in "$@"; do
        command -v "$command" >/dev/null || { echo "$command is not installed"; exit 1; }
    done
}

need ip mount
# Network namespaces are named by files in /run/netns.
mount -t tmpfs tmpfs /run
mkdir /run/netns
# Protects settings that belong to the machine rather than to a namespace.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
ip link set lo up
