//! The network devices of the agent's host.

use std::{collections::BTreeMap, io, net::IpAddr, thread};

use fleet::{Occupied, Presence, Reservation};
use parking_lot::Mutex;
use protocol::Reply;
use scenario::{DeviceName, DeviceRef, DeviceSettings, HostName, Lab};
use sys::netns::NetNs;
use topology::{ConfigureError, FoundInterface, ReadError, Topology};

use crate::refusal::Refusal;

/// This variable contains the client's address and port, followed by this host's address and port (ssh(1)).
const SSH_CONNECTION: &str = "SSH_CONNECTION";

#[derive(Default)]
pub(crate) struct Network {
    known: Mutex<Vec<Topology>>,
    interface: Mutex<Option<DeviceName>>,
    reservation: Mutex<Option<(Reservation, io::Result<Presence>)>>,
}

impl Network {
    pub(crate) fn configure_network(&self, lab: &Lab, host: &HostName) -> Result<Reply, Refusal> {
        has_its_cpus(lab, host)?;
        let topology = create_topology(lab, host)?;
        if let Some(missing) = topology.missing().first() {
            return Err(Refusal { reason: missing.to_string(), unsupported: true });
        }
        self.known.lock().insert(0, topology);
        Ok(Reply::Done)
    }

    pub(crate) fn at<T: Send>(
        &self,
        address: IpAddr,
        work: impl FnOnce() -> Result<T, Refusal> + Send,
    ) -> Result<T, Refusal> {
        let there = |topology: &Topology| topology.namespace_of(address).map(NetNs::try_clone);
        let namespace = self.known.lock().iter().find_map(there).transpose()?;
        match namespace {
            Some(namespace) if namespace != NetNs::current()? => namespace.run_in(work)?,
            _ => work(),
        }
    }

    pub(crate) fn find(
        &self,
        host: &HostName,
        address: Option<IpAddr>,
        interface: Option<&DeviceName>,
    ) -> Result<Reply, Refusal> {
        let address = match (address, interface) {
            (None, None) => Some(ssh_arrived_at()?),
            (address, _) => address,
        };
        let found = Topology::existing(host, address, interface);
        let (topology, FoundInterface { end, mtu }) =
            found.map_err(|error| Refusal::new(error.to_string()))?;
        *self.known.lock() = vec![topology];
        *self.interface.lock() = Some(end.device.device.clone());
        Ok(Reply::Interface { end, mtu })
    }

    pub(crate) fn reserve(&self, by: &str) -> Result<Reply, Refusal> {
        let interface = self.interface.lock().clone();
        let interface = interface
            .ok_or_else(|| Refusal::new("no interface has been found; send find-interface first"))?;
        match Reservation::take(interface.as_str(), by).map_err(|error| Refusal::new(error.to_string()))? {
            Ok(reservation) => {
                // If the announcement fails, the run continues, but other runs do not learn about it.
                *self.reservation.lock() = Some((reservation, Presence::announce(by)));
                Ok(Reply::Reserved { others: Presence::others(by) })
            }
            Err(Occupied { by }) => Ok(Reply::Occupied { by }),
        }
    }

    pub(crate) fn release(&self) -> Result<Reply, Refusal> {
        *self.reservation.lock() = None;
        Ok(Reply::Done)
    }

    pub(crate) fn configure(&self, devices: &BTreeMap<DeviceRef, DeviceSettings>) -> Result<Reply, Refusal> {
        let known = self.known.lock();
        let topology = known.first().ok_or_else(unknown)?;
        topology.configure(devices).map_err(|error| Refusal {
            unsupported: matches!(error, ConfigureError::Unsupported { .. }),
            reason: error.to_string(),
        })?;
        Ok(Reply::Done)
    }

    pub(crate) fn states(&self, devices: &[DeviceRef]) -> Result<Reply, Refusal> {
        let states = self.read(devices, Topology::device_states)?;
        Ok(Reply::DeviceStates { states })
    }

    pub(crate) fn counters(&self, devices: &[DeviceRef]) -> Result<Reply, Refusal> {
        let read = |topology: &Topology, devices: &[DeviceRef]| Ok(vec![topology.reading(devices)?]);
        let (mut counters, mut hosts) = (Vec::new(), Vec::new());
        for reading in self.read(devices, read)? {
            counters.extend(reading.devices);
            hosts.extend(reading.hosts);
        }
        Ok(Reply::DeviceCounters { counters, hosts })
    }

    /// Reads each device in its own namespace. If a device is in none, returns the error from the last namespace.
    fn read<T>(
        &self,
        devices: &[DeviceRef],
        read: impl Fn(&Topology, &[DeviceRef]) -> Result<Vec<T>, ReadError>,
    ) -> Result<Vec<T>, Refusal> {
        let known = self.known.lock();
        let (last, others) = known.split_last().ok_or_else(unknown)?;
        let (mut left, mut found) = (devices.to_vec(), Vec::new());
        for topology in others {
            let here: Vec<DeviceRef> = left.extract_if(.., |at| topology.has(at)).collect();
            found.extend(read(topology, &here).map_err(|error| unread(&error))?);
        }
        found.extend(read(last, &left).map_err(|error| unread(&error))?);
        Ok(found)
    }
}

fn unknown() -> Refusal {
    Refusal::new("the devices of this host have not been configured or found")
}

fn create_topology(lab: &Lab, host: &HostName) -> Result<Topology, Refusal> {
    Topology::inside(lab, host).map_err(|error| match lab.existing(host) {
        Some(_) if error.is_permission() => Refusal::new(
            "its agent cannot create network namespaces and devices without root (CAP_SYS_ADMIN \
             and CAP_NET_ADMIN): log in as root with `ssh`, or run `plumb member` as root; for a \
             `local` host, run plumb itself as root",
        ),
        _ => Refusal::new(error.to_string()),
    })
}

#[expect(clippy::disallowed_methods, reason = "sshd sets this variable for its child process")]
fn ssh_arrived_at() -> Result<IpAddr, Refusal> {
    let connection = std::env::var(SSH_CONNECTION).unwrap_or_default();
    let address = connection.split_whitespace().nth(2).and_then(|address| address.parse().ok());
    let address = address.map(|address: IpAddr| address.to_canonical());
    address.ok_or_else(|| {
        Refusal::new("SSH did not report its address (SSH_CONNECTION); set `address` or `interface`")
    })
}

/// Fails if CPUs are missing in a guest. If an emulated CPU starts too slowly, the kernel leaves it out and
/// prints a message on the console.
fn has_its_cpus(lab: &Lab, host: &HostName) -> Result<(), Refusal> {
    let Some(wanted) = lab.vm(host).map(|vm| vm.vcpus as usize) else { return Ok(()) };
    let found = thread::available_parallelism().map_or(0, usize::from);
    if found == wanted {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "virtual machine `{host}` has {found} CPUs instead of {wanted}: its kernel did not start the others"
    )))
}

fn unread(error: &ReadError) -> Refusal {
    Refusal::new(error.to_string())
}
