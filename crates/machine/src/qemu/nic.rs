//! The network device of a guest, whose other side is a tap device.

use std::fs::File;

/// A network device.
#[derive(Debug)]
pub struct Nic {
    /// A descriptor of the tap device for each queue.
    pub queues: Vec<File>,
    /// Its MAC address.
    pub mac: [u8; 6],
}

impl Nic {
    /// Why the host's kernel cannot move a guest's packets, if it cannot (vhost-net, which QEMU opens by itself).
    #[must_use]
    pub fn lacks_vhost() -> Option<String> {
        sys::vhost::try_own().err().map(|error| format!("{error} (modprobe vhost_net)"))
    }

    /// QEMU's options for it: the side of the tap device, and the side of the guest. Source: qemu(1), and
    /// Documentation/networking/multiqueue of linux-kvm.org for the vectors.
    pub(super) fn options(&self, vhost: bool, bus: &str, first: i32) -> [String; 2] {
        let queues = self.queues.len();
        let numbers: Vec<String> = (first..).take(queues).map(|number| number.to_string()).collect();
        let numbers = numbers.join(":");
        let descriptors = if queues == 1 { format!("fd={numbers}") } else { format!("fds={numbers}") };
        // With `vhost=on` alone, a QEMU without vhost-net goes on without it.
        let vhost = if vhost { "vhost=on,vhostforce=on" } else { "vhost=off" };
        let mac: Vec<String> = self.mac.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut device = format!("virtio-net-{bus},netdev=net,mac={}", mac.join(":"));
        if queues > 1 {
            device.push_str(",mq=on");
            if bus == "pci" {
                // One interrupt for each queue of each direction, one for its control queue, one for its settings.
                device.push_str(&format!(",vectors={}", 2 * queues + 2));
            }
        }
        [format!("tap,id=net,{descriptors},{vhost}"), device]
    }
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
            nic(1).options(false, "pci", 14),
            ["tap,id=net,fd=14,vhost=off".to_owned(), format!("virtio-net-pci,netdev=net,{mac}")]
        );
        assert_eq!(
            nic(2).options(true, "pci", 14),
            [
                "tap,id=net,fds=14:15,vhost=on,vhostforce=on".to_owned(),
                format!("virtio-net-pci,netdev=net,{mac},mq=on,vectors=6")
            ]
        );
        assert!(nic(2).options(false, "device", 14)[1].ends_with(",mq=on"));
    }
}
