# $1 is check.sh, $2 is mininet.py.
need ping mnexec brctl ifconfig
# Debian's Python, which has the Mininet package, even if another one comes first on the PATH.
exec /usr/bin/python3 -c "$2" "$1"
