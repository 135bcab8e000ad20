//! Imitates a network card that does not complete checksums: forwards packets from a tap device without their virtio
//! header (linux/virtio_net.h).

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

/// Marks forwarded frames.
pub(crate) const MARK: i32 = 0x706c_756d;
/// `struct virtio_net_hdr`.
const HEADER: usize = 10;
/// The largest packet, including the virtio header, an Ethernet header and VLAN tags.
const LARGEST: usize = HEADER + 65_535 + 22;
const POLL: Duration = Duration::from_millis(50);

#[derive(Default)]
pub(crate) struct ChecksumLosses(Mutex<BTreeMap<DeviceRef, Forwarder>>);

struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ChecksumLosses {
    /// Creates the tap device `tap` and forwards its packets to `at`.
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

/// Runs until `stop` is set or the device is removed.
fn forward(mut queue: File, mut socket: File, stop: &AtomicBool) -> Result<(), Refusal> {
    let mut poller = Poller::new(1)?;
    poller.add(&queue, 0, Interest::Read)?;
    let (mut frame, mut ready) = (vec![0; LARGEST], Vec::new());
    while !stop.load(Ordering::Relaxed) {
        match queue.read(&mut frame) {
            // Frames that cannot be sent are dropped.
            Ok(length) => _ = socket.write(frame.get(HEADER..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => poller.wait(&mut ready, Some(POLL))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
