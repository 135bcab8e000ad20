//! The namespaces of a lab's hosts and the ways to speak with the kernel in them.
//!
//! Each is anonymous and held by descriptors of this process only. It must not know what stands inside.

use std::{
    collections::BTreeMap,
    os::fd::AsFd,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use futures_util::TryStreamExt;
use nlink::netlink::{
    Connection, Ethtool, MessageBuilder, Nftables,
    genl::netdev::{Netdev, NetdevQstatsReply},
};
use samples::CpuAffinity;
use scenario::{DeviceRef, Host, HostName, Lab};
use sys::{device_statistics::DeviceStatistics, netns::NetNs, sysfs::Sysfs};
use tokio::runtime::Runtime;

use crate::{
    affinity,
    channel::Channel,
    error::CreateError,
    missing_capabilities::Element,
    refusal::{Refusal, errno},
    virtio_features,
};

/// How often, and after how long, one asks again for what another has.
const ATTEMPTS: u32 = 30;
const AGAIN: Duration = Duration::from_millis(100);

/// Whether a namespace forwards. A new one inherits this, like the settings below, from the machine, so that
/// each is written (ip-sysctl in the kernel's documentation).
const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";

/// What a host that forwards needs. The reverse path filter would drop replies that come back by another
/// device than the tunnel.
const FORWARDING: [(&str, &str); 3] = [
    (FORWARD, "1"),
    ("/proc/sys/net/ipv4/conf/all/rp_filter", "0"),
    ("/proc/sys/net/ipv4/conf/default/rp_filter", "0"),
];

/// Keeps devices that are made later without IPv6, so that neither address detection nor multicast reports
/// disturb a measurement.
const WITHOUT_IPV6: (&str, &str) = ("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");

/// Lets only the device that has an address answer for it: two devices of a host on one segment would both, and which of the
/// answers wins is a race.
const OWN_ADDRESSES: (&str, &str) = ("/proc/sys/net/ipv4/conf/all/arp_ignore", "1");

/// Lets a connection be made anew between the ports of one that has just ended: trials of one cell use the same
/// ports, so that whatever hashes them chooses alike. The kernel's default allows it on the loopback alone, and only
/// after a second (ip-sysctl; the delay can be set since Linux 6.14).
const PORTS_AGAIN: [(&str, &str); 2] =
    [("/proc/sys/net/ipv4/tcp_tw_reuse", "1"), ("/proc/sys/net/ipv4/tcp_tw_reuse_delay", "1")];

/// Every host's namespace.
pub(crate) struct Namespaces {
    hosts: BTreeMap<HostName, Place>,
    runtime: Arc<Runtime>,
    /// In the own namespace of the host that exists already, beside which all of these are.
    beside: Option<Channel>,
}

struct Place {
    namespace: NetNs,
    channel: Channel,
    /// Opened when first asked by.
    doors: OnceLock<NamespaceHandles>,
    /// Whether it is that of this process, which needs no rights to be looked at.
    is_own: bool,
}

/// What netlink does not tell of devices, and this does; `None` where the kernel does not let this process.
struct NamespaceHandles {
    sysfs: Option<Sysfs>,
    statistics: Option<DeviceStatistics>,
    /// `None` before Linux 6.3 too.
    netdev: Option<Connection<Netdev>>,
}

impl Namespaces {
    /// Makes a namespace for every host of `lab`, ready to forward where the host forwards.
    pub(crate) fn create(lab: &Lab) -> Result<Self, CreateError> {
        let runtime =
            runtime().map_err(|refusal| CreateError::Netlink { whom: "this process".into(), refusal })?;
        let runtime = Arc::new(runtime);
        let made = NetNs::create_many(lab.hosts.len())
            .map_err(|source| CreateError::Namespaces { hosts: lab.hosts.len(), source })?;
        let hosts = on_own_thread(|| {
            lab.hosts
                .iter()
                .zip(made)
                .map(|(host, namespace)| Place::open(&runtime, host, namespace))
                .collect()
        })?;
        Ok(Self { hosts, runtime, beside: None })
    }

    /// A namespace for each host of `lab` that is made on `host`, in whose own namespace this process is, and for itself.
    pub(crate) fn beside(lab: &Lab, host: &HostName) -> Result<Self, CreateError> {
        let mut here = lab.clone();
        here.hosts.retain(|one| lab.seat(&one.name) == Some(host));
        let made = Self::create(&here)?;
        let beside = Channel::open_here(&made.runtime)
            .map_err(|refusal| CreateError::Netlink { whom: format!("host `{host}`"), refusal })?;
        Ok(Self { beside: Some(beside), ..made })
    }

    /// The namespace of this process as that of the lab's only host: a guest's, which has no other.
    pub(crate) fn own(lab: &Lab) -> Result<Self, CreateError> {
        let runtime =
            runtime().map_err(|refusal| CreateError::Netlink { whom: "this process".into(), refusal })?;
        let runtime = Arc::new(runtime);
        let own = || NetNs::current().map_err(|source| CreateError::Namespaces { hosts: 1, source });
        let hosts =
            lab.hosts.iter().map(|host| Place::open(&runtime, host, own()?)).collect::<Result<_, _>>()?;
        Ok(Self { hosts, runtime, beside: None })
    }

    /// The namespace of this process as that of `host`, which exists already: nothing is set in it.
    pub(crate) fn existing(host: &HostName) -> Result<Self, CreateError> {
        let netlink = |refusal| CreateError::Netlink { whom: format!("host `{host}`"), refusal };
        let runtime = Arc::new(runtime().map_err(netlink)?);
        let namespace = NetNs::current().map_err(|source| CreateError::Namespaces { hosts: 1, source })?;
        let channel = Channel::open_here(&runtime).map_err(netlink)?;
        let place = Place { namespace, channel, doors: OnceLock::new(), is_own: true };
        Ok(Self { hosts: BTreeMap::from([(host.clone(), place)]), runtime, beside: None })
    }

    /// Has the own namespace of the host that exists already carry out `message`. What another has is asked for again for a
    /// while: the kernel takes away what an agent had made a moment after that has ended.
    pub(crate) fn ask_beside(&self, message: &MessageBuilder) -> Result<(), Refusal> {
        let channel = self.beside.as_ref().expect("the lab was checked to be on hosts that exist already");
        let mut attempts = 0..ATTEMPTS;
        loop {
            let refusal = channel.transact([message.clone()])?.into_iter().flatten().next();
            match refusal {
                Some(taken) if taken.errno() == errno::EEXIST && attempts.next().is_some() => {
                    channel.pause(AGAIN);
                }
                refusal => return refusal.map_or(Ok(()), Err),
            }
        }
    }

    /// The namespace of `host`, if it is here.
    pub(crate) fn get(&self, host: &HostName) -> Option<&NetNs> {
        self.hosts.get(host).map(|place| &place.namespace)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&HostName, &NetNs)> {
        self.hosts.iter().map(|(name, place)| (name, &place.namespace))
    }

    /// The rtnetlink socket in `host`, which must be a host of the lab.
    pub(crate) fn channel(&self, host: &HostName) -> &Channel {
        &self.hosts.get(host).expect("every device was checked to be in a host of the lab").channel
    }

    /// An ethtool connection in `host`, which must be a host of the lab.
    pub(crate) fn ethtool(&self, host: &HostName) -> Result<Connection<Ethtool>, Refusal> {
        let place = self.hosts.get(host).expect("every device was checked to be in a host of the lab");
        if place.is_own {
            return Ok(self.wait(Connection::<Ethtool>::new_async())?);
        }
        Ok(self.wait(Connection::<Ethtool>::new_in_async(place.namespace.as_fd()))?)
    }

    /// An nftables connection in `host`, if the lab has it.
    pub(crate) fn nftables(&self, host: &HostName) -> Result<Connection<Nftables>, Refusal> {
        let namespace = self.get(host).expect("every gateway was checked to be in hosts of the lab");
        let _inside = self.runtime.enter();
        Ok(Connection::<Nftables>::new_in(namespace.as_fd())?)
    }

    /// The CPUs that the work of the device at `at` is spread over; `None` where that cannot be read.
    pub(crate) fn spread(&self, at: &DeviceRef) -> Option<CpuAffinity> {
        let sysfs = self.doors(&at.host)?.sysfs.as_ref()?;
        affinity::read(&sysfs.path(), at.device.as_str())
    }

    /// What the device at `at` and its monitor have agreed on; `None` for one that is no virtio device.
    pub(crate) fn negotiated(&self, at: &DeviceRef) -> Option<Vec<String>> {
        let sysfs = self.doors(&at.host)?.sysfs.as_ref()?;
        virtio_features::read(&sysfs.path(), at.device.as_str())
    }

    /// What the driver of the device at `at` counts; nothing where it counts nothing, or does not tell.
    pub(crate) fn statistics(&self, at: &DeviceRef) -> Vec<(String, u64)> {
        let statistics = self.doors(&at.host).and_then(|doors| doors.statistics.as_ref());
        statistics.and_then(|statistics| statistics.read(at.device.as_str()).ok()).unwrap_or_default()
    }

    /// The kernel's statistics of the queues of `host`, by the index of their device. Empty where no driver reports any: before
    /// Linux 6.9 none does.
    pub(crate) fn queue_statistics(&self, host: &HostName) -> BTreeMap<u32, Vec<NetdevQstatsReply>> {
        let mut of_devices: BTreeMap<u32, Vec<NetdevQstatsReply>> = BTreeMap::new();
        let netdev = self.doors(host).and_then(|doors| doors.netdev.as_ref());
        let replies = netdev.and_then(|netdev| {
            let replies = async { netdev.dump_qstats(None, true).await?.try_collect::<Vec<_>>().await };
            self.wait(replies).ok()
        });
        for reply in replies.into_iter().flatten() {
            of_devices.entry(reply.ifindex.unwrap_or_default()).or_default().push(reply);
        }
        of_devices
    }

    fn doors(&self, host: &HostName) -> Option<&NamespaceHandles> {
        let place = self.hosts.get(host)?;
        let open = || (Sysfs::here().ok(), DeviceStatistics::here().ok());
        Some(place.doors.get_or_init(|| {
            let (sysfs, statistics) = match place.is_own {
                true => open(),
                false => place.namespace.run_in(open).unwrap_or_default(),
            };
            let netdev = match place.is_own {
                true => self.wait(Connection::<Netdev>::new_async()),
                false => self.wait(Connection::<Netdev>::new_in_async(place.namespace.as_fd())),
            };
            NamespaceHandles { sysfs, statistics, netdev: netdev.ok() }
        }))
    }

    /// Waits for a connection's answer.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

impl Place {
    /// Moves the calling thread into `namespace`, whose it is from now on.
    fn open(runtime: &Arc<Runtime>, host: &Host, namespace: NetNs) -> Result<(HostName, Self), CreateError> {
        namespace.enter().map_err(|source| CreateError::Namespaces { hosts: 1, source })?;
        let channel = Channel::open_here(runtime)
            .map_err(|refusal| CreateError::Netlink { whom: format!("host `{}`", host.name), refusal })?;
        // A kernel without IPv6 has no such file, and nothing to be kept quiet.
        let _ = write_setting(WITHOUT_IPV6.0, WITHOUT_IPV6.1);
        for (file, value) in PORTS_AGAIN {
            // Where this cannot be written, whoever connects tries again until the old connection is gone.
            let _ = write_setting(file, value);
        }
        write_here(host, OWN_ADDRESSES)?;
        if host.forwards {
            FORWARDING.into_iter().try_for_each(|setting| write_here(host, setting))?;
        } else {
            // Where this cannot be written, a host that nothing is routed through forwards nothing either.
            let _ = write_setting(FORWARD, "0");
        }
        Ok((host.name.clone(), Self { namespace, channel, doors: OnceLock::new(), is_own: false }))
    }
}

/// Writes a setting of the current network namespace, a file of /proc/sys.
#[expect(clippy::disallowed_methods, reason = "settings of the kernel are files")]
fn write_setting(file: &str, value: &str) -> std::io::Result<()> {
    std::fs::write(file, value)
}

fn write_here(host: &Host, (file, value): (&str, &str)) -> Result<(), CreateError> {
    write_setting(file, value).map_err(|error| CreateError::Refused {
        element: Element::Host(host.name.clone()),
        operation: format!("write {value} to {file}"),
        refusal: error.into(),
    })
}

/// What waits for the kernel's answers, on the thread that asks.
pub(crate) fn runtime() -> Result<Runtime, Refusal> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?)
}

/// A thread that enters namespaces is not to be used for anything else, so it ends with `work`.
fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, CreateError> + Send) -> Result<T, CreateError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespaces".into()).spawn_scoped(scope, work);
        let thread = thread
            .map_err(|error| CreateError::Netlink { whom: "a thread".into(), refusal: error.into() })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
