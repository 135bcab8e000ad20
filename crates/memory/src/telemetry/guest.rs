//! Memory telemetry from inside this process's guest. Sources: proc_meminfo(5), proc_vmstat(5), accounting/psi.rst of
//! Linux.

use std::{collections::BTreeMap, fs};

use protocol::{AccessSourceKind, MemoryTelemetry, NodeMemory};
use sys::clock::{monotonic, thread_cpu};
use units::{Bytes, Nanos};

use super::{AccessSource, Accesses, Look, read, reason, source};
use crate::error::MemoryError;

const NODES: &str = "/sys/devices/system/node";

#[derive(Default)]
pub struct GuestTelemetry {
    source: Option<Box<dyn AccessSource>>,
    asked: Option<(AccessSourceKind, Option<String>)>,
    before: Option<Counted>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    at: u64,
    refaults: u64,
    stalled: Option<Nanos>,
    cost: Nanos,
}

impl GuestTelemetry {
    /// CPU use is measured since the previous call.
    pub fn look(&mut self, asked: AccessSourceKind) -> Result<MemoryTelemetry, MemoryError> {
        let begun = thread_cpu();
        let (mut accesses, pending) = self.accesses(asked);
        let memory = Numbers::read("/proc/meminfo")?;
        let events = Numbers::read("/proc/vmstat")?;
        let refaults = ["workingset_refault_anon", "workingset_refault_file"];
        let of_source = self.source.as_ref().map_or(Nanos(0), |source| source.cost());
        let mut now = Counted {
            at: monotonic(),
            refaults: refaults.iter().filter_map(|name| events.get(name)).sum(),
            stalled: stalled(&fs::read_to_string("/proc/pressure/memory").unwrap_or_default()),
            cost: of_source,
        };
        let nodes = nodes(&mut accesses);
        let before = self.before.unwrap_or(now);
        let own = Nanos(thread_cpu() - begun);
        let cost = Nanos(now.cost.0.saturating_sub(before.cost.0) + own.0);
        now.cost = of_source;
        self.before = Some(now);
        Ok(MemoryTelemetry {
            elapsed: Nanos(now.at - before.at),
            source: self.source.as_ref().map_or(AccessSourceKind::None, |source| source.kind()),
            no_accesses_reason: pending.or_else(|| self.asked.as_ref()?.1.clone()),
            nodes,
            available: Bytes(memory.kilobytes("MemAvailable")),
            swap_used: Bytes(memory.kilobytes("SwapTotal").saturating_sub(memory.kilobytes("SwapFree"))),
            refaults: now.refaults.saturating_sub(before.refaults),
            stalled: now
                .stalled
                .zip(before.stalled)
                .map(|(now, before)| Nanos(now.0.saturating_sub(before.0))),
            cost,
        })
    }

    fn accesses(&mut self, asked: AccessSourceKind) -> (Accesses, Option<String>) {
        if self.asked.as_ref().is_none_or(|(before, _)| *before != asked) {
            self.source = None;
            let found = source(asked);
            self.asked = Some((asked, found.as_ref().err().map(reason)));
            self.source = found.ok();
        }
        match self.source.as_mut().map(|source| source.look()) {
            Some(Ok(Look::Accesses(accesses))) => (accesses, None),
            Some(Ok(Look::Pending(reason))) => (Accesses::new(), Some(reason.to_owned())),
            Some(Err(error)) => {
                self.source = None;
                self.asked = Some((asked, Some(reason(&error))));
                (Accesses::new(), None)
            }
            None => (Accesses::new(), None),
        }
    }
}

struct Numbers(BTreeMap<String, u64>);

impl Numbers {
    fn read(path: &str) -> Result<Self, MemoryError> {
        Ok(Self::parse(&read(path)?))
    }

    fn parse(text: &str) -> Self {
        let entry = |line: &str| {
            let (name, rest) = line.split_once([':', ' '])?;
            Some((name.to_owned(), rest.split_ascii_whitespace().next()?.parse().ok()?))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    fn kilobytes(&self, name: &str) -> u64 {
        self.get(name).unwrap_or(0) << 10
    }
}

fn nodes(accesses: &mut Accesses) -> Vec<NodeMemory> {
    let entries = fs::read_dir(NODES).into_iter().flatten().filter_map(Result::ok);
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("node")?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    let telemetry = |node: u32| {
        let text = fs::read_to_string(format!("{NODES}/node{node}/meminfo")).ok()?;
        // `Node 0 MemTotal:         127552 kB`.
        let lines: Vec<&str> = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2)).collect();
        let memory = Numbers::parse(&lines.join("\n"));
        let size = Bytes(memory.kilobytes("MemTotal"));
        let free = Bytes(memory.kilobytes("MemFree"));
        let accesses = accesses.remove(&node).unwrap_or_default();
        Some(NodeMemory { node, slow: false, size, free, accesses })
    };
    numbers.into_iter().filter_map(telemetry).filter(|node| node.size.0 > 0).collect()
}

/// Parses the total, in microseconds, of `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`.
fn stalled(text: &str) -> Option<Nanos> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    Some(Nanos(some.rsplit_once("total=")?.1.trim().parse::<u64>().ok()? * 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_memory_of_this_machine() {
        let mut telemetry = GuestTelemetry::default();
        telemetry.look(AccessSourceKind::None).expect("it has /proc");
        let reply = telemetry.look(AccessSourceKind::None).expect("it has /proc");
        assert!(reply.available.0 > 0 && reply.elapsed.0 > 0, "{reply:?}");
        assert_eq!(reply.source, AccessSourceKind::None);
        assert!(reply.no_accesses_reason.is_some());
    }

    struct Silent;

    impl AccessSource for Silent {
        fn kind(&self) -> AccessSourceKind {
            AccessSourceKind::Damon
        }

        fn look(&mut self) -> Result<Look, MemoryError> {
            Ok(Look::Pending("first report pending"))
        }
    }

    #[test]
    fn reports_why_a_running_source_has_no_accesses_yet() {
        let asked = Some((AccessSourceKind::Damon, None));
        let mut telemetry = GuestTelemetry { source: Some(Box::new(Silent)), asked, before: None };
        let reply = telemetry.look(AccessSourceKind::Damon).expect("this machine has /proc");
        assert_eq!(reply.source, AccessSourceKind::Damon);
        assert_eq!(reply.no_accesses_reason.as_deref(), Some("first report pending"));
        assert!(reply.nodes.iter().all(|node| node.accesses.is_empty()), "{reply:?}");
    }

    #[test]
    fn parses_numbers_by_name() {
        let memory =
            Numbers::parse("MemTotal:       24 kB\nworkingset_refault_anon 7\nHugePages_Total:  3\n");
        assert_eq!(
            (memory.kilobytes("MemTotal"), memory.get("workingset_refault_anon")),
            (24 << 10, Some(7))
        );
        assert_eq!(
            stalled("some avg10=0.00 avg60=0.00 avg300=0.00 total=15\nfull avg10=0 total=9\n"),
            Some(Nanos(15_000))
        );
        assert_eq!(stalled(""), None);
    }
}
