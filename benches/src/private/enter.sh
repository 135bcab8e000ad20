# Start of every peer's script, in private network, mount and process namespaces.
set -eu
exec 2>&1
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

need() {
    for command in "$@"; do
        command -v "$command" >/dev/null || { echo "$command is not installed"; exit 1; }
    done
}

need ip mount
# The names of network namespaces are files of /run/netns.
mount -t tmpfs tmpfs /run
mkdir /run/netns
# Some settings are the machine's, not a namespace's.
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
ip link set lo up
