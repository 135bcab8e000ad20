# Checks of a bridge and its guests, the same for every contender.

# Ports of bridge $1 that are up; runs in the bridge's namespace.
ports() {
    ip -o link show master "$1" up | wc -l
}

# Guests that reply to the first one; runs in the first guest's namespace.
answers() {
    answered=0
    guest=2
    while [ "$guest" -le 100 ]; do
        ping -q -c 1 -W 2 "198.18.0.$guest" >/dev/null && answered=$((answered + 1))
        guest=$((guest + 1))
    done
    echo "$answered"
}
