# $1 is check.sh, $2 is mininet.py.
need ping mnexec brctl ifconfig
# Use Debian's Python, which has the Mininet package, even if the PATH has another Python first.
exec /usr/bin/python3 -c "$2" "$1"
