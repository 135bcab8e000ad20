//! Breaks down the latency along a path by following one message of a closed loop at a time until its reply
//! returns to the client.

mod histogram;
mod maps;
mod routes;
#[cfg(test)]
mod tests;

use aya::include_bytes_aligned;
use protocol::WatchedDevice;
use samples::{Overflow, ProbeKind, ProbeResults};

use crate::{
    bpf::{BpfObject, Hook},
    observe::{Probe, ProbeError, Watch},
};
use maps::Maps;

static OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/packet_way.bpf.o"));

const HOOKS: [Hook; 6] = [
    Hook::needed("call_begins", "sys_enter"),
    Hook::needed("call_ends", "sys_exit"),
    Hook::needed("queued", "net_dev_queue"),
    Hook::needed("transmitted", "net_dev_start_xmit"),
    Hook::needed("received", "netif_receive_skb"),
    Hook::needed("forked", "sched_process_fork"),
];

pub(crate) fn probe() -> Result<Box<dyn Probe>, ProbeError> {
    let loaded = BpfObject::new(OBJECT, &HOOKS, &[])?;
    Ok(Box::new(LatencyBreakdownProbe { loaded, following: None }))
}

struct LatencyBreakdownProbe {
    loaded: BpfObject,
    following: Option<Following>,
}

struct Following {
    every: u32,
    devices: Vec<WatchedDevice>,
}

impl Probe for LatencyBreakdownProbe {
    fn kind(&self) -> ProbeKind {
        ProbeKind::PacketWay
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        self.stop();
        self.following = None;
        let Some(latency_breakdown) = &watch.latency_breakdown else { return Ok(()) };
        let mut maps = Maps(&mut self.loaded);
        maps.clear()?;
        maps.follow(latency_breakdown, &watch.subjects)?;
        self.loaded.attach()?;
        self.following = Some(Following {
            every: latency_breakdown.every.max(1),
            devices: latency_breakdown.devices.clone(),
        });
        Ok(())
    }

    fn read(&mut self, results: &mut ProbeResults) -> Result<(), ProbeError> {
        let Some(following) = &self.following else { return Ok(()) };
        let mut maps = Maps(&mut self.loaded);
        let ways = maps.routes()?;
        results.latency_breakdown = Some(routes::most_frequent(
            &ways,
            following.every,
            &following.devices,
            |latency_breakdown, place| maps.times(latency_breakdown, place),
        )?);
        let events = ways.events_left_out;
        if events > 0 {
            results.overflowed.push(Overflow { probe: ProbeKind::PacketWay, events });
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.loaded.detach();
    }
}
