//! The network namespaces of a lab's hosts, with sockets in each.

use std::{
    collections::BTreeMap,
    os::fd::AsFd,
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use futures_util::TryStreamExt;
use nlink::netlink::{
    Connection, Ethtool, Generic, MessageBuilder, Nftables, Wireguard, Xfrm,
    genl::netdev::{Netdev, NetdevQstatsReply},
};
use samples::CpuAffinity;
use scenario::{DeviceRef, Host, HostName, Lab};
use sys::{device_statistics::DeviceStatistics, netns::NetNs, sysfs::Sysfs};
use tokio::runtime::Runtime;

use crate::{
    affinity,
    channel::Channel,
    checksum_loss::ChecksumLosses,
    error::CreateError,
    missing_capabilities::Element,
    refusal::{Refusal, errno},
    virtio_features,
};

const ATTEMPTS: u32 = 30;
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// New namespaces inherit this and the following settings from the machine, so each is set explicitly (ip-sysctl in
/// the kernel's documentation).
const FORWARD: &str = "/proc/sys/net/ipv4/ip_forward";

/// Enables forwarding and disables the reverse path filter, which would drop replies that arrive on a device
/// other than the tunnel.
const FORWARDING: [(&str, &str); 3] = [
    (FORWARD, "1"),
    ("/proc/sys/net/ipv4/conf/all/rp_filter", "0"),
    ("/proc/sys/net/ipv4/conf/default/rp_filter", "0"),
];

/// Disables IPv6 in labs that do not use it. Otherwise, duplicate address detection and multicast reports would disturb
/// measurements.
const WITHOUT_IPV6: [(&str, &str); 1] = [("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1")];

/// A router needs link-local addresses to resolve the next hop of forwarded packets. Disabling duplicate address
/// detection makes them usable at once.
const IPV6: [(&str, &str); 6] = [
    ("/proc/sys/net/ipv6/conf/all/disable_ipv6", "0"),
    ("/proc/sys/net/ipv6/conf/default/disable_ipv6", "0"),
    ("/proc/sys/net/ipv6/conf/all/accept_dad", "0"),
    ("/proc/sys/net/ipv6/conf/default/accept_dad", "0"),
    ("/proc/sys/net/ipv6/conf/default/accept_ra", "0"),
    ("/proc/sys/net/ipv6/conf/default/router_solicitations", "0"),
];

const FORWARD_IPV6: (&str, &str) = ("/proc/sys/net/ipv6/conf/all/forwarding", "1");

/// Only the device that has an address replies to ARP requests for it. Otherwise two devices of a host on the same
/// segment would both reply.
const OWN_ADDRESSES: (&str, &str) = ("/proc/sys/net/ipv4/conf/all/arp_ignore", "1");

/// Allows reusing the ports of a connection that has just closed, because all trials of a result use the same ports.
/// By default, the kernel allows this only on loopback, after a second (ip-sysctl; configurable since Linux 6.14).
const REUSE_PORTS: [(&str, &str); 2] =
    [("/proc/sys/net/ipv4/tcp_tw_reuse", "1"), ("/proc/sys/net/ipv4/tcp_tw_reuse_delay", "1")];

pub(crate) struct Namespaces {
    hosts: BTreeMap<HostName, HostNamespace>,
    runtime: Arc<Runtime>,
    on_existing: Option<Channel>,
    pub(crate) checksum_losses: ChecksumLosses,
}

struct HostNamespace {
    namespace: NetNs,
    channel: Channel,
    handles: OnceLock<NamespaceHandles>,
    is_own: bool,
}

struct NamespaceHandles {
    sysfs: Option<Sysfs>,
    statistics: Option<DeviceStatistics>,
    /// The netdev family, or `None` before Linux 6.3.
    netdev: Option<Connection<Netdev>>,
}

impl Namespaces {
    pub(crate) fn create(lab: &Lab) -> Result<Self, CreateError> {
        let runtime =
            runtime().map_err(|refusal| CreateError::Netlink { whom: "this process".into(), refusal })?;
        let runtime = Arc::new(runtime);
        let created = NetNs::create_many(lab.hosts.len())
            .map_err(|source| CreateError::Namespaces { hosts: lab.hosts.len(), source })?;
        let has_ipv6 = lab.has_ipv6();
        let hosts = on_own_thread(|| {
            let pairs = lab.hosts.iter().zip(created);
            pairs
                .map(|(host, namespace)| HostNamespace::open(&runtime, (host, has_ipv6), namespace))
                .collect()
        })?;
        Ok(Self { hosts, runtime, on_existing: None, checksum_losses: ChecksumLosses::default() })
    }

    /// This process must run in the host's own namespace.
    pub(crate) fn on_existing(lab: &Lab, host: &HostName) -> Result<Self, CreateError> {
        let mut here = lab.clone();
        here.hosts.retain(|one| lab.seat(&one.name) == Some(host));
        let created = Self::create(&here)?;
        let on_existing = Channel::open_here(&created.runtime)
            .map_err(|refusal| CreateError::Netlink { whom: format!("host `{host}`"), refusal })?;
        Ok(Self { on_existing: Some(on_existing), ..created })
    }

    pub(crate) fn own(lab: &Lab) -> Result<Self, CreateError> {
        let runtime =
            runtime().map_err(|refusal| CreateError::Netlink { whom: "this process".into(), refusal })?;
        let runtime = Arc::new(runtime);
        let own = || NetNs::current().map_err(|source| CreateError::Namespaces { hosts: 1, source });
        let hosts = lab
            .hosts
            .iter()
            .map(|host| HostNamespace::open(&runtime, (host, lab.has_ipv6()), own()?))
            .collect::<Result<_, _>>()?;
        Ok(Self { hosts, runtime, on_existing: None, checksum_losses: ChecksumLosses::default() })
    }

    pub(crate) fn existing(host: &HostName) -> Result<Self, CreateError> {
        let netlink = |refusal| CreateError::Netlink { whom: format!("host `{host}`"), refusal };
        let runtime = Arc::new(runtime().map_err(netlink)?);
        let namespace = NetNs::current().map_err(|source| CreateError::Namespaces { hosts: 1, source })?;
        let channel = Channel::open_here(&runtime).map_err(netlink)?;
        let host_namespace = HostNamespace { namespace, channel, handles: OnceLock::new(), is_own: true };
        let hosts = BTreeMap::from([(host.clone(), host_namespace)]);
        Ok(Self { hosts, runtime, on_existing: None, checksum_losses: ChecksumLosses::default() })
    }

    /// Opens namespaces without changing their settings.
    pub(crate) fn attached(all: impl IntoIterator<Item = (HostName, NetNs)>) -> Result<Self, Refusal> {
        let runtime = Arc::new(runtime()?);
        let own = NetNs::current()?;
        let mut hosts = BTreeMap::new();
        for (host, namespace) in all {
            let is_own = namespace == own;
            let open = || Channel::open_here(&runtime);
            let channel = if is_own { open() } else { namespace.run_in(open)? }?;
            hosts.insert(host, HostNamespace { namespace, channel, handles: OnceLock::new(), is_own });
        }
        Ok(Self { hosts, runtime, on_existing: None, checksum_losses: ChecksumLosses::default() })
    }

    /// Retries on conflicts, because the kernel may not have removed the devices of an earlier agent yet.
    pub(crate) fn transact_on_host(&self, message: &MessageBuilder) -> Result<(), Refusal> {
        let channel = self.on_existing.as_ref().expect("the lab is on existing hosts");
        let mut attempts = 0..ATTEMPTS;
        loop {
            let refusal = channel.transact([message.clone()])?.into_iter().flatten().next();
            match refusal {
                Some(taken) if taken.errno() == errno::EEXIST && attempts.next().is_some() => {
                    channel.pause(RETRY_DELAY);
                }
                refusal => return refusal.map_or(Ok(()), Err),
            }
        }
    }

    pub(crate) fn get(&self, host: &HostName) -> Option<&NetNs> {
        self.hosts.get(host).map(|host_namespace| &host_namespace.namespace)
    }

    /// Does not enter the process's own namespace, because that would need privileges.
    pub(crate) fn read_in<T: Send>(&self, host: &HostName, read: impl FnOnce() -> T + Send) -> Option<T> {
        let host_namespace = self.hosts.get(host)?;
        if host_namespace.is_own { Some(read()) } else { host_namespace.namespace.run_in(read).ok() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&HostName, &NetNs)> {
        self.hosts.iter().map(|(name, host_namespace)| (name, &host_namespace.namespace))
    }

    pub(crate) fn channel(&self, host: &HostName) -> &Channel {
        &self.hosts.get(host).expect("hosts of devices are checked").channel
    }

    pub(crate) fn ethtool(&self, host: &HostName) -> Result<Connection<Ethtool>, Refusal> {
        let host_namespace = self.hosts.get(host).expect("hosts of devices are checked");
        if host_namespace.is_own {
            return Ok(self.wait(Connection::<Ethtool>::new_async())?);
        }
        Ok(self.wait(Connection::<Ethtool>::new_in_async(host_namespace.namespace.as_fd()))?)
    }

    pub(crate) fn nftables(&self, host: &HostName) -> Result<Connection<Nftables>, Refusal> {
        let namespace = self.get(host).expect("hosts of gateways are checked");
        let _inside = self.runtime.enter();
        Ok(Connection::<Nftables>::new_in(namespace.as_fd())?)
    }

    pub(crate) fn wireguard(&self, host: &HostName) -> Result<Connection<Wireguard>, Refusal> {
        let namespace = self.get(host).expect("hosts of links are checked");
        Ok(self.wait(Connection::<Wireguard>::new_in_async(namespace.as_fd()))?)
    }

    pub(crate) fn generic(&self, host: &HostName) -> Result<Connection<Generic>, Refusal> {
        let namespace = self.get(host).expect("hosts of links are checked");
        let _inside = self.runtime.enter();
        Ok(Connection::<Generic>::new_in(namespace.as_fd())?)
    }

    pub(crate) fn xfrm(&self, host: &HostName) -> Result<Connection<Xfrm>, Refusal> {
        let namespace = self.get(host).expect("hosts of links are checked");
        let _inside = self.runtime.enter();
        Ok(Connection::<Xfrm>::new_in(namespace.as_fd())?)
    }

    pub(crate) fn affinity_of(&self, at: &DeviceRef) -> Option<CpuAffinity> {
        let sysfs = self.handles(&at.host)?.sysfs.as_ref()?;
        affinity::read(&sysfs.path(), at.device.as_str())
    }

    pub(crate) fn negotiated(&self, at: &DeviceRef) -> Option<Vec<String>> {
        let sysfs = self.handles(&at.host)?.sysfs.as_ref()?;
        virtio_features::read(&sysfs.path(), at.device.as_str())
    }

    pub(crate) fn statistics(&self, at: &DeviceRef) -> Vec<(String, u64)> {
        let statistics = self.handles(&at.host).and_then(|handles| handles.statistics.as_ref());
        statistics.and_then(|statistics| statistics.read(at.device.as_str()).ok()).unwrap_or_default()
    }

    /// Returns per-queue statistics by device index. There are none before Linux 6.9, or if no driver reports any.
    pub(crate) fn queue_statistics(&self, host: &HostName) -> BTreeMap<u32, Vec<NetdevQstatsReply>> {
        let mut by_device: BTreeMap<u32, Vec<NetdevQstatsReply>> = BTreeMap::new();
        let netdev = self.handles(host).and_then(|handles| handles.netdev.as_ref());
        let replies = netdev.and_then(|netdev| {
            let replies = async { netdev.dump_qstats(None, true).await?.try_collect::<Vec<_>>().await };
            self.wait(replies).ok()
        });
        for reply in replies.into_iter().flatten() {
            by_device.entry(reply.ifindex.unwrap_or_default()).or_default().push(reply);
        }
        by_device
    }

    fn handles(&self, host: &HostName) -> Option<&NamespaceHandles> {
        let host_namespace = self.hosts.get(host)?;
        let open = || (Sysfs::here().ok(), DeviceStatistics::here().ok());
        Some(host_namespace.handles.get_or_init(|| {
            let (sysfs, statistics) = match host_namespace.is_own {
                true => open(),
                false => host_namespace.namespace.run_in(open).unwrap_or_default(),
            };
            let netdev = match host_namespace.is_own {
                true => self.wait(Connection::<Netdev>::new_async()),
                false => self.wait(Connection::<Netdev>::new_in_async(host_namespace.namespace.as_fd())),
            };
            NamespaceHandles { sysfs, statistics, netdev: netdev.ok() }
        }))
    }

    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

impl HostNamespace {
    fn open(
        runtime: &Arc<Runtime>,
        (host, has_ipv6): (&Host, bool),
        namespace: NetNs,
    ) -> Result<(HostName, Self), CreateError> {
        namespace.enter().map_err(|source| CreateError::Namespaces { hosts: 1, source })?;
        let channel = Channel::open_here(runtime)
            .map_err(|refusal| CreateError::Netlink { whom: format!("host `{}`", host.name), refusal })?;
        // In a kernel without IPv6, these files do not exist, and the kernel refuses the addresses.
        for (file, value) in if has_ipv6 { &IPV6[..] } else { &WITHOUT_IPV6 } {
            let _ = write_setting(file, value);
        }
        for (file, value) in REUSE_PORTS {
            // If this fails, clients retry until the old connection is gone.
            let _ = write_setting(file, value);
        }
        write_here(host, OWN_ADDRESSES)?;
        if host.forwards {
            let ipv6 = has_ipv6.then_some(FORWARD_IPV6);
            FORWARDING.into_iter().chain(ipv6).try_for_each(|setting| write_here(host, setting))?;
        } else {
            // Ignore errors, because no routes lead through this host.
            let _ = write_setting(FORWARD, "0");
        }
        Ok((host.name.clone(), Self { namespace, channel, handles: OnceLock::new(), is_own: false }))
    }
}

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

pub(crate) fn runtime() -> Result<Runtime, Refusal> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?)
}

/// Runs `work` on a separate thread, because a thread that has entered another namespace cannot be reused.
fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, CreateError> + Send) -> Result<T, CreateError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("namespaces".into()).spawn_scoped(scope, work);
        let thread = thread
            .map_err(|error| CreateError::Netlink { whom: "a thread".into(), refusal: error.into() })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
