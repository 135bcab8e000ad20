//! Moves a running machine's memory with virtio-mem, the guest's agent or virtio-balloon. Only virtio-mem can select a
//! node.

use std::time::{Duration, Instant};

use machine::Monitor;
use serde_json::json;
use units::Bytes;
use workload::BalloonMethod;

use super::{VmAccess, driver_statistics};
use crate::{
    agent::AgentBalloon,
    agent_link::AgentLink,
    balloon::Balloon,
    error::MemoryError,
    limits::{self, MOST_MEMORY},
    virtio_balloon,
    virtio_mem::{self, Device},
};

const SUMMARY: &str = "query-memory-size-summary";
const HUMAN: &str = "human-monitor-command";
/// Limits how long other VMs wait for the agent.
const RESIZE_TIME: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) enum Means {
    VirtioBalloon,
    VirtioMem { path: String, id: String },
    Agent(Box<AgentBalloon>),
}

impl Means {
    pub(super) fn of(
        monitor: &mut Monitor,
        access: &VmAccess,
        pid: Option<u32>,
    ) -> Result<Self, MemoryError> {
        let refused = |method: BalloonMethod, reason: &str| MemoryError::NoMethod {
            method: method.word(),
            reason: reason.to_owned(),
        };
        let has_balloon = driver_statistics::balloon(monitor)?.is_some();
        let of_fast = |device: &Device| !access.slow.contains(&device.node) && !device.id.is_empty();
        let device = virtio_mem::devices(monitor)?.into_iter().find(of_fast);
        let best = match device {
            Some(_) => BalloonMethod::VirtioMem,
            None if has_balloon => BalloonMethod::VirtioBalloon,
            None => return Err(MemoryError::NoBalloon),
        };
        match access.method.unwrap_or(best) {
            BalloonMethod::VirtioBalloon if !has_balloon => Err(MemoryError::NoBalloon),
            method @ BalloonMethod::VirtioBalloon if !access.slow.is_empty() => Err(refused(
                method,
                "it takes pages from any node; a machine with two tiers needs a virtio-mem device",
            )),
            BalloonMethod::VirtioBalloon => Ok(Self::VirtioBalloon),
            method @ BalloonMethod::VirtioMem => {
                let device =
                    device.ok_or_else(|| refused(method, "it has no device with an ID and fast memory"))?;
                Ok(Self::VirtioMem { path: format!("/machine/peripheral/{}", device.id), id: device.id })
            }
            method @ BalloonMethod::Agent => {
                let pid = pid.filter(|_| access.agent.is_some());
                let pid = pid.ok_or_else(|| refused(method, "`agent` is not set"))?;
                if !access.slow.is_empty() {
                    return Err(refused(method, "the agent takes pages from any node"));
                }
                Ok(Self::Agent(Box::new(AgentBalloon::new(monitor, pid)?)))
            }
        }
    }

    pub(super) fn method(&self) -> BalloonMethod {
        match self {
            Self::VirtioBalloon => BalloonMethod::VirtioBalloon,
            Self::VirtioMem { .. } => BalloonMethod::VirtioMem,
            Self::Agent(_) => BalloonMethod::Agent,
        }
    }

    pub(super) fn forget_agent(&mut self) {
        if let Self::Agent(balloon) = self {
            balloon.forget();
        }
    }

    pub(super) fn sizes(
        &mut self,
        monitor: &mut Monitor,
        slow: &[u32],
    ) -> Result<(Bytes, Bytes), MemoryError> {
        let of_slow = slow_memory(monitor, slow)?;
        let fast = match self {
            Self::VirtioBalloon => virtio_balloon::actual(monitor)?.saturating_sub(of_slow.0),
            Self::VirtioMem { .. } => {
                let plugged: Bytes = virtio_mem::devices(monitor)?.iter().map(|device| device.size).sum();
                (base(monitor)?.0 + plugged.0).saturating_sub(of_slow.0)
            }
            Self::Agent(balloon) => base(monitor)?.0.saturating_sub(balloon.taken()?.0),
        };
        Ok((Bytes(fast), of_slow))
    }

