//! Generations of pages: at each look the kernel goes through the page tables and begins a new generation; what was accessed since the
//! look before is in the last one. It tells that a page was touched, not how often. Source: admin-guide/mm/multigen_lru.rst of Linux.

use std::path::Path;

use protocol::{AccessClass, AccessSourceKind};
use sys::anonymous_memory::PAGE;
use units::Bytes;

use super::{AccessSource, Accesses, read, refused, write};
use crate::error::MemoryError;

const SWITCH: &str = "/sys/kernel/mm/lru_gen/enabled";
const DEBUG: &str = "/sys/kernel/debug";
const GENERATIONS: &str = "/sys/kernel/debug/lru_gen";
/// A page that was not touched since the look before, but between that and the one before it, counts for this part of one that was.
const EARLIER: u64 = 4;

/// The generations of a control group's pages on a node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    id: u64,
    node: u32,
    /// Number and pages, the oldest first.
    generations: Vec<(u64, u64)>,
}

#[derive(Debug)]
pub(super) struct Generations {
    /// Looks so far, up to two: what was touched is known from the second on.
    looks: u32,
}

impl Generations {
    /// Where they are off they are switched on only by `force`: they change how the guest's kernel evicts pages.
    pub(super) fn start(force: bool) -> Result<Self, MemoryError> {
        let lacking = |because: &str| MemoryError::NoSource { because: because.to_owned() };
        let Ok(on) = read(SWITCH) else {
            return Err(lacking("this kernel has no multi-generational LRU (CONFIG_LRU_GEN)"));
        };
        if on.trim() == "0x0000" {
            if !force {
                return Err(lacking(
                    "the multi-generational LRU is off: `echo y > /sys/kernel/mm/lru_gen/enabled`, or ask for `mglru`",
                ));
            }
            write(SWITCH, "y")?;
        }
        if !Path::new(GENERATIONS).exists() {
            sys::boot::mount_kernel_files("debugfs", Path::new(DEBUG))?;
        }
        read(GENERATIONS)?;
        Ok(Self { looks: 0 })
    }
}

impl AccessSource for Generations {
    fn kind(&self) -> AccessSourceKind {
        AccessSourceKind::Mglru
    }

    fn look(&mut self) -> Result<Accesses, MemoryError> {
        for group in parse(&read(GENERATIONS)?) {
            let Some((last, _)) = group.generations.last() else { continue };
            // With pages that could be swapped, and by the page tables, whatever filters say.
            let order = format!("+ {} {} {last} 1 1", group.id, group.node);
            match std::fs::write(GENERATIONS, order) {
                // The kernel has begun one itself meanwhile, or the group is gone.
                Err(error) if !matches!(error.raw_os_error(), Some(22 | 34)) => {
                    return Err(refused("write", GENERATIONS, &error));
                }
                _ => {}
            }
        }
        self.looks = (self.looks + 1).min(2);
        Ok(if self.looks < 2 { Accesses::new() } else { accesses(&parse(&read(GENERATIONS)?)) })
    }
}

fn accesses(groups: &[Group]) -> Accesses {
    let mut accesses = Accesses::new();
    for group in groups {
        let classes = accesses.entry(group.node).or_default();
        // The last has only what came since the page tables were gone through.
        let by_age = group.generations.iter().rev();
        for (age, (_, pages)) in by_age.enumerate().filter(|(_, (_, pages))| *pages > 0) {
            let touched = match age {
                0 | 1 => pages * EARLIER,
                2 => *pages,
                _ => 0,
            };
            classes.push(AccessClass { bytes: Bytes(pages * PAGE as u64), accesses: touched });
        }
    }
    accesses
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
    fn generations_are_read_by_group_and_node() {
        let groups = parse(TEXT);
        let ids: Vec<_> = groups.iter().map(|group| (group.id, group.node)).collect();
        assert_eq!(ids, [(1, 0), (1, 1), (77, 0)]);
        assert_eq!(groups[0].generations, [(1, 8), (2, 160), (3, 348), (4, 2)]);
        assert_eq!(parse("what is this\n 1 2 3 4\n"), []);
    }

    #[test]
    fn what_was_touched_last_counts_most_and_the_oldest_nothing() {
        let told = accesses(&parse(TEXT));
        let class = |pages: u64, accesses: u64| AccessClass { bytes: Bytes(pages * 4096), accesses };
        assert_eq!(told[&0], [class(2, 8), class(348, 4 * 348), class(160, 160), class(8, 0), class(5, 20)]);
        assert_eq!(told[&1], []);
    }
}
