//! Estimates accesses from page generations (admin-guide/mm/multigen_lru.rst of Linux). An aging pass does
//! not show how often a page was accessed, so each report ends with two short windows. Capture-recapture
//! (Chapman 1951) then gives the number of constantly accessed pages.

use std::{path::Path, thread, time::Duration};

use protocol::{AccessClass, AccessSourceKind};
use sys::{anonymous_memory::PAGE, clock::monotonic};
use units::Bytes;

use super::{AccessSource, Accesses, FIRST_LOOK, Look, read, refused, write};
use crate::error::MemoryError;

const SWITCH: &str = "/sys/kernel/mm/lru_gen/enabled";
const DEBUG: &str = "/sys/kernel/debug";
const GENERATIONS: &str = "/sys/kernel/debug/lru_gen";
/// A window is short enough to miss rarely accessed memory, and long enough to contain thousands of accesses.
const WINDOW: Duration = Duration::from_millis(200);

/// If this fraction of pages is touched in a window, all pages are assumed to be touched.
const MOST_TOUCHED: f64 = 0.98;
/// The kernel never has more generations than this.
const MOST: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    id: u64,
    node: u32,
    generations: Vec<(u64, u64)>,
}

#[derive(Debug)]
pub(super) struct Generations {
    /// Data is available from the second call on.
    before: Option<u64>,
}

impl Generations {
    /// Enables page generations only with `force`, because they change the guest's page reclaim.
    pub(super) fn start(force: bool) -> Result<Self, MemoryError> {
        let lacking = |reason: &str| MemoryError::NoSource { reason: reason.to_owned() };
        let Ok(on) = read(SWITCH) else {
            return Err(lacking("this kernel has no multi-generational LRU (CONFIG_LRU_GEN)"));
        };
        if on.trim() == "0x0000" {
            if !force {
                return Err(lacking(
                    "the multi-generational LRU is off; enable it with `echo y > /sys/kernel/mm/lru_gen/enabled`, or request `mglru`",
                ));
            }
            write(SWITCH, "y")?;
        }
        if !Path::new(GENERATIONS).exists() {
            sys::boot::mount_kernel_files("debugfs", Path::new(DEBUG))?;
        }
        read(GENERATIONS)?;
        Ok(Self { before: None })
    }
}

impl AccessSource for Generations {
    fn kind(&self) -> AccessSourceKind {
        AccessSourceKind::Mglru
    }

    fn look(&mut self) -> Result<Look, MemoryError> {
        begin_generation()?;
        let Some(before) = self.before else {
            self.before = Some(monotonic());
            return Ok(Look::Pending(FIRST_LOOK));
        };
        let begun = monotonic();
        let [first, second] = [window()?, window()?];
        let now = monotonic();
        self.before = Some(now);
        let windows = 2.0 * (now - before) as f64 / (now - begun).max(1) as f64;
        Ok(Look::Accesses(accesses(&first, &second, windows)))
    }
}

fn window() -> Result<Vec<Group>, MemoryError> {
    thread::sleep(WINDOW);
    begin_generation()?;
    Ok(parse(&read(GENERATIONS)?))
}

