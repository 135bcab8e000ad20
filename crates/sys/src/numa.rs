//! Queries and changes the NUMA nodes of a process's own pages.
#![expect(unsafe_code, reason = "move_pages has no safe wrapper")]
#![expect(clippy::disallowed_methods, reason = "reads free memory from /sys")]

use std::{fs, ptr};

use crate::{
    anonymous_memory::AnonymousMemory,
    error::{Error, Result},
};

const BATCH: usize = 4096;
/// Moves only pages that are not shared with other processes (MPOL_MF_MOVE).
const MOVE: libc::c_int = 2;

/// Returns the node of each page, or `None` for absent pages. Fails if the kernel has no NUMA support.
pub fn nodes_of(memory: &AnonymousMemory) -> Result<Vec<Option<u32>>> {
    let mut nodes = Vec::with_capacity(memory.pages());
    let all: Vec<usize> = (0..memory.pages()).collect();
    for pages in all.chunks(BATCH) {
        let status = call(memory, pages, None)?;
        nodes.extend(status.into_iter().map(|node| u32::try_from(node).ok()));
    }
    Ok(nodes)
}

/// Moves pages until the node is full. Returns the number of pages that are now on it.
pub fn move_pages(memory: &AnonymousMemory, pages: &[usize], node: u32) -> Result<usize> {
    let mut moved = 0;
    for pages in pages.chunks(BATCH) {
        match call(memory, pages, Some(node)) {
            Ok(status) => moved += status.into_iter().filter(|is| u32::try_from(*is) == Ok(node)).count(),
            Err(error) if error.errno() == libc::ENOMEM => break,
            Err(error) => return Err(error),
        }
    }
    Ok(moved)
}

#[must_use]
pub fn free(node: u32) -> u64 {
    let text = fs::read_to_string(format!("/sys/devices/system/node/node{node}/meminfo")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.split_once("MemFree:"));
    let kilobytes = line.and_then(|(_, rest)| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) << 10
}

fn call(memory: &AnonymousMemory, pages: &[usize], node: Option<u32>) -> Result<Vec<libc::c_int>> {
    let addresses: Vec<*mut libc::c_void> = pages.iter().map(|page| memory.page(*page)).collect();
    let nodes = vec![node.and_then(|node| libc::c_int::try_from(node).ok()).unwrap_or(0); pages.len()];
    let to = if node.is_some() { nodes.as_ptr() } else { ptr::null() };
    let mut status = vec![-libc::ENOENT; pages.len()];
    // SAFETY: the three arrays have the given length and outlive the call; the kernel moves the pages without
    // changing their contents and validates all addresses.
    let done = unsafe {
        libc::syscall(libc::SYS_move_pages, 0, pages.len(), addresses.as_ptr(), to, status.as_mut_ptr(), MOVE)
    };
    // A positive result is the number of pages that were not moved. The array contains the reasons.
    if done < 0 { Err(Error::last("move", format!("{} pages", pages.len()))) } else { Ok(status) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anonymous_memory::PAGE;

    #[test]
    fn touched_pages_are_on_a_node() {
        let mut memory = AnonymousMemory::map(8 * PAGE, false).expect("enough memory");
        memory.touch(0, 3 * PAGE);
        let nodes = match nodes_of(&memory) {
            Ok(nodes) => nodes,
            Err(error) if error.is_unsupported() => return,
            Err(error) => panic!("{error}"),
        };
        let there: Vec<bool> = nodes.iter().map(Option::is_some).collect();
        assert_eq!(there, [true, true, true, false, false, false, false, false]);
        let node = nodes[0].expect("present");
        assert_eq!(move_pages(&memory, &[0, 1, 2], node).expect("present"), 3);
        assert!(free(node) > 0 && free(9999) == 0);
    }
}
