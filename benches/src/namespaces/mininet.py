# Uses Mininet's own API in its fastest configuration: no controller, and the kernel's bridge as the switch.
import subprocess
import sys

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo

check = sys.argv[1]
setLogLevel("error")
print("ready", flush=True)
sys.stdin.readline()

topology = SingleSwitchTopo(100)
net = Mininet(topo=topology, switch=LinuxBridge, controller=None, ipBase="198.18.0.0/24")
net.start()
print("made", flush=True)


def run(popen, command):
    process = popen(["sh", "-c", check + command], stdout=subprocess.PIPE)
    return process.communicate()[0].decode().strip()


print("checked", run(subprocess.Popen, "ports s1"), run(net["h1"].popen, "answers"), flush=True)
