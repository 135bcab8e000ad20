# What there is to see of a bridge and its guests. The same for every contender.

# How many ports of bridge $1 are up; for the bridge's namespace.
ports() {
    ip -o link show master "$1" up | wc -l
}

# How many of the other guests answer the first; for the first guest's namespace.
answers() {
    answered=0
    guest=2
    while [ "$guest" -le 100 ]; do
        ping -q -c 1 -W 2 "198.18.0.$guest" >/dev/null && answered=$((answered + 1))
        guest=$((guest + 1))
    done
    echo "$answered"
}