/// Moves pages accessed since the previous pass to the last generation.
#[expect(clippy::disallowed_methods, reason = "kernel interfaces are files")]
fn begin_generation() -> Result<(), MemoryError> {
    for group in parse(&read(GENERATIONS)?) {
        let Some((last, _)) = group.generations.last() else { continue };
        // The pass includes swappable pages and scans all page tables.
        let order = format!("+ {} {} {last} 1 1", group.id, group.node);
        match std::fs::write(GENERATIONS, order) {
            // The kernel has already aged or removed the group.
            Err(error) if !matches!(error.raw_os_error(), Some(22 | 34)) => {
                return Err(refused("write", GENERATIONS, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Group {
    fn pages(&self, ages: std::ops::Range<usize>) -> u64 {
        self.generations.iter().rev().take(ages.end).skip(ages.start).map(|(_, pages)| pages).sum()
    }
}

fn accesses(first: &[Group], second: &[Group], windows: f64) -> Accesses {
    let mut accesses = Accesses::new();
    for group in second {
        let classes = accesses.entry(group.node).or_default();
        let before = first.iter().find(|it| (it.id, it.node) == (group.id, group.node));
        let known =
            before.map_or_else(|| vec![(group.pages(0..MOST), 0)], |before| of_group(before, group, windows));
        for (pages, accesses) in known.into_iter().filter(|(pages, _)| *pages > 0) {
            classes.push(AccessClass { bytes: Bytes(pages * PAGE as u64), accesses });
        }
    }
    accesses
}

/// Returns the constantly accessed pages, the other touched pages, and the remaining pages.
fn of_group(first: &Group, second: &Group, windows: f64) -> Vec<(u64, u64)> {
    // The last generation contains only pages accessed since the last scan.
    let [one, other] = [first.pages(0..2), second.pages(0..2)];
    let in_both = one.saturating_sub(second.pages(2..3));
    let touched = first.pages(0..3).max(other);
    let all = second.pages(0..MOST);
    let caught = one.max(other);
    let hot = ((one + 1) * (other + 1) / (in_both + 1)).saturating_sub(1).clamp(caught, touched.max(caught));
    // Converts between the fraction of pages touched in a window and the access rate (Poisson).
    let share = ((one + other) as f64 / 2.0 / hot.max(1) as f64).min(MOST_TOUCHED);
    let of_hot = (-(1.0 - share).ln() * hot as f64 * windows) as u64;
    let seldom = touched.saturating_sub(hot);
    vec![(hot, of_hot), (seldom, seldom), (all.saturating_sub(hot + seldom), 0)]
}

fn parse(text: &str) -> Vec<Group> {
    let (mut groups, mut id): (Vec<Group>, u64) = (Vec::new(), 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().ok();
        match words.as_slice() {
            ["memcg", number_of_group, ..] => id = number(number_of_group).unwrap_or(0),
            ["node", node] => {
                let node = node.parse().unwrap_or(0);
                groups.push(Group { id, node, generations: Vec::new() });
            }
            [sequence, _age, anonymous, of_files] => {
                let counted = number(sequence).zip(number(anonymous)).zip(number(of_files));
                if let (Some(group), Some(((sequence, anonymous), of_files))) = (groups.last_mut(), counted) {
                    group.generations.push((sequence, anonymous + of_files));
                }
            }
            _ => {}
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
memcg     1 /
 node     0
          1      10496          8           0
          2      10496        156           4
          3      10496        300          48
          4          4          0           2
 node     1
          0      10496          0           0
memcg    77 /system.slice
 node     0
          7      10496          5           0
";

    #[test]
    fn parses_generations_by_group_and_node() {
        let groups = parse(TEXT);
        let ids: Vec<_> = groups.iter().map(|group| (group.id, group.node)).collect();
        assert_eq!(ids, [(1, 0), (1, 1), (77, 0)]);
        assert_eq!(groups[0].generations, [(1, 8), (2, 160), (3, 348), (4, 2)]);
        assert_eq!(parse("not a table\n 1 2 3 4\n"), []);
    }

    fn classes(first: &[u64], second: &[u64], windows: f64) -> Vec<(u64, u64)> {
        let group =
            |pages: &[u64]| Group { id: 1, node: 0, generations: (1..).zip(pages.iter().copied()).collect() };
        let found = accesses(&[group(first)], &[group(second)], windows);
        found[&0].iter().map(|class| (class.bytes.0 >> 12, class.accesses)).collect()
    }

    #[test]
    fn estimates_hot_pages_from_both_windows() {
        // Of 8192 hot pages, 3955 are touched in one window and 1910 in both. The interval also touches 2000
        // other pages.
        let found = classes(
            &[500, 8192 + 2000 - 3955, 3955, 0],
            &[500, 8192 + 2000 - 3955, 3955 - 1910, 3955, 0],
            25.0,
        );
        let &[(hot, of_hot), (seldom, of_seldom), (idle, 0)] = found.as_slice() else { panic!("{found:?}") };
        assert!(hot.abs_diff(8192) < 10 && seldom.abs_diff(2000) < 10 && of_seldom == seldom, "{found:?}");
        assert!((of_hot as f64 / (8192.0 * 0.66 * 25.0) - 1.0).abs() < 0.02, "{found:?}");
        assert_eq!(idle, 500 + 8192 + 2000 + 3955 - 1910 - hot - seldom);
    }

    #[test]
    fn estimate_is_bounded_in_extreme_cases() {
        // If no page is in both windows, all touched pages may be hot. If all are in both windows, only these pages are
        // hot. If there are no pages, nothing is accessed.
        assert_eq!(classes(&[100, 50, 5, 0], &[100, 45, 5, 5, 0], 10.0)[0].0, 35);
        assert_eq!(classes(&[100, 50, 5, 0], &[100, 50, 0, 5, 0], 10.0)[0].0, 5);
        assert_eq!(classes(&[100, 0, 0, 0], &[100, 0, 0, 0, 0], 10.0), [(100, 0)]);
    }

    #[test]
    fn adds_groups_of_a_node() {
        let groups = parse(TEXT);
        let found = accesses(&groups, &groups, 10.0);
        assert_eq!(found[&0].iter().map(|class| class.bytes.0).sum::<u64>(), (518 + 5) * 4096);
        assert_eq!(found[&1], []);
        assert_eq!(accesses(&[], &groups, 10.0)[&0].iter().map(|class| class.accesses).sum::<u64>(), 0);
    }
}
