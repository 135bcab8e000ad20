# $1 is check.sh, $2 is mininet.py.
need ping mnexec brctl ifconfig
# Debian's Python has the Mininet package; the first Python in PATH may not.
exec /usr/bin/python3 -c "$2" "$1"
