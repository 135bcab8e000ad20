# Runs `ip` once per command, as such scripts usually do. $1 is check.sh.
need ping
echo ready
read -r go

ip link add br0 type bridge
ip link set br0 up
guest=1
while [ "$guest" -le 100 ]; do
    name=plumb-bench-$guest
    ip netns add "$name"
    ip link add "port$guest" type veth peer name eth0 netns "$name"
    ip link set "port$guest" master br0 up
    ip -n "$name" addr add "198.18.0.$guest/24" dev eth0
    ip -n "$name" link set lo up
    ip -n "$name" link set eth0 up
    guest=$((guest + 1))
done
echo made

eval "$1"
echo "checked $(ports br0) $(ip netns exec plumb-bench-1 sh -c "$1
answers")"
