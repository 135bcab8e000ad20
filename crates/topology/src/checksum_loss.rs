//! Stands in for a network card that does not complete checksums: forwards the packets of a tap device to another device,
//! and clears the flag that asks for the checksum (linux/virtio_net.h, Documentation/networking/tuntap.rst of Linux).

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::Mutex;
use scenario::DeviceRef;
use sys::{
    netns::NetNs,
    poller::{Interest, Poller},
    socket, tap,
};

use crate::refusal::Refusal;

/// Marks frames that were forwarded, so that they are not forwarded again.
pub(crate) const MARK: i32 = 0x706c_756d;
/// `struct virtio_net_hdr`, which precedes each packet.
const HEADER: usize = 10;
/// A frame of the largest IP packet, with its Ethernet header and VLAN tags.
const LARGEST: usize = HEADER + 65_535 + 22;
/// How long removing the fault may take.
const POLL: Duration = Duration::from_millis(50);

/// The forwarders of devices with this fault. They end when they are removed or dropped.
#[derive(Default)]
pub(crate) struct ChecksumLosses(Mutex<BTreeMap<DeviceRef, Forwarder>>);

struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChecksumLosses {
    /// Creates the tap device `tap` in the namespace of `at`. Its packets are sent on `at`.
    pub(crate) fn add(&self, namespace: &NetNs, at: &DeviceRef, tap: &str) -> Result<(), Refusal> {
        let open =
            || Ok((tap::create_without_checksums(tap)?, socket::frame_sender(at.device.as_str(), MARK)?));
        let (queue, socket) = namespace.run_in(open).flatten()?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let work = move || forward(queue, socket, &asked).unwrap_or_default();
        let thread = thread::Builder::new().name("checksum loss".into()).spawn(work)?;
        self.0.lock().insert(at.clone(), Forwarder { stop, thread: Some(thread) });
        Ok(())
    }

    /// Removes the tap device, too.
    pub(crate) fn remove(&self, at: &DeviceRef) {
        self.0.lock().remove(at);
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Returns when it is asked to stop, or when the device was removed with its namespace.
fn forward(mut queue: File, mut socket: File, stop: &AtomicBool) -> Result<(), Refusal> {
    let mut poller = Poller::new(1)?;
    poller.add(&queue, 0, Interest::Read)?;
    let (mut frame, mut ready) = (vec![0; LARGEST], Vec::new());
    while !stop.load(Ordering::Relaxed) {
        match queue.read(&mut frame) {
            // Without the header, nothing completes the checksum. Frames that cannot be sent are dropped.
            Ok(length) => _ = socket.write(frame.get(HEADER..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => poller.wait(&mut ready, Some(POLL))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
