# Checks a bridge and its guests in the same way for every contender.

# Counts the ports of bridge $1 that are up, from within its namespace.
ports() {
    ip -o link show master "$1" up | wc -l
}

# Counts the guests that reply to the first one, from within the first guest's namespace.
answers() {
    answered=0
    guest=2
    while [ "$guest" -le 100 ]; do
        ping -q -c 1 -W 2 "198.18.0.$guest" >/dev/null && answered=$((answered + 1))
        guest=$((guest + 1))
    done
    echo "$answered"
}
