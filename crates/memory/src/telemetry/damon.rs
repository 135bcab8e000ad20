//! Data access monitoring by the kernel, of physical memory: it samples pages of regions that it splits and merges, and counts in how
//! many of the samples each was accessed. A scheme a node and class of counts sums up how much memory had them, so that no region is
//! read one by one. Source: admin-guide/mm/damon/usage.rst of Linux 6.12.

use std::{collections::BTreeMap, fs, path::Path};

use protocol::{AccessClass, AccessSourceKind};
use sys::anonymous_memory::PAGE;
use units::{Bytes, Nanos};

use super::{AccessSource, Accesses, Look, cpu_of, read, write};
use crate::error::MemoryError;

const FOLDER: &str = "/sys/kernel/mm/damon/admin/kdamonds";
const NODES: &str = "/sys/devices/system/node";
const BLOCK_SIZE: &str = "/sys/devices/system/memory/block_size_bytes";
/// In microseconds: one page a region is looked at each time. Pages that are accessed less than once in a few seconds are to be seen
/// within a look, and 4,000 pages a second are what it may cost.
const SAMPLE: u64 = 100_000;
/// The counts begin anew after so many samples.
const SAMPLES: u64 = 40;
const NO_REPORT: &str = "DAMON reports accesses every 4 s and its first report is pending";
const CHANGED: &str = "DAMON restarted because memory was added or removed";
/// How often the kernel looks whether the memory has changed, in microseconds.
const UPDATE: u64 = 4_000_000;
/// At least and at most. Regions whose counts differ by a tenth of the highest are merged, and what is seldom accessed is lost in one
/// that is not: so no region is larger than the least number of them allows.
const REGIONS: [u64; 2] = [200, 400];
/// Counts that are taken together, from and to.
const CLASSES: [(u64, u64); 9] =
    [(0, 0), (1, 1), (2, 2), (3, 4), (5, 7), (8, 11), (12, 18), (19, 29), (30, u32::MAX as u64)];
/// Accesses are told in so many parts.
const PARTS: f64 = 1000.0;

/// Ranges of physical memory, by node.
type Layout = BTreeMap<u32, Vec<(u64, u64)>>;

/// The monitor, which runs until this is dropped.
#[derive(Debug)]
pub(super) struct Damon {
    layout: Layout,
    /// What each scheme has seen, in bytes, by node and class.
    before: Vec<u64>,
    /// The latest accesses, for looks that come more often than the kernel's reports; `None` before the first report.
    latest: Option<Accesses>,
    pid: u32,
}

impl Damon {
    pub(super) fn start() -> Result<Self, MemoryError> {
        let lacking = |because: &str| MemoryError::NoSource { because: because.to_owned() };
        if !Path::new(FOLDER).exists() {
            return Err(lacking(
                "this kernel has no DAMON for physical memory (CONFIG_DAMON_PADDR, CONFIG_DAMON_SYSFS)",
            ));
        }
        if read(&file("nr_kdamonds"))?.trim() != "0" {
            return Err(lacking("somebody else uses DAMON here"));
        }
        let mut damon = Self { layout: layout()?, before: Vec::new(), latest: None, pid: 0 };
        damon.configure()?;
        Ok(damon)
    }

    fn configure(&mut self) -> Result<(), MemoryError> {
        let set = |name: &str, value: u64| write(&file(name), &value.to_string());
        set("nr_kdamonds", 1)?;
        set("0/contexts/nr_contexts", 1)?;
        write(&file("0/contexts/0/operations"), "paddr")?;
        let attributes = [
            ("intervals/sample_us", SAMPLE),
            ("intervals/aggr_us", SAMPLE * SAMPLES),
            ("intervals/update_us", UPDATE),
            ("nr_regions/max", REGIONS[1]),
            ("nr_regions/min", REGIONS[0]),
        ];
        for (name, value) in attributes {
            set(&format!("0/contexts/0/monitoring_attrs/{name}"), value)?;
        }
        set("0/contexts/0/targets/nr_targets", 1)?;
        // In the order of addresses, which nodes need not have.
        let mut ranges: Vec<(u64, u64)> = self.layout.values().flatten().copied().collect();
        ranges.sort_unstable();
        set_ranges(&ranges)?;
        set("0/contexts/0/schemes/nr_schemes", (self.layout.len() * CLASSES.len()) as u64)?;
        let schemes = self.layout.keys().flat_map(|node| CLASSES.map(|class| (*node, class)));
        for (number, (node, class)) in schemes.enumerate() {
            self.set_scheme(number, node, class)?;
        }
        write(&file("0/state"), "on")?;
        self.pid = read(&file("0/pid"))?.trim().parse().unwrap_or(0);
        self.before = vec![0; self.layout.len() * CLASSES.len()];
        self.latest = None;
        Ok(())
    }

