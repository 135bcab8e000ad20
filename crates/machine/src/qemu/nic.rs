//! A guest's network device, backed by a tap device.

use std::fs::File;

use scenario::{VirtioNet, Vm};

#[derive(Debug)]
pub struct Nic {
    pub queues: Vec<File>,
    pub mac: [u8; 6],
}

impl Nic {
    /// Checks by opening the device, as QEMU does later.
    #[must_use]
    pub fn lacks_vhost() -> Option<String> {
        sys::vhost::try_own().err().map(|error| format!("{error} (modprobe vhost_net)"))
    }

    pub(super) fn options(&self, vm: &Vm, bus: &str, first: i32) -> [String; 2] {
        let queues = self.queues.len();
        let numbers: Vec<String> = (first..).take(queues).map(|number| number.to_string()).collect();
        let numbers = numbers.join(":");
        let descriptors = if queues == 1 { format!("fd={numbers}") } else { format!("fds={numbers}") };
        // With only `vhost=on`, QEMU would silently run without vhost-net.
        let vhost = if vm.vhost { "vhost=on,vhostforce=on" } else { "vhost=off" };
        let mac: Vec<String> = self.mac.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut device = format!("virtio-net-{bus},netdev=net,mac={}", mac.join(":"));
        if bus == "pci" {
            device.push_str(",romfile=");
        }
        if queues > 1 {
            device.push_str(",mq=on");
            if bus == "pci" {
                // One per receive and transmit queue, one for the control queue, and one for configuration changes.
                device.push_str(&format!(",vectors={}", 2 * queues + 2));
            }
        }
        device.extend(features(vm.virtio));
        [format!("tap,id=net,{descriptors},{vhost}"), device]
    }
}

/// See virtio_net_properties in hw/net/virtio-net.c.
fn features(virtio: VirtioNet) -> Vec<String> {
    // These extensions depend on the other features.
    let extensions = [("gso", virtio.tso), ("host_ecn", virtio.tso), ("guest_ecn", virtio.gro)];
    let extensions = extensions.into_iter().filter_map(|(name, on)| Some((name, on?)));
    let switches = virtio.features().into_iter().chain(extensions);
    let mut options: Vec<String> =
        switches.map(|(name, on)| format!(",{name}={}", if on { "on" } else { "off" })).collect();
    let rings = [("rx_queue_size", virtio.rx_ring), ("tx_queue_size", virtio.tx_ring)];
    options.extend(rings.iter().filter_map(|(name, places)| Some(format!(",{name}={}", (*places)?))));
    if (virtio.mrg_rxbuf, virtio.gro) == (Some(false), Some(false)) {
        // Without `host_mtu`, the guest's driver would drop packets larger than its initial MTU.
        options.push(format!(",host_mtu={}", u16::MAX));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_have_descriptors_and_vectors() {
        let queue = || File::open("/dev/null").expect("Linux");
        let nic = |queues: usize| Nic {
            queues: (0..queues).map(|_| queue()).collect(),
            mac: [2, 86, 198, 18, 0, 7],
        };
        let mac = "mac=02:56:c6:12:00:07";
        assert_eq!(
            nic(1).options(&Vm::default(), "pci", 14),
            ["tap,id=net,fd=14,vhost=off".to_owned(), format!("virtio-net-pci,netdev=net,{mac},romfile=")]
        );
        assert_eq!(
            nic(2).options(&Vm { vhost: true, ..Vm::default() }, "pci", 14),
            [
                "tap,id=net,fds=14:15,vhost=on,vhostforce=on".to_owned(),
                format!("virtio-net-pci,netdev=net,{mac},romfile=,mq=on,vectors=6")
            ]
        );
        assert!(nic(2).options(&Vm::default(), "device", 14)[1].ends_with(",mq=on"));
    }

    #[test]
    fn sets_only_requested_features() {
        let check = |virtio: VirtioNet, expected: &str| assert_eq!(features(virtio).concat(), expected);
        let (none, off) = (VirtioNet::default(), Some(false));
        check(none, "");
        check(
            VirtioNet { csum: Some(true), rx_ring: Some(1024), ..none },
            ",csum=on,guest_csum=on,rx_queue_size=1024",
        );
        check(VirtioNet { tso: off, ..none }, ",host_tso4=off,host_tso6=off,gso=off,host_ecn=off");
        check(VirtioNet { ufo: off, mrg_rxbuf: off, ..none }, ",guest_ufo=off,host_ufo=off,mrg_rxbuf=off");
        check(
            VirtioNet { gro: off, mrg_rxbuf: off, ..none },
            ",guest_tso4=off,guest_tso6=off,mrg_rxbuf=off,guest_ecn=off,host_mtu=65535",
        );
    }
}
