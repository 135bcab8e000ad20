//! A tap device that another process holds, such as a virtual machine monitor: its state as its own namespace has it.
//!
//! Looks only. It must not know of a lab, nor what the process is.

use std::sync::Arc;

use nlink::netlink::{MessageBuilder, NlMsgType, message::NLM_F_REQUEST, types::link::IflaAttr};
use samples::{DeviceCounters, DeviceState, VmMaster};

use crate::{
    affinity, channel::Channel, link::DeviceKind, message::link_header, namespaces, offload::FeatureSet,
    read_back, refusal::Refusal,
};

/// A tap device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignTapState {
    /// Its state, under its own name without a host.
    pub state: DeviceState,
    /// The queueing discipline at its root.
    pub qdisc: String,
    /// What passed it since it was made.
    pub counters: DeviceCounters,
    /// The inode of the network namespace that it is in.
    pub namespace: u64,
    /// Whether packets have a header that tells of offloads; `None` where the kernel did not tell.
    pub header: Option<bool>,
    /// The bridge, or other device, that it is a port of.
    pub master: Option<VmMaster>,
}

/// The tap device `name`, one of whose queues is descriptor `number` of process `pid`. Where the kernel does not say which
/// namespace it is in, it is looked for in the one of the calling thread. Blocks; not to be called from within an async
/// runtime.
pub fn foreign_tap(pid: u32, number: i32, name: &str) -> Result<ForeignTapState, Refusal> {
    match sys::foreign_tap::look(pid, number) {
        Ok(held) => {
            let read = || here(&held.name, held.namespace.inode(), Some(held.header));
            held.namespace.run_in(read).map_err(Refusal::from).flatten()
        }
        // In this namespace a device of that name may be another one; it is the same where the process is here too.
        Err(refused) => {
            let own = sys::netns::NetNs::current()?;
            let theirs = sys::netns::NetNs::open(format!("/proc/{pid}/ns/net"));
            match theirs {
                Ok(theirs) if theirs == own => here(name, own.inode(), None).map_err(|_| refused.into()),
                _ => Err(refused.into()),
            }
        }
    }
}

fn here(name: &str, namespace: u64, header: Option<bool>) -> Result<ForeignTapState, Refusal> {
    let runtime = Arc::new(namespaces::runtime()?);
    let channel = Channel::open_here(&runtime)?;
    let mut request = MessageBuilder::new(NlMsgType::RTM_GETLINK, NLM_F_REQUEST);
    request.append(&link_header(0));
    request.append_attr_str(IflaAttr::Ifname as u16, name);
    let link = read_back::link_asked(&channel, request)?;
    let link = link.ok_or_else(|| Refusal::new(crate::refusal::errno::ENOENT, None))?;
    let (features, beside) = channel.wait(FeatureSet::read_here(name))?;
    let master = match link.master {
        Some(index) => read_back::link_at(&channel, index)?,
        None => None,
    };
    let state = link.state(name.to_owned(), DeviceKind::of_word(&link.kind), &features, beside);
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