    /// A scheme that does nothing to memory of these counts on this node but sum it up.
    fn set_scheme(&self, number: usize, node: u32, (least, most): (u64, u64)) -> Result<(), MemoryError> {
        let at = |name: &str| file(&format!("0/contexts/0/schemes/{number}/{name}"));
        let set = |name: &str, value: u64| write(&at(name), &value.to_string());
        write(&at("action"), "stat")?;
        set("access_pattern/nr_accesses/max", most)?;
        set("access_pattern/nr_accesses/min", least)?;
        set("access_pattern/sz/max", u64::MAX)?;
        set("access_pattern/age/max", u64::from(u32::MAX))?;
        let others = self.layout.iter().filter(|(other, _)| **other != node).flat_map(|(_, ranges)| ranges);
        let others: Vec<&(u64, u64)> = others.collect();
        set("filters/nr_filters", others.len() as u64)?;
        for (filter, (start, end)) in others.into_iter().enumerate() {
            write(&at(&format!("filters/{filter}/type")), "addr")?;
            write(&at(&format!("filters/{filter}/matching")), "Y")?;
            set(&format!("filters/{filter}/addr_start"), *start)?;
            set(&format!("filters/{filter}/addr_end"), *end)?;
        }
        Ok(())
    }

    /// What each scheme has seen so far.
    fn seen(&self) -> Result<Vec<u64>, MemoryError> {
        write(&file("0/state"), "update_schemes_stats")?;
        let seen = |number: usize| {
            let text = read(&file(&format!("0/contexts/0/schemes/{number}/stats/sz_tried")))?;
            Ok(text.trim().parse().unwrap_or(0))
        };
        (0..self.before.len()).map(seen).collect()
    }
}

impl AccessSource for Damon {
    fn kind(&self) -> AccessSourceKind {
        AccessSourceKind::Damon
    }

    fn look(&mut self) -> Result<Look, MemoryError> {
        let now = layout()?;
        if now != self.layout {
            stop();
            self.layout = now;
            self.configure()?;
            return Ok(Look::Pending(CHANGED));
        }
        let seen = self.seen()?;
        let grown: Vec<u64> =
            seen.iter().zip(&self.before).map(|(now, before)| now.saturating_sub(*before)).collect();
        self.before = seen;
        self.latest = histogram(&self.layout, &grown).or(self.latest.take());
        Ok(self.latest.clone().map_or(Look::Pending(NO_REPORT), Look::Accesses))
    }

    fn cost(&self) -> Nanos {
        cpu_of(self.pid)
    }
}

impl Drop for Damon {
    fn drop(&mut self) {
        stop();
    }
}

/// What cannot be stopped has ended already.
fn stop() {
    let _ = write(&file("0/state"), "off");
    let _ = write(&file("nr_kdamonds"), "0");
}

