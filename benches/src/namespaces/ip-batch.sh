# Runs as few `ip` processes as possible. Two batches run outside of the namespaces and one in each, because a batch
# works in only one namespace. The files are written in advance. $1 is check.sh.
need ping
guest=1
{
    echo "link add br0 type bridge"
    echo "link set br0 up"
} >/run/bridge
while [ "$guest" -le 100 ]; do
    name=plumb-bench-$guest
    echo "netns add $name" >>/run/names
    {
        echo "link add port$guest type veth peer name eth0 netns $name"
        echo "link set port$guest master br0 up"
    } >>/run/bridge
    {
        echo "addr add 198.18.0.$guest/24 dev eth0"
        echo "link set lo up"
        echo "link set eth0 up"
    } >"/run/guest-$guest"
    guest=$((guest + 1))
done
echo ready
read -r go

ip -batch /run/names
ip -batch /run/bridge
guest=1
while [ "$guest" -le 100 ]; do
    ip -n "plumb-bench-$guest" -batch "/run/guest-$guest"
    guest=$((guest + 1))
done
echo made

eval "$1"
echo "checked $(ports br0) $(ip netns exec plumb-bench-1 sh -c "$1
answers")"