    pub(super) fn whole(&self, monitor: &mut Monitor, slow: &[u32]) -> Result<Bytes, MemoryError> {
        let of_slow = slow_memory(monitor, slow)?;
        let more = match self {
            Self::VirtioMem { .. } => {
                let devices = virtio_mem::devices(monitor)?;
                let most =
                    |device: &Device| if slow.contains(&device.node) { device.size } else { device.most };
                devices.iter().map(most).sum()
            }
            Self::VirtioBalloon | Self::Agent(_) => plugged(monitor)?,
        };
        Ok(Bytes((base(monitor)?.0 + more.0).saturating_sub(of_slow.0)))
    }

    pub(super) fn resize(
        &mut self,
        monitor: &mut Monitor,
        agent: Option<&mut AgentLink>,
        slow: &[u32],
        size: Bytes,
    ) -> Result<(), MemoryError> {
        let (fast, _) = self.sizes(monitor, slow)?;
        match self {
            Self::VirtioBalloon => virtio_balloon::ask_for(monitor, size),
            Self::VirtioMem { path, id } => {
                let device = virtio_mem::devices(monitor)?.into_iter().find(|device| device.id == *id);
                let device = device.ok_or(MemoryError::NoBalloon)?;
                let rest = fast.0.saturating_sub(device.size.0);
                let wanted = size.0.saturating_sub(rest).min(device.most.0);
                virtio_mem::ask_for(monitor, path, Bytes(wanted / device.block.0.max(1) * device.block.0))
            }
            Self::Agent(balloon) => {
                let agent = agent.ok_or_else(|| MemoryError::Guest("no reply".to_owned()))?;
                balloon.ask_for(Bytes(base(monitor)?.0.saturating_sub(size.0)))?;
                // Moves memory in batches, as long as the guest has free memory.
                let end = Instant::now() + RESIZE_TIME;
                while balloon.step(agent)? && Instant::now() < end {}
                Ok(())
            }
        }
    }
}

fn summary(monitor: &mut Monitor, part: &str) -> Result<Option<Bytes>, MemoryError> {
    let answer = monitor.order(SUMMARY, &json!({}))?;
    let impossible = || MemoryError::Strange { command: SUMMARY, answer: answer.to_string() };
    answer.get(part).map(|size| limits::bytes(size).ok_or_else(impossible)).transpose()
}

fn base(monitor: &mut Monitor) -> Result<Bytes, MemoryError> {
    let base = summary(monitor, "base-memory")?;
    base.ok_or(MemoryError::Strange { command: SUMMARY, answer: "no base-memory".to_owned() })
}

fn plugged(monitor: &mut Monitor) -> Result<Bytes, MemoryError> {
    Ok(summary(monitor, "plugged-memory")?.unwrap_or_default())
}

fn slow_memory(monitor: &mut Monitor, nodes: &[u32]) -> Result<Bytes, MemoryError> {
    if nodes.is_empty() {
        return Ok(Bytes(0));
    }
    let answer = monitor.order(HUMAN, &json!({ "command-line": "info numa" }))?;
    let sizes = node_sizes(answer.as_str().unwrap_or_default());
    let size = |node: &u32| sizes.iter().find(|(it, _)| it == node).map(|(_, size)| *size);
    let lacking = |node: &u32| MemoryError::Strange {
        command: HUMAN,
        answer: format!("the machine has no NUMA node {node} for slow memory"),
    };
    nodes.iter().map(|node| size(node).ok_or_else(|| lacking(node))).sum()
}

/// Parses `node 1 size: 256 MB`. The size includes plugged memory.
fn node_sizes(text: &str) -> Vec<(u32, Bytes)> {
    let node = |line: &str| {
        let (node, size) = line.trim().strip_prefix("node ")?.split_once(" size: ")?;
        let megabytes: u64 = size.strip_suffix(" MB")?.parse().ok()?;
        (megabytes <= MOST_MEMORY.0 >> 20).then_some((node.parse().ok()?, Bytes(megabytes << 20)))
    };
    text.lines().filter_map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_node_sizes() {
        let text = "2 nodes\r\nnode 0 cpus: 0\r\nnode 0 size: 384 MB\r\nnode 0 plugged: 128 MB\r\nnode 1 cpus:\r\n\
                    node 1 size: 256 MB\r\nnode 1 plugged: 0 MB\r\n";
        assert_eq!(node_sizes(text), [(0, Bytes(384 << 20)), (1, Bytes(256 << 20))]);
        assert_eq!(node_sizes("0 nodes\r\n"), []);
    }
}
