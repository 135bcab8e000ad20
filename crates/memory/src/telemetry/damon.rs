//! Uses DAMON to count accesses to physical memory. For each node and count class, a scheme adds up the sizes of the
//! regions (admin-guide/mm/damon/usage.rst of Linux 6.12).

use std::{collections::BTreeMap, fs, path::Path};

use protocol::{AccessClass, AccessSourceKind};
use sys::anonymous_memory::PAGE;
use units::{Bytes, Nanos};

use super::{AccessSource, Accesses, Look, cpu_of, read, write};
use crate::error::MemoryError;

const FOLDER: &str = "/sys/kernel/mm/damon/admin/kdamonds";
const NODES: &str = "/sys/devices/system/node";
const BLOCK_SIZE: &str = "/sys/devices/system/memory/block_size_bytes";
/// The sampling interval in microseconds. Each sample checks one page per region: up to 4000 pages per second.
const SAMPLE: u64 = 100_000;
const SAMPLES: u64 = 40;
const NO_REPORT: &str = "DAMON reports accesses every 4 s and its first report is pending";
const CHANGED: &str = "DAMON restarted because memory was added or removed";
/// Interval in microseconds at which the kernel checks whether the memory has changed.
const UPDATE: u64 = 4_000_000;
/// The kernel merges regions if their counts differ by at most 10 % of the highest count. This hides rare accesses,
/// so a minimum number of regions keeps the regions small.
const REGIONS: [u64; 2] = [200, 400];
const CLASSES: [(u64, u64); 9] =
    [(0, 0), (1, 1), (2, 2), (3, 4), (5, 7), (8, 11), (12, 18), (19, 29), (30, u32::MAX as u64)];
const PARTS: f64 = 1000.0;

type Layout = BTreeMap<u32, Vec<(u64, u64)>>;

/// DAMON runs until this is dropped.
#[derive(Debug)]
pub(super) struct Damon {
    layout: Layout,
    /// In bytes, by node and class.
    before: Vec<u64>,
    latest: Option<Accesses>,
    pid: u32,
}

impl Damon {
    pub(super) fn start() -> Result<Self, MemoryError> {
        let lacking = |reason: &str| MemoryError::NoSource { reason: reason.to_owned() };
        if !Path::new(FOLDER).exists() {
            return Err(lacking(
                "this kernel has no DAMON for physical memory (CONFIG_DAMON_PADDR, CONFIG_DAMON_SYSFS)",
            ));
        }
        if read(&file("nr_kdamonds"))?.trim() != "0" {
            return Err(lacking("another process uses DAMON"));
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

    /// In bytes, by scheme.
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

/// This only fails if DAMON has already stopped.
fn stop() {
    let _ = write(&file("0/state"), "off");
    let _ = write(&file("nr_kdamonds"), "0");
}

/// Returns the mean over all finished aggregations, or `None` if there are none.
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

/// Estimates the accesses per page and sampling interval from the number of samples that found the page accessed.
/// With random accesses, a page stays unaccessed with probability exp(-accesses).
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

/// Source: admin-guide/mm/memory-hotplug.rst in Linux's documentation.
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

fn joined(blocks: &[u64], size: u64) -> Vec<(u64, u64)> {
    let together = blocks.chunk_by(|one, next| one + 1 == *next);
    together.map(|run| (run[0] * size, (run[0] + run.len() as u64) * size)).collect()
}

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
    fn merges_adjacent_blocks() {
        assert_eq!(joined(&[0, 1, 32, 33, 40], 128), [(0, 256), (4096, 4352), (5120, 5248)]);
        assert_eq!(joined(&[], 128), []);
    }

    #[test]
    fn averages_scheme_counts_by_node() {
        let layout: Layout = [(0, vec![(0, 64 * MIB)]), (1, vec![(64 * MIB, 96 * MIB)])].into();
        let mut grown = vec![0; 2 * CLASSES.len()];
        // After ten aggregations, half of node 0's memory was accessed in 5 to 7 of 40 samples (about a seventh). None
        // of node 1's memory was accessed.
        (grown[0], grown[4]) = (10 * 32 * MIB, 10 * 32 * MIB);
        grown[CLASSES.len()] = 10 * 32 * MIB;
        let accesses = histogram(&layout, &grown).expect("ten aggregations");
        let class = |mib: u64, accesses: u64| AccessClass { bytes: Bytes(mib * MIB), accesses };
        // -ln(1 - 6/40.5) for each of 8192 pages.
        assert_eq!(accesses[&0], [class(32, 0), class(32, 1_313_526)]);
        assert_eq!(accesses[&1], [class(32, 0)]);
        assert_eq!(histogram(&layout, &[0; 18]), None, "no aggregation yet");
    }
}