/// Mean memory per node and class of counts over all finished aggregations, `None` before the first.
/// Each aggregation covers all memory.
fn histogram(layout: &Layout, grown: &[u64]) -> Option<Accesses> {
    let size = |ranges: &[(u64, u64)]| ranges.iter().map(|(start, end)| end - start).sum::<u64>();
    let all: u64 = layout.values().map(|ranges| size(ranges)).sum();
    let aggregations = grown.iter().sum::<u64>() as f64 / all.max(1) as f64;
    if aggregations < 1.0 {
        return None;
    }
    let classes = |grown: &[u64]| {
        let class = |((least, most), grown): ((u64, u64), &u64)| {
            let bytes = *grown as f64 / aggregations;
            let accesses = bytes / PAGE as f64 * accesses_between(least, most.min(SAMPLES)) * PARTS;
            AccessClass { bytes: Bytes(bytes as u64), accesses: accesses as u64 }
        };
        CLASSES.into_iter().zip(grown).map(class).filter(|class| class.bytes.0 > 0).collect()
    };
    Some(
        layout.keys().zip(grown.chunks(CLASSES.len())).map(|(node, grown)| (*node, classes(grown))).collect(),
    )
}

/// Accesses of a page from one sample to the next, where it was found accessed in so many of them: those that come at random leave it
/// unaccessed with a probability of exp(-accesses).
fn accesses_between(least: u64, most: u64) -> f64 {
    let found = (least + most) as f64 / 2.0;
    -(1.0 - found / (SAMPLES as f64 + 0.5)).ln()
}

fn set_ranges(ranges: &[(u64, u64)]) -> Result<(), MemoryError> {
    let at = |name: &str| file(&format!("0/contexts/0/targets/0/regions/{name}"));
    write(&at("nr_regions"), &ranges.len().to_string())?;
    for (number, (start, end)) in ranges.iter().enumerate() {
        write(&at(&format!("{number}/start")), &start.to_string())?;
        write(&at(&format!("{number}/end")), &end.to_string())?;
    }
    Ok(())
}

/// Where the blocks of each node's memory lie. Source: admin-guide/mm/memory-hotplug.rst of Linux.
fn layout() -> Result<Layout, MemoryError> {
    let size = u64::from_str_radix(read(BLOCK_SIZE)?.trim(), 16).unwrap_or(128 << 20);
    let nodes = numbers(NODES, "node");
    let blocks = |node: &u64| {
        let mut blocks = numbers(&format!("{NODES}/node{node}"), "memory");
        blocks.sort_unstable();
        joined(&blocks, size)
    };
    let layout = nodes.iter().map(|node| (u32::try_from(*node).unwrap_or(u32::MAX), blocks(node)));
    Ok(layout.filter(|(_, ranges)| !ranges.is_empty()).collect())
}

/// Ranges of blocks that lie beside each other.
fn joined(blocks: &[u64], size: u64) -> Vec<(u64, u64)> {
    let together = blocks.chunk_by(|one, next| one + 1 == *next);
    together.map(|run| (run[0] * size, (run[0] + run.len() as u64) * size)).collect()
}

/// The numbers behind this word in the names of a folder's entries.
fn numbers(folder: &str, word: &str) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(word)?.parse().ok()).collect()
}

fn file(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn memory_that_lies_together_is_one_range() {
        assert_eq!(joined(&[0, 1, 32, 33, 40], 128), [(0, 256), (4096, 4352), (5120, 5248)]);
        assert_eq!(joined(&[], 128), []);
    }

    #[test]
    fn what_schemes_sum_up_becomes_a_mean_by_node() {
        let layout: Layout = [(0, vec![(0, 64 * MIB)]), (1, vec![(64 * MIB, 96 * MIB)])].into();
        let mut grown = vec![0; 2 * CLASSES.len()];
        // Ten aggregations: on node 0 a half was accessed in 5 to 7 samples of 40, a seventh of the time; on node 1 nothing.
        (grown[0], grown[4]) = (10 * 32 * MIB, 10 * 32 * MIB);
        grown[CLASSES.len()] = 10 * 32 * MIB;
        let told = histogram(&layout, &grown).expect("ten have ended");
        let class = |mib: u64, accesses: u64| AccessClass { bytes: Bytes(mib * MIB), accesses };
        // -ln(1 - 6/40.5) of each of 8,192 pages.
        assert_eq!(told[&0], [class(32, 0), class(32, 1_313_526)]);
        assert_eq!(told[&1], [class(32, 0)]);
        assert_eq!(histogram(&layout, &[0; 18]), None, "nothing is known before one has ended");
    }
}
