//! Reads the state of a tap device of another process, such as a virtual machine monitor.

use std::sync::Arc;

use nlink::netlink::{MessageBuilder, NlMsgType, message::NLM_F_REQUEST, types::link::IflaAttr};
use samples::{DeviceCounters, DeviceState, VmMaster};

use crate::{
    affinity, channel::Channel, device_kind::DeviceKind, message::link_header, namespaces,
    offload::FeatureSet, read_back, refusal::Refusal,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignTapState {
    pub state: DeviceState,
    pub qdisc: String,
    pub counters: DeviceCounters,
    pub namespace: u64,
    /// Whether packets have a virtio header with offload information.
    pub header: Option<bool>,
    pub master: Option<VmMaster>,
}

/// If the kernel does not report the device's namespace, searches the calling thread's namespace. This blocks, so
/// do not call it from an async runtime.
pub fn foreign_tap(pid: u32, number: i32, name: &str) -> Result<ForeignTapState, Refusal> {
    match sys::foreign_tap::look(pid, number) {
        Ok(tap) => {
            let read = || read_here(&tap.name, tap.namespace.inode(), Some(tap.header));
            tap.namespace.run_in(read).map_err(Refusal::from).flatten()
        }
        // If the process is in another namespace, this may be a different device with the same name.
        Err(error) => {
            let own = sys::netns::NetNs::current()?;
            let theirs = sys::netns::NetNs::open(format!("/proc/{pid}/ns/net"));
            match theirs {
                Ok(theirs) if theirs == own => read_here(name, own.inode(), None).map_err(|_| error.into()),
                _ => Err(error.into()),
            }
        }
    }
}

fn read_here(name: &str, namespace: u64, header: Option<bool>) -> Result<ForeignTapState, Refusal> {
    let runtime = Arc::new(namespaces::runtime()?);
    let channel = Channel::open_here(&runtime)?;
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETLINK, NLM_F_REQUEST);
    request.append(&link_header(0));
    request.append_attr_str(IflaAttr::Ifname as u16, name);
    let link = read_back::requested_link(&channel, request)?;
    let link = link.ok_or_else(|| Refusal::new(crate::refusal::errno::ENOENT, None))?;
    let (features, queues_and_rings) = channel.wait(FeatureSet::read_here(name))?;
    let master = match link.master {
        Some(index) => read_back::link_at(&channel, index)?,
        None => None,
    };
    let state = link.state(name.to_owned(), DeviceKind::of_word(&link.kind), &features, queues_and_rings);
    let sysfs = sys::sysfs::Sysfs::here().ok();
    let spread = sysfs.and_then(|sysfs| affinity::read(&sysfs.path(), name));
    Ok(ForeignTapState {
        state: DeviceState { spread, ..state },
        qdisc: link.qdisc,
        counters: DeviceCounters { device: name.to_owned(), ..link.counters },
        namespace,
        header,
        master: master.map(|link| VmMaster { name: link.name, kind: link.kind, mtu: link.mtu }),
    })
}
