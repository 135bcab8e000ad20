//! Accesses memory in a known pattern, in a process that is independent of telemetry.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    sync::mpsc::{Receiver, TryRecvError, channel},
    thread,
};

use protocol::AccessClass;
use serde::{Deserialize, Serialize};
use sys::{
    anonymous_memory::{AnonymousMemory, PAGE},
    clock::{monotonic, sleep_until},
    numa,
};
use units::Bytes;

use super::{guests::MARK, ranks::Ranks};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Pattern(AccessPattern),
    Report,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Accesses {
    pub(crate) nodes: Vec<NodeAccesses>,
    pub(crate) hottest: Vec<AccessClass>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct AccessPattern {
    pub(crate) memory: Bytes,
    pub(crate) shape: PatternShape,
    pub(crate) rate: u64,
    /// The node for the hottest pages, as long as it has room. `None` leaves the placement to the kernel.
    pub(crate) prefers: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum PatternShape {
    /// Directs a fraction `share` of the accesses uniformly to `hot` bytes, and the rest to the remaining memory.
    TwoLevel {
        hot: Bytes,
        share: f64,
    },
    /// The page of rank k is accessed with frequency 1 / k^exponent.
    Zipf {
        exponent: f64,
    },
    Scan,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct NodeAccesses {
    pub(crate) node: u32,
    pub(crate) accesses: u64,
    pub(crate) bytes: Bytes,
}

const BURSTS: u64 = 200;
const SECOND: u64 = 1_000_000_000;
const PLACED_EVERY: u64 = BURSTS;
const MOST_MOVED: usize = 16_384;
const LEFT_FREE: u64 = 8 << 20;
const CLASSES: usize = 64;
/// Unmapping this many pages after each burst flushes the TLB, because the kernel limits single invalidations to
/// fewer pages (33 in x86/tlb.rst of Linux). Otherwise, an emulated TLB would keep all entries and never set
/// accessed bits again.
const FORGOTTEN: usize = 64 * PAGE;

pub(crate) fn run(input: impl Read + Send + 'static, mut output: impl Write) -> anyhow::Result<()> {
    let (to_us, orders) = channel();
    thread::spawn(move || {
        for line in BufReader::new(input).lines().map_while(Result::ok) {
            if to_us.send(line).is_err() {
                return;
            }
        }
    });
    let mut program: Option<Program> = None;
    while let Some(line) = next(&orders, &mut program)? {
        let reply = match serde_json::from_str(&line)? {
            Order::Pattern(pattern) => {
                match &mut program {
                    Some(program) => program.go_over_to(pattern)?,
                    None => program = Some(Program::start(pattern)?),
                }
                Accesses::default()
            }
            Order::Report => program.as_mut().map_or(Ok(Accesses::default()), Program::accessed)?,
        };
        writeln!(output, "{MARK}{}", serde_json::to_string(&reply)?)?;
        output.flush()?;
    }
    Ok(())
}

fn next(orders: &Receiver<String>, program: &mut Option<Program>) -> anyhow::Result<Option<String>> {
    let Some(program) = program else { return Ok(orders.recv().ok()) };
    loop {
        match orders.try_recv() {
            Ok(line) => return Ok(Some(line)),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => program.burst()?,
        }
    }
}

struct Program {
    pattern: AccessPattern,
    memory: AnonymousMemory,
    ranks: Ranks,
    counts: Vec<u32>,
    counted: Vec<u32>,
    served: BTreeMap<u32, u64>,
    bursts: u64,
    next_burst: u64,
}

impl Program {
    fn start(pattern: AccessPattern) -> anyhow::Result<Self> {
        let length = usize::try_from(pattern.memory.0)?;
        let mut memory = AnonymousMemory::map(length, false)?;
        memory.touch(0, length);
        let pages = length / PAGE;
        let mut program = Self {
            pattern,
            memory,
            ranks: Ranks::new(pattern.shape, pages),
            counts: vec![0; pages],
            counted: vec![0; pages],
            served: BTreeMap::new(),
            bursts: 0,
            next_burst: monotonic(),
        };
        program.place()?;
        Ok(program)
    }

    fn go_over_to(&mut self, pattern: AccessPattern) -> anyhow::Result<()> {
        self.settle()?;
        self.pattern = AccessPattern { memory: self.pattern.memory, ..pattern };
        self.ranks = Ranks::new(pattern.shape, self.counts.len());
        self.place()
    }

    fn burst(&mut self) -> anyhow::Result<()> {
        for _ in 0..self.pattern.rate / BURSTS {
            let page = self.ranks.draw();
            self.memory.touch(page * PAGE, page * PAGE + 1);
            self.counts[page] += 1;
        }
        let mut forgotten = AnonymousMemory::map(FORGOTTEN, false)?;
        forgotten.touch(0, PAGE);
        forgotten.touch(FORGOTTEN - PAGE, FORGOTTEN);
        drop(forgotten);
        self.bursts += 1;
        if self.bursts.is_multiple_of(PLACED_EVERY) {
            self.place()?;
        }
        // Skips missed bursts instead of catching up.
        self.next_burst = (self.next_burst + SECOND / BURSTS).max(monotonic());
        sleep_until(self.next_burst);
        Ok(())
    }

    fn settle(&mut self) -> anyhow::Result<Vec<Option<u32>>> {
        let nodes = numa::nodes_of(&self.memory)?;
        for ((node, count), counted) in nodes.iter().zip(&self.counts).zip(&self.counted) {
            if let Some(node) = node {
                *self.served.entry(*node).or_default() += u64::from(count - counted);
            }
        }
        self.counted.clone_from(&self.counts);
        Ok(nodes)
    }

    fn place(&mut self) -> anyhow::Result<()> {
        let Some(node) = self.pattern.prefers else { return Ok(()) };
        let nodes = self.settle()?;
        let there = nodes.iter().filter(|is| **is == Some(node)).count() as u64;
        let free = numa::free(node).saturating_sub(LEFT_FREE) / PAGE as u64;
        let room = usize::try_from(there + free)?;
        let other = nodes.iter().flatten().copied().find(|is| *is != node).unwrap_or(node + 1);
        let away = (room..nodes.len()).filter(|page| nodes[*page] == Some(node)).take(MOST_MOVED);
        numa::move_pages(&self.memory, &away.collect::<Vec<_>>(), other)?;
        let here = (0..room.min(nodes.len())).filter(|page| nodes[*page] != Some(node)).take(MOST_MOVED);
        numa::move_pages(&self.memory, &here.collect::<Vec<_>>(), node)?;
        Ok(())
    }

    fn accessed(&mut self) -> anyhow::Result<Accesses> {
        let nodes = self.settle()?;
        let served = std::mem::take(&mut self.served);
        let of_node = |node: u32| nodes.iter().filter(|is| **is == Some(node)).count();
        let counted = |(node, accesses): (u32, u64)| NodeAccesses {
            node,
            accesses,
            bytes: Bytes((of_node(node) * PAGE) as u64),
        };
        let accessed = served.into_iter().map(counted).collect();
        let mut counts = std::mem::replace(&mut self.counts, vec![0; nodes.len()]);
        self.counted.fill(0);
        counts.retain(|count| *count > 0);
        counts.sort_unstable_by(|one, other| other.cmp(one));
        let class = |counts: &[u32]| AccessClass {
            bytes: Bytes((counts.len() * PAGE) as u64),
            accesses: counts.iter().copied().map(u64::from).sum(),
        };
        let hottest = counts.chunks(counts.len().div_ceil(CLASSES).max(1)).map(class).collect();
        Ok(Accesses { nodes: accessed, hottest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_its_accesses() {
        let hot = Bytes(1 << 20);
        let shape = PatternShape::TwoLevel { hot, share: 0.9 };
        let pattern = AccessPattern { memory: Bytes(8 << 20), shape, rate: 200_000, prefers: None };
        let mut program = Program::start(pattern).expect("there is room");
        for _ in 0..20 {
            program.burst().expect("there is room");
        }
        let Accesses { nodes, hottest } = program.accessed().expect("a reply");
        let all: u64 = nodes.iter().map(|node| node.accesses).sum();
        assert_eq!(all, 20 * 1000);
        assert_eq!(hottest.iter().map(|class| class.accesses).sum::<u64>(), all);
        let of_hot: u64 = hottest
            .iter()
            .scan(0, |before, class| {
                (std::mem::replace(before, *before + class.bytes.0) < hot.0).then_some(class.accesses)
            })
            .sum();
        assert!((0.85..0.95).contains(&(of_hot as f64 / all as f64)), "{hottest:?}");
        let Accesses { nodes, .. } = program.accessed().expect("a reply");
        assert_eq!(nodes.iter().map(|node| node.accesses).sum::<u64>(), 0, "accesses are reported once");
    }
}
