# $1 is check.sh, $2 is mininet.py.
need ping mnexec brctl ifconfig
# Debian's own Python, whose packages hold Mininet, whatever else comes first on the PATH.
exec /usr/bin/python3 -c "$2" "$1"
